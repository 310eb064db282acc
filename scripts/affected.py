"""Find the tests that a change can reach, by what each file imports and names."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

# A change of these can change the result of any test.
REACH_EVERYTHING = ("pyproject.toml", "requirements/zoe.lock", "scripts/pytest_main.py", "tests/conftest.py")
CODE_FOLDERS = frozenset({"benchmarks", "scripts", "tests"})


def changed_files(root: Path, base: str) -> set[str]:
    """Return the paths, relative to the root, that differ from the commit `base`; untracked files count."""
    differing = _git(root, "diff", "--name-only", "--no-renames", base, "--")
    untracked = _git(root, "ls-files", "--others", "--exclude-standard")
    return {*differing, *untracked}


def base_of(root: Path) -> str:
    """Return the commit that the present work began from: the merge base with upstream or main.

    On main without uncommitted changes that is HEAD itself, so the last commit is taken: there is always a change.
    """
    head = _git(root, "rev-parse", "HEAD")[0]
    for branch in ("@{upstream}", "origin/main", "main"):
        found = _git(root, "merge-base", "HEAD", branch, check=False)
        if found and (found[0] != head or changed_files(root, head)):
            return found[0]
    return "HEAD~1"


class ImportGraph:
    """Which files of a source tree a Python file needs, directly.

    A file needs the modules that it imports, the packages around them, the conftest.py files above it, and what its
    text constants name: a module (for `python -m`) or a path (for data files). Importing inside functions counts too.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths = {path for path in _tracked(root) if (root / path).is_file()}
        self._tops = {path.split("/", 1)[0] for path in self._paths}
        # A bare word such as "scripts" names no path of these; of other folders it is how code finds its data.
        self._code = {top for top in self._tops if f"{top}/__init__.py" in self._paths} | CODE_FOLDERS

    def affected(self, changed: Iterable[str], candidates: str) -> list[str]:
        """Return the test files below the folder `candidates` that the changed files can reach."""
        tests = sorted(p for p in self._paths if p.startswith(f"{candidates}/") and PurePosixPath(p).match("test_*.py"))
        changed = set(changed)
        if changed.intersection(REACH_EVERYTHING):
            return tests
        reached = self._closure(changed)
        return [test for test in tests if test in reached]

    def needs(self, path: str) -> set[str]:
        """Return everything that a Python file needs, directly or not, itself included."""
        found, waiting = {path}, [path]
        while waiting:
            more = self._needs.get(waiting.pop(), set()) - found
            found |= more
            waiting.extend(more)
        return found

    def _closure(self, changed: set[str]) -> set[str]:
        users: dict[str, set[str]] = {}
        for path, needed in self._needs.items():
            for one in needed:
                users.setdefault(one, set()).add(path)
        # Who named a data folder needs what lies below it.
        folders = {str(parent) for path in changed for parent in PurePosixPath(path).parents}
        reached = changed | folders
        waiting = list(reached)
        while waiting:
            more = users.get(waiting.pop(), set()) - reached
            reached |= more
            waiting.extend(more)
        return reached

    @cached_property
    def _needs(self) -> dict[str, set[str]]:
        return {path: set(self._direct(path)) for path in self._paths if path.endswith(".py")}

    def _direct(self, path: str) -> Iterator[str]:
        for node in ast.walk(ast.parse((self._root / path).read_bytes())):
            match node:
                case ast.Import():
                    for alias in node.names:
                        yield from self._module(alias.name)
                case ast.ImportFrom(module=str(module)):
                    yield from self._module(module)
                    for alias in node.names:
                        yield from self._module(f"{module}.{alias.name}")
                case ast.Constant(value=str(text)):
                    yield from self._named(text)
        if path.startswith("tests/"):
            yield from (f"{folder}/conftest.py" for folder in PurePosixPath(path).parents)

    def _module(self, name: str) -> Iterator[str]:
        """Yield the files behind a dotted name, also of a module that the change has deleted."""
        parts = name.split(".")
        if parts[0] not in self._tops:
            return
        for end in range(1, len(parts) + 1):
            folder = "/".join(parts[:end])
            yield f"{folder}.py"
            yield f"{folder}/__init__.py"

    def _named(self, text: str) -> Iterator[str]:
        """Yield what a text constant may name: `zoe_master.main:main`, `docs/reference/cli.md`, `app_descriptions`."""
        name = text.partition(":")[0]
        if name.split(".", 1)[0] in self._tops and name.replace(".", "_").isidentifier():
            yield from self._module(name)
            yield f"{name.replace('.', '/')}/__main__.py"
        if len(text) < 200 and text.split("/", 1)[0] in self._tops and text not in self._code:  # no path is longer
            yield text.rstrip("/")


def _tracked(root: Path) -> list[str]:
    return _git(root, "ls-files", "--cached", "--others", "--exclude-standard")


def _git(root: Path, *arguments: str, check: bool = True) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, check=check, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
