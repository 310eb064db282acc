"""What of a changed file has changed, where a part of it reaches fewer tests than the whole.

Two files list what is elsewhere, and many changes add a line to them: pyproject.toml has the rules of the checks, and a
package that imports its names late has their table. Anything that cannot be compared counts as changed whole.
"""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from scripts.direct_needs import for_type_checkers, is_lazy, lazy_table

PROJECT = "pyproject.toml"
RULES_OF_CHECKS = f"{PROJECT} (rules of checks)"
"""A part of pyproject.toml: only what reads that file itself needs it."""
_CHECKS = ("importlinter", "mypy", "ruff")


def changed_parts(root: Path, base: str, changed: Iterable[str]) -> set[str]:
    """Return the changed files, some of them replaced by the nodes of the graph that stand for what has changed."""
    parts: set[str] = set()
    for path in changed:
        read = _rules_of_checks if path == PROJECT else _names if path.endswith("/__init__.py") else None
        found = None
        if read is not None and (root / path).is_file() and (before := _at(root, base, path)) is not None:
            try:
                found = read(path, before, (root / path).read_bytes())
            except (ValueError, SyntaxError, TypeError, AttributeError):
                found = None
        parts |= {path} if found is None else found
    return parts


def _rules_of_checks(_path: str, before: bytes, now: bytes) -> set[str] | None:
    """Return that part alone if the rest of pyproject.toml says the same; None if it does not."""
    return {RULES_OF_CHECKS} if _without_checks(before) == _without_checks(now) else None


def _without_checks(content: bytes) -> dict[str, object]:
    project = tomllib.loads(content.decode())
    tools = {name: table for name, table in project.get("tool", {}).items() if name not in _CHECKS}
    return {**project, "tool": tools}


def _names(path: str, before: bytes, now: bytes) -> set[str] | None:
    """Return the names of a package whose module is another one now; None if more has changed than the table."""
    trees = [ast.parse(content) for content in (before, now)]
    tables = [lazy_table(path, tree) for tree in trees]
    rests = [ast.dump(_without_table(tree)) for tree in trees]
    if not all(tables) or rests[0] != rests[1]:
        return None
    old, new = tables
    folder = PurePosixPath(path).parent
    moved = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    return {f"{folder}/{name}.py" for name in (*moved, "*")}


def _without_table(tree: ast.Module) -> ast.Module:
    rest = [node for node in tree.body if not is_lazy(node) and not for_type_checkers(node)]
    return ast.Module(rest, [])


def _at(root: Path, base: str, path: str) -> bytes | None:
    """Return the file as it was in a commit; None if it was not there."""
    done = subprocess.run(["git", "show", f"{base}:{path}"], cwd=root, check=False, capture_output=True)
    return done.stdout if done.returncode == 0 else None
