"""Run every part of the tests; at the end, a table of times and of everything that was skipped, with why.

With ZOE_REQUIRE_ALL=1 a missing program fails instead of being skipped; a missing privilege or absent ZOE_TEST_DATA
stays a named skip.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET  # we read only what pytest wrote
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# Part -> the folders of tests in it; one process each, so that a part's time can be seen.
PARTS = {
    "unit": ["tests/unit"],
    "properties": ["tests/properties"],
    "simulation": ["tests/simulation"],
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
# Parts that need little beyond a processor, and wait for nobody by the clock: they run beside each other, one a core.
BESIDE_EACH_OTHER = ("unit", "properties", "simulation", "migration", "cli", "docs", "package")
# What only the long run holds.
LONG_PARTS = {"published traces": ["tests/traces"]}
LONG_ENVIRONMENT = {"ZOE_PROPERTY_CHECKS": "100000"}
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
    ok: bool = True


def main() -> int:
    """Run all parts, or those named on the command line, the long ones with --all; 0 only if all passed."""
    chosen = sys.argv[1:] or ["lint", *PARTS]
    if chosen == ["--all"]:
        PARTS.update(LONG_PARTS)
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
    done = {"lint": lint()} if "lint" in chosen else {}
    beside = [name for name in chosen if name in BESIDE_EACH_OTHER]
    if len(beside) > 1:
        print(f"\n{', '.join(beside)} run beside each other; each prints when it has ended", flush=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done.update(zip(beside, pool.map(partial(suite, live=False), beside), strict=True))
    for name in chosen:
        if name not in done:
            done[name] = suite(name)
    return [done[name] for name in chosen]


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
    if live:
        headline(name)
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *folders]
        output = {} if live else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, cwd=ROOT, check=False, **output)
        if not live:
            headline(f"{name}\n{done.stdout.decode(errors='replace')}")
        read_report(report, part)
    part.ok, part.seconds = done.returncode == 0, time.monotonic() - began_s
    part.failed += not part.ok and not part.failed
    return part


def read_report(report: Path, part: Part) -> None:
    """Count the cases of a JUnit report, and the reasons of skips."""
    if not report.exists():
        return
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it just now
        skipped = case.find("skipped")
        if skipped is not None:
            part.skips[skipped.get("message", "no reason given")] += 1
        elif case.find("failure") is not None or case.find("error") is not None:
            part.failed += 1
        else:
            part.passed += 1


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
    passed, failed = sum(p.passed for p in parts), sum(p.failed for p in parts)
    print(f"\n{took_s:.0f} s in all\n{passed} passed, {failed} failed, {reasons.total()} skipped")
    return 0 if all(part.ok for part in parts) else 1


def headline(text: str) -> None:
    """Say what begins."""
    print(f"\n=== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
