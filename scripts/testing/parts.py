"""The parts of the tests: one process of pytest each. Two or more run side by side while the machine has cores."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

ROOT = Path(__file__).resolve().parents[2]
Outcome = TypeVar("Outcome")
_SPARE_CORES = 0.4
"""Parts wait for other programs now and then, so they may need this many more cores than there are."""


@dataclass(frozen=True, slots=True)
class Part:
    """Tests of some folders or files, and their requirements.

    Only one part with the same `uses` runs at a time. A `quiet` part measures rates, and runs alone.
    """

    name: str
    paths: tuple[str, ...]
    cores: float = 0.6
    uses: Literal["", "engines", "browser"] = ""
    quiet: bool = False


_RATES = tuple(f"tests/storage/test_{name}.py" for name in ("bandwidth", "s3", "controller", "kills"))
# The most specific paths first: `part_of` takes the first match.
PARTS = (
    Part("rates", _RATES, quiet=True),
    Part("storage", ("tests/storage",), 0.8),
    Part("swarm", ("tests/swarm",), 0.7, uses="engines"),
    Part("docker", ("tests/docker",), 0.7, uses="engines"),
    Part("podman", ("tests/podman",), 0.7, uses="engines"),
    Part("compose", ("tests/compose",), uses="engines"),
    Part("demo", ("tests/demo",), 1.2),
    Part("web", ("tests/web",), uses="browser"),
    Part("e2e", ("tests/e2e",)),
    Part("api", ("tests/api",)),
    Part("cli", ("tests/cli",)),
    Part("local", ("tests/local",), 0.4),
    Part("database", ("tests/contract", "tests/migration"), 0.4),
    Part("documents", ("tests/docs", "tests/package"), 0.8),
    Part("fast", ("tests/unit", "tests/properties", "tests/simulation", "tests/traces"), 1.0),
)
BY_NAME = {part.name: part for part in PARTS}


def part_of(path: str) -> Part:
    """Return the part of a test file. Raises ValueError if it has none."""
    for part in PARTS:
        if any(path == text or path.startswith(f"{text}/") for text in part.paths):
            return part
    raise ValueError(f"{path} belongs to no part of the tests: add its folder to {__name__}")


def files_at(name: str) -> list[str]:
    """Return the test files of a part or below a folder; a file or node id unchanged. Empty if there is no such
    test.
    """
    if name in BY_NAME:
        files = [file for path in BY_NAME[name].paths for file in files_at(path)]
        return [file for file in files if part_of(file).name == name]
    path = ROOT / name
    if path.is_dir() and path.is_relative_to(ROOT / "tests"):
        return sorted(file.relative_to(ROOT).as_posix() for file in path.glob("**/test_*.py"))
    return [name] if name.startswith("tests/") and exists(name) else []


def exists(test: str) -> bool:
    """Return whether a node id names a file or folder, or a function or class in one; parameters are ignored."""
    file, _, name = test.partition("::")
    names = set(name.partition("[")[0].split("::")) if name else set[str]()
    return (ROOT / file).exists() and names <= _names_in(file)


@cache
def _names_in(file: str) -> set[str]:
    """Return functions and classes of a file, and of the test files whose suites it imports; nothing is imported
    here.
    """
    text = _text(file)
    text += "".join(_text(f"{name.replace('.', '/')}.py") for name in re.findall(r"from (tests[\w.]+) import", text))
    return {*re.findall(r"^\s*(?:async )?(?:def|class) (\w+)", text, re.MULTILINE)}


def _text(file: str) -> str:
    return (ROOT / file).read_text("utf-8") if (ROOT / file).is_file() else ""


def run_side_by_side(parts: Sequence[Part], cores: float, run: Callable[[Part], Outcome]) -> list[Outcome]:
    """Run all parts in threads, each as soon as it fits, in the given order; return outcomes as they finish."""
    waiting, running, outcomes = sorted(parts, key=lambda part: part.quiet), dict[Future[Outcome], Part](), []
    with ThreadPoolExecutor(max(len(parts), 1)) as pool:
        while waiting or running:
            if part := next((part for part in waiting if _has_room(part, running.values(), cores)), None):
                waiting.remove(part)
                running[pool.submit(run, part)] = part
                continue
            for ended in wait(running, return_when=FIRST_COMPLETED).done:
                del running[ended]
                outcomes.append(ended.result())
    return outcomes


def _has_room(part: Part, running: Collection[Part], cores: float) -> bool:
    if not running:
        return True
    alone = part.quiet or any(other.quiet for other in running)
    taken = part.uses and any(other.uses == part.uses for other in running)
    return not alone and not taken and sum(other.cores for other in running) + part.cores <= cores + _SPARE_CORES
