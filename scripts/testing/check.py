"""Check a change in seconds: lint, and the nearest cheap tests. `make test` decides.

The change is the difference from the merge base with the main branch, including untracked files; BASE=COMMIT selects
another base. With `--tier 2`, as in `make test-changed`: the expensive tests of the changed files, the nearest first.
Tests are near if few imports are between, by grimp's graph, which import-linter uses.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

import grimp
import grimp.exceptions

from scripts.testing.costs import Costs
from scripts.testing.parts import ROOT
from scripts.testing.run import close, run, running_alone, select_tests

CHECK_S, CHANGED_S = 25.0, 1200.0
"""CPU seconds of the chosen tests, by the table of costs: they take at most this long on two cores."""
CHANGED_MINUTES = 15.0
_LISTED_MAX = 10
_TESTED_BY = """
alembic:migration deploy:compose docker-compose.yml:compose docs:docs packaging:package storage_bridge:storage
storage_controller:storage storage_filters:storage storage_gateway:storage web:web zoe_api:api zoe_cli:cli
zoe_client:cli zoe_embedded:demo zoe_job:local zoe_simulator:simulation lab:simulation
"""
TESTED_BY = {top: f"tests/{folder}/" for top, _, folder in (pair.partition(":") for pair in _TESTED_BY.split())}
"""Top-level folder -> tests that reach it through started programs, hence without an import."""


def main() -> int:
    """Choose tests, print them, and run them."""
    tier = 2 if sys.argv[1:] == ["--tier", "2"] else 1
    changed = changed_files(os.environ.get("BASE") or base_commit())
    tests, left = choose_tests(changed, tier)
    print(
        f"{len(changed)} files changed; {len(tests)} files of tests, the first of them:",
        *tests[:_LISTED_MAX],
        sep="\n  ",
    )
    if left:
        print(f"{left} more files of tests can be affected: `make {'test' if tier == 1 else 'test-all'}` runs them")
    if tier == 2 and not tests:
        return 0
    until = time.time() + 60 * CHANGED_MINUTES if tier == 2 else 0.0
    with running_alone():
        return close(run(select_tests(tests, tier) if tests else {}, tier, until, lint=tier == 1))


def choose_tests(changed: list[str], tier: int, root: Path = ROOT) -> tuple[list[str], int]:
    """Return the test files of a tier to run, and the number of further ones that can be affected.

    For tier 1 these are unit tests alone, which need no other program; for tier 2 also tests that start the programs.
    """
    costs = Costs.read()
    of_tier, tests = costs.of_tier(tier), affected_tests(changed, root)
    if tier == 1:
        tests = [test for test in costs.files_of(1, tests) if test.startswith("tests/unit/")]
    else:
        folders = tuple({TESTED_BY[top] for path in changed if (top := path.split("/")[0]) in TESTED_BY})
        tests += sorted(test for test in of_tier if test.startswith(folders))
        tests = [test for test in dict.fromkeys(tests) if test in of_tier]
    budget_s, kept = CHECK_S if tier == 1 else CHANGED_S, list[str]()
    for test in tests:
        budget_s -= of_tier.get(test, 0.0)
        if budget_s >= 0 or not kept:
            kept.append(test)
    return kept, len(tests) - len(kept)


def base_commit(root: Path = ROOT) -> str:
    """Return the base of the present work: the merge base with the main branch, or HEAD's parent if that is HEAD."""
    for branch in ("@{upstream}", "origin/HEAD", "origin/main", "main"):
        base = _git(root, "merge-base", "HEAD", branch)
        if base and (base != _git(root, "rev-parse", "HEAD") or _git(root, "status", "--porcelain")):
            return base[0]
    return "HEAD~1"


def changed_files(base: str, root: Path = ROOT) -> list[str]:
    """Return the files that differ from a commit, including untracked ones; the program ends if the commit does not
    exist.
    """
    if not _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        sys.exit(f"there is no commit {base!r} here: BASE=COMMIT names one, and `git fetch --unshallow` gets all")
    differing = _git(root, "diff", "--name-only", "--no-renames", base, "--")
    return sorted({*differing, *_git(root, "ls-files", "--others", "--exclude-standard")})


def affected_tests(changed: Iterable[str], root: Path = ROOT) -> list[str]:
    """Return the existing test files that changed files can affect by imports, the nearest first.

    A changed test and the one that mirrors a module come first. Tests that start a program, or read a file by its path,
    are not found: `TESTED_BY` names their folders.
    """
    packages = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["root_packages"]
    sys.path.insert(0, str(root))
    try:
        graph = grimp.build_graph(*packages, "scripts", "tests", cache_dir=str(root / "build" / "imports"))
    except grimp.exceptions.SourceSyntaxError as error:
        print(f"the imports cannot be read, so only lint and changed tests run: {error}")
        graph = grimp.ImportGraph()
    near = {_module(path) for path in changed if path.endswith(".py")}
    mirrors = {_module(f"tests/unit/{Path(path).parent}/test_{Path(path).name}") for path in changed}
    seen = dict.fromkeys(sorted(near | mirrors))
    while near:
        users = (graph.find_modules_that_directly_import(text) for text in near if text in graph.modules)
        near = set[str]().union(*users) - seen.keys()
        seen |= dict.fromkeys(sorted(near))
    tests = (f"{module.replace('.', '/')}.py" for module in seen if ".test_" in module)
    return [test for test in tests if (root / test).is_file()]


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _git(root: Path, *arguments: str) -> list[str]:
    """Return the lines that git prints; nothing if it refuses."""
    done = subprocess.run(["git", *arguments], cwd=root, check=False, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


if __name__ == "__main__":
    sys.exit(main())
