"""One run of pytest in a separate process, and its report on each test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.cpu_groups import ENGINES_PARENT, CpuGroup
from scripts.pytest_order import ORDER

ROOT = Path(__file__).resolve().parent.parent
SOME_FAILED = 1
"""The exit code of pytest for failed tests, if it ran to its end."""
Record = dict[str, Any]
# No test takes so long, even with images to build on a busy machine; long variants may.
HANG_S = 1200.0
HANG_LONG_S = 6 * 3600.0
OUTPUT_BYTES_MAX = 4 << 20
"""Characters of a part's output that are shown at its end."""
_LOOK_S = 5.0
_DUMP_S = 30.0


@dataclass
class Cases:
    """One run's report on each test."""

    exit_code: int
    output: str = ""
    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    """Test -> its output."""
    skips: Counter[str] = field(default_factory=Counter)
    unfinished: str = ""
    """The test that was running when the process ended."""
    ended: bool = False
    """Whether every collected test has an outcome."""
    found: int = 0
    cpu_s: float = 0.0
    """Of the process, and of those for which it or its children have waited."""
    group_cpu_s: float | None = None
    """Of all that it started; None where the machine has no control group for it."""


def pytest_run(arguments: Sequence[str], directory: Path, records: Path) -> Cases:
    """Run pytest; the directory remembers failures, for --last-failed. Output goes to a file beside the records.

    A run in which no test begins or ends for HANG_S prints the stacks of its threads and ends as failed.
    """
    command = [sys.executable, "-m", "scripts.pytest_main", "-q", "-p", "scripts.pytest_records"]
    command += ["-p", "scripts.pytest_order"] if os.environ.get(ORDER) else []
    command += [f"--records={records}", "-o", f"cache_dir={directory}/cache", *arguments]
    output, began_s, group = records.with_suffix(f"{records.suffix}.log"), time.monotonic(), CpuGroup.make(records.stem)
    try:
        with output.open("wb") as file:
            begun = group.command(command) if group else command
            env = {**os.environ, ENGINES_PARENT: group.for_engines if group else ""}
            process = subprocess.Popen(begun, cwd=ROOT, env=env, stdout=file, stderr=subprocess.STDOUT)
            exit_code = _wait(process, records)
    finally:
        group_cpu_s = group.close() if group else None
    with records.open("a", encoding="utf-8") as file_of_records:
        run = {"kind": "run", "seconds": time.monotonic() - began_s, "cpu_s": group_cpu_s}
        file_of_records.write(f"\n{json.dumps(run)}\n")  # the last line of a run that crashed may be incomplete
    cases = Cases(exit_code, _end_of(output), group_cpu_s=group_cpu_s)
    for record in read_records(records):
        _count(cases, record)
    if not cases.ended and exit_code == 0:
        cases.failed["pytest"] = "the process ended before pytest did, with exit code 0"
    if cases.unfinished:
        cases.failed[cases.unfinished] = f"it did not end; the process ended with {exit_code}"
    cases.passed -= set(cases.failed)
    return cases


def _end_of(output: Path) -> str:
    with output.open("rb") as file:
        file.seek(max(output.stat().st_size - OUTPUT_BYTES_MAX, 0))
        return file.read().decode("utf-8", errors="replace")


def _wait(process: subprocess.Popen[bytes], records: Path) -> int:
    while True:
        try:
            return process.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            if _quiet_s(records) < hang_s():
                continue
        process.send_signal(signal.SIGABRT)  # pytest's faulthandler prints all stacks
        try:
            return process.wait(_DUMP_S)
        except subprocess.TimeoutExpired:
            process.kill()


def hang_s() -> float:
    """Return how long a test may run."""
    return HANG_LONG_S if {"ZOE_TEST_LONG", "ZOE_PROPERTY_CHECKS"} & set(os.environ) else HANG_S


def _quiet_s(records: Path) -> float:
    return time.time() - records.stat().st_mtime if records.exists() else 0.0


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a run, even if it still runs or has crashed."""
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            if line.endswith("}"):  # the last one may be incomplete
                yield json.loads(line)


def _count(cases: Cases, record: Record) -> None:
    match record:
        case {"kind": "begin", "name": name}:
            cases.unfinished = name
        case {"kind": "test"}:
            cases.unfinished = ""
        case {"kind": "outcome", "outcome": "skipped", "reason": reason}:
            cases.skips[reason or "no reason given"] += 1
        case {"kind": "outcome", "outcome": "failed", "name": name, "output": output}:
            cases.failed.setdefault(name, output)
        case {"kind": "outcome", "outcome": "passed", "name": name}:
            cases.passed.add(name)
        case {"kind": "collected", "count": count}:
            cases.found = count
        case {"kind": "end", "own_cpu_s": own_s, "children_cpu_s": children_s}:
            cases.cpu_s += own_s + children_s
            cases.ended = len(cases.passed | cases.failed.keys()) + cases.skips.total() >= cases.found
        case {"kind": "exit", "own_cpu_s": own_s, "children_cpu_s": children_s}:
            cases.cpu_s += own_s + children_s
