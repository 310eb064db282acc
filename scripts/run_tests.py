"""Run every part of the tests; at the end, a table of times and of everything that was skipped, with why.

With ZOE_REQUIRE_ALL=1 a missing program fails instead of being skipped; a missing privilege or absent ZOE_TEST_DATA
stays a named skip. A few failed tests of a part get a second try, but for parts that are the same each time, and the
table names them (docs/decisions/0027-a-second-try-for-tests-of-real-programs.md).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

from scripts.pytest_run import ROOT, SOME_FAILED, Cases, headline, pytest_run

BIN = Path(sys.executable).parent
# Part -> the folders of tests in it; one process each, so that a part's time can be seen.
PARTS = {
    "unit": ["tests/unit"],
    "properties": ["tests/properties"],
    "simulation": ["tests/simulation"],
    "traces": ["tests/traces"],
    "contract": ["tests/contract"],
    "migration": ["tests/migration"],
    "local back-end": ["tests/local"],
    "swarm": ["tests/swarm"],
    "compose": ["tests/compose"],
    "storage": ["tests/storage"],
    "api": ["tests/api"],
    "web": ["tests/web"],
    "cli": ["tests/cli"],
    "docs": ["tests/docs"],
    "package": ["tests/package"],
    "end to end": ["tests/e2e"],
    "demo": ["tests/demo"],
}
# The lanes of a stage run beside each other, one a core; the parts of a lane one after the other. First what keeps a
# core busy alone; then what mostly waits for programs of others. Bandwidth is measured with nothing beside.
STAGES = (
    (("unit",), ("properties",), ("simulation",), ("traces",), ("migration",), ("cli",), ("docs",), ("package",)),
    (("swarm", "compose"), ("api", "contract", "local back-end")),
    (("storage",),),
    (("end to end",), ("web",)),
    (("demo",),),
)
# Parts that do the same each time, by their seeds: what fails there fails again.
SEEDED = ("properties", "simulation", "traces")
# More that fail in one part have a cause in common.
SECOND_TRIES_MAX = 3
LONG_ENVIRONMENT = {"ZOE_PROPERTY_CHECKS": "100000", "ZOE_TEST_TRACES": "all"}
LINT = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports"],
    ["python", "scripts/web.py", "check"],
)


@dataclass
class Part:
    """What one part came to."""

    name: str
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    skips: Counter[str] = field(default_factory=Counter)
    second_try: list[str] = field(default_factory=list)
    """What passed at its second try only."""
    ok: bool = True


def main() -> int:
    """Run all parts, or those named on the command line, the long ones with --all; 0 only if all passed."""
    chosen = sys.argv[1:] or ["lint", *PARTS]
    if chosen == ["--all"]:
        os.environ.update(LONG_ENVIRONMENT)
        chosen = ["lint", *PARTS]
    unknown = [name for name in chosen if name != "lint" and name not in PARTS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are lint, {', '.join(PARTS)}", file=sys.stderr)
        return 2
    began_s = time.monotonic()
    return close(run(chosen), time.monotonic() - began_s)


def run(chosen: list[str]) -> list[Part]:
    """All parts in the order in which they are named, whenever each of them runs."""
    done = [lint()] if "lint" in chosen else []
    for stage in STAGES:
        lanes = [wanted for lane in stage if (wanted := [name for name in lane if name in chosen])]
        if len(lanes) > 1:
            print(f"\n{'; '.join(', '.join(lane) for lane in lanes)}: beside each other, shown as they end", flush=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done += chain.from_iterable(pool.map(partial(in_turn, live=len(lanes) == 1), lanes))
    return sorted(done, key=lambda part: chosen.index(part.name))


def in_turn(names: list[str], live: bool) -> list[Part]:
    """The parts of a lane."""
    return [suite(name, live) for name in names]


def lint() -> Part:
    """ruff, mypy, import-linter, and what checks the web UI; each counts as one test."""
    part, began_s = Part("lint"), time.monotonic()
    headline("lint")
    for command in LINT:
        done = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, check=False)
        part.passed += done.returncode == 0
        part.failed += done.returncode != 0
    part.ok, part.seconds = part.failed == 0, time.monotonic() - began_s
    return part


def suite(name: str, live: bool = True) -> Part:
    """One run of pytest; what it prints is shown as it comes or, for parts beside each other, at its end."""
    part, began_s = Part(name), time.monotonic()
    folders = [folder for folder in PARTS[name] if any((ROOT / folder).rglob("test_*.py"))]
    if not folders:
        return part
    with tempfile.TemporaryDirectory() as directory:
        cases = pytest_run(name, folders, Path(directory), live)
        if deserves_second_try(name, cases):
            again = pytest_run(f"{name}: what failed, again", ["--last-failed", *folders], Path(directory), live)
            part.second_try = sorted(cases.failed & again.passed)
    failed = cases.failed - set(part.second_try)
    part.passed, part.skips = len(cases.passed) + len(part.second_try), cases.skips
    part.ok = cases.exit_code == 0 or (bool(part.second_try) and not failed)
    part.failed = len(failed) or int(not part.ok)
    part.seconds = time.monotonic() - began_s
    return part


def deserves_second_try(name: str, cases: Cases) -> bool:
    """Whether it may have been chance: few tests failed, of a part that has processes, sockets or random keys."""
    return cases.exit_code == SOME_FAILED and len(cases.failed) <= SECOND_TRIES_MAX and name not in SEEDED


def close(parts: list[Part], took_s: float) -> int:
    """The closing table."""
    print(f"\n{'part':<16}{'seconds':>9}{'passed':>9}{'failed':>9}{'skipped':>9}")
    for part in parts:
        print(f"{part.name:<16}{part.seconds:9.1f}{part.passed:9}{part.failed:9}{part.skips.total():9}")
    reasons: Counter[str] = sum((part.skips for part in parts), Counter())
    if reasons:
        print("\nskipped:")
        for reason, count in sorted(reasons.items()):
            print(f"  {count:4} x {reason}")
    second = [test for part in parts for test in part.second_try]
    if second:
        print("\npassed at the second try:", *second, sep="\n  ")
    passed, failed = sum(p.passed for p in parts), sum(p.failed for p in parts)
    print(f"\n{took_s:.0f} s in all\n{passed} passed, {failed} failed, {reasons.total()} skipped")
    return 0 if all(part.ok for part in parts) else 1


if __name__ == "__main__":
    sys.exit(main())
