"""One run of pytest in a process of its own, and what it says of each test."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET  # we read only what pytest wrote
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOME_FAILED = 1
"""The exit code of pytest that says so, and that it ran to its end."""


@dataclass
class Cases:
    """What one run of pytest says of each test."""

    exit_code: int
    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skips: Counter[str] = field(default_factory=Counter)


def pytest_run(title: str, arguments: list[str], directory: Path, live: bool) -> Cases:
    """Run pytest; what failed is remembered in the directory, for --last-failed."""
    if live:
        headline(title)
    report = directory / "report.xml"
    report.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "scripts.pytest_main",
        "-q",
        f"--junitxml={report}",
        "-o",
        f"cache_dir={directory}/cache",
    ]
    output = {} if live else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run([*command, *arguments], cwd=ROOT, check=False, **output)
    if not live:
        headline(f"{title}\n{done.stdout.decode(errors='replace')}")
    cases = Cases(done.returncode)
    _read(report, cases)
    return cases


def _read(report: Path, cases: Cases) -> None:
    """Take the cases of a JUnit report; one that failed in its tidying up, too, is told of twice there."""
    if not report.exists():
        return
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it just now
        test = f"{case.get('classname')}::{case.get('name')}"
        skipped = case.find("skipped")
        if skipped is not None:
            cases.skips[skipped.get("message", "no reason given")] += 1
        elif case.find("failure") is not None or case.find("error") is not None:
            cases.failed.add(test)
        else:
            cases.passed.add(test)
    cases.passed -= cases.failed


def headline(text: str) -> None:
    """Say what begins."""
    print(f"\n=== {text}", flush=True)
