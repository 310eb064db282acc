"""One run of pytest in a process of its own, and what it says of each test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOME_FAILED = 1
"""The exit code of pytest for failed tests, when it ran to its end."""
Record = dict[str, Any]


@dataclass
class Cases:
    """What one run of pytest says of each test."""

    exit_code: int
    output: str = ""
    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    """Test -> what it said."""
    skips: Counter[str] = field(default_factory=Counter)
    cpu_s: float = 0.0


def pytest_run(arguments: Sequence[str], directory: Path, records: Path) -> Cases:
    """Run pytest; the directory remembers what failed, for --last-failed."""
    command = [sys.executable, "-m", "scripts.pytest_main", "-q", "-p", "scripts.pytest_records"]
    options = [f"--records={records}", "-o", f"cache_dir={directory}/cache"]
    done = subprocess.run(
        [*command, *options, *arguments],
        cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    cases = Cases(done.returncode, done.stdout)
    for record in read_records(records):
        _count(cases, record)
    cases.passed -= set(cases.failed)
    return cases


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a run, also of one that still goes on or broke down."""
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            if line.endswith("}"):  # the last one may be half written
                yield json.loads(line)


def _count(cases: Cases, record: Record) -> None:
    match record:
        case {"kind": "outcome", "outcome": "skipped", "reason": reason}:
            cases.skips[reason or "no reason given"] += 1
        case {"kind": "outcome", "outcome": "failed", "name": name, "output": output}:
            cases.failed.setdefault(name, output)
        case {"kind": "outcome", "outcome": "passed", "name": name}:
            cases.passed.add(name)
        case {"kind": "end", "own_cpu_s": own_s, "children_cpu_s": children_s}:
            cases.cpu_s += own_s + children_s
