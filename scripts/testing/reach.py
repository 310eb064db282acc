"""Which test files a change reaches, the nearest first, by the graph of imports (grimp, which import-linter uses)."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import grimp
import grimp.exceptions

from scripts.testing.names import ROOT

_TESTED_BY = """
alembic:migration deploy:compose docker-compose.yml:compose docs:docs packaging:package storage_bridge:storage
storage_controller:storage storage_filters:storage storage_gateway:storage web:web zoe_api:api zoe_cli:cli
zoe_client:cli zoe_embedded:demo zoe_job:local zoe_simulator:simulation
"""
TESTED_BY = {top: f"tests/{folder}" for top, _, folder in (pair.partition(":") for pair in _TESTED_BY.split())}
"""Top-level folder -> tests that reach it through started programs, hence without an import."""


def base_commit(root: Path = ROOT) -> str:
    """Return where the present work began: the merge base with the main branch, or HEAD's parent where that is HEAD."""
    for branch in ("@{upstream}", "origin/HEAD", "origin/main", "main"):
        base = _git(root, "merge-base", "HEAD", branch)
        if base and (base != _git(root, "rev-parse", "HEAD") or _git(root, "status", "--porcelain")):
            return base[0]
    return "HEAD~1"


def changed_files(base: str, root: Path = ROOT) -> list[str]:
    """Return the files that differ from a commit, with untracked ones; the program ends if there is no such commit."""
    if not _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        sys.exit(f"there is no commit {base!r} here: BASE=COMMIT names one, and `git fetch --unshallow` gets all")
    differing = _git(root, "diff", "--name-only", "--no-renames", base, "--")
    return sorted({*differing, *_git(root, "ls-files", "--others", "--exclude-standard")})


def reached(changed: Iterable[str], root: Path = ROOT) -> list[str]:
    """Return the existing test files that changed files can affect by imports, the nearest first.

    Near are those with few imports between; a changed test and the one that mirrors a module come first. Tests that
    start a program, or read a file by its path, are not found: `TESTED_BY` names their folders.
    """
    packages = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["root_packages"]
    sys.path.insert(0, str(root))
    try:
        graph = grimp.build_graph(*packages, "scripts", "tests", cache_dir=str(root / "build" / "imports"))
    except grimp.exceptions.SourceSyntaxError as error:
        print(f"the imports cannot be read, so only lint and changed tests run: {error}")
        graph = grimp.ImportGraph()
    steps, near = dict[str, int](), {_module(path) for path in changed if path.endswith(".py")}
    mirrors = {_module(f"tests/unit/{Path(path).parent}/test_{Path(path).name}") for path in changed}
    for step in range(len(graph.modules)):
        steps |= dict.fromkeys(near, step)
        if step == 0:
            steps |= dict.fromkeys(mirrors, 0)
        known = (one for one in near if one in graph.modules)
        near = {user for one in known for user in graph.find_modules_that_directly_import(one)} - steps.keys()
        if not near:
            break
    tests = {f"{module.replace('.', '/')}.py": step for module, step in steps.items() if ".test_" in module}
    return sorted((path for path in tests if (root / path).is_file()), key=lambda path: (tests[path], path))


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _git(root: Path, *arguments: str) -> list[str]:
    """Return the lines that git prints; nothing if it refuses."""
    done = subprocess.run(["git", *arguments], cwd=root, check=False, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []
