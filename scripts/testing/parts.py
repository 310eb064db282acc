"""The parts of the tests: one process of pytest each. Two or more run side by side while the machine has cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Condition
from typing import Literal, TypeVar

Outcome = TypeVar("Outcome")
_SPARE_CORES = 0.4
"""Parts wait for other programs now and then, so they may need this many more cores than there are."""


@dataclass(frozen=True, slots=True)
class Part:
    """Tests of some folders or files, and what they need of the machine.

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
    Part("compose", ("tests/compose",), uses="engines"),
    Part("demo", ("tests/demo",), 1.2),
    Part("web", ("tests/web",), uses="browser"),
    Part("end to end", ("tests/e2e",)),
    Part("api", ("tests/api",)),
    Part("command line", ("tests/cli",)),
    Part("local back-end", ("tests/local",), 0.4),
    Part("database", ("tests/contract", "tests/migration"), 0.4),
    Part("documents", ("tests/docs", "tests/package"), 0.8),
    Part("fast", ("tests/unit", "tests/properties", "tests/simulation", "tests/traces"), 1.0),
)
BY_NAME = {part.name: part for part in PARTS}


def part_of(path: str) -> Part:
    """Return the part to which a test file belongs; ValueError if none does."""
    for part in PARTS:
        if any(path == one or path.startswith(f"{one}/") for one in part.paths):
            return part
    raise ValueError(f"{path} belongs to no part of the tests: add its folder to {__name__}")


def run_side_by_side(
    parts: Sequence[Part], cores: float, run: Callable[[Part], Outcome], running: set[str]
) -> list[Outcome]:
    """Run all parts in threads, each as soon as it fits, in the given order; keep `running` up to date."""
    changed, now = Condition(), list[Part]()

    def one(part: Part) -> Outcome:
        running.add(part.name)
        try:
            return run(part)
        finally:
            with changed:
                running.discard(part.name)
                now.remove(part)
                changed.notify()

    waiting = sorted(parts, key=lambda part: part.quiet)
    with ThreadPoolExecutor(max(len(parts), 1)) as pool:
        futures = []
        while waiting:
            with changed:
                while (part := _first_that_fits(waiting, now, cores)) is None:
                    changed.wait()
                waiting.remove(part)
                now.append(part)
            futures.append(pool.submit(one, part))
        return [future.result() for future in futures]


def _first_that_fits(waiting: Iterable[Part], now: Sequence[Part], cores: float) -> Part | None:
    for part in waiting:
        if not now:
            return part
        alone = part.quiet or any(other.quiet for other in now)
        taken = part.uses and any(other.uses == part.uses for other in now)
        if not alone and not taken and sum(other.cores for other in now) + part.cores <= cores + _SPARE_CORES:
            return part
    return None
