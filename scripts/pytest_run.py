"""One run of pytest in a separate process, and its report on each test."""

from __future__ import annotations

import contextlib
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

from scripts.cpu_groups import COUNTED, ENGINES_PARENT, CpuGroup
from scripts.pytest_order import ORDER

ROOT = Path(__file__).resolve().parent.parent
SOME_FAILED = 1
"""The exit code of pytest for failed tests, if it ran to its end."""
INTERRUPTED = 2
"""That for files that it could not read, and for Ctrl-C."""
Record = dict[str, Any]
# No test takes so long, even with images to build on a busy machine; long variants may.
HANG_S = 1200.0
HANG_LONG_S = 6 * 3600.0
OUTPUT_BYTES_MAX = 4 << 20
"""Characters of a part's output that are shown at its end."""
PROGRESS_S = 60.0
"""How often a run says what it does."""
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
    broken: str = ""
    """Why the run did not come to its end, which is not the same as failed tests."""
    untold: dict[str, str] = field(default_factory=dict)
    """Test -> a sentence, of failures that pytest's own output does not name."""
    last: str = ""
    """The test that began last."""
    unfinished: str = ""
    """The test that was running when the process ended."""
    ended: bool = False
    """Whether every collected test has an outcome."""
    exited: bool = False
    """Whether the interpreter came to its end."""
    left: dict[str, str] = field(default_factory=dict)
    """Test -> a thread that it began, which ran on after the last test."""
    found: int = 0
    begun: int = 0
    cpu_s: float = 0.0
    """Of the process, and of those for which it or its children have waited."""
    outlived: list[str] = field(default_factory=list)
    """Commands of programs that it left running."""
    group_cpu_s: float | None = None
    """Of all that it started; None where the machine has no control group for it."""


def pytest_run(
    arguments: Sequence[str],
    directory: Path,
    records: Path,
    *,
    root: Path = ROOT,
    hang_s: float | None = None,
    exit_s: str = "",
) -> Cases:
    """Run pytest; the directory remembers failures, for --last-failed. Output goes to a file beside the records.

    A run in which no test begins or ends for `hang_s`, or HANG_S, prints the stacks of its threads and ends as failed.
    """
    command = [sys.executable, "-m", "scripts.pytest_main", "-q", "-p", "scripts.pytest_records"]
    command += ["-p", "scripts.pytest_order"] if os.environ.get(ORDER) else []
    command += [f"--records={records}", "-o", f"cache_dir={directory}/cache", *arguments]
    output, began_s, group = records.with_suffix(f"{records.suffix}.log"), time.monotonic(), CpuGroup.make(records.stem)
    try:
        with output.open("wb") as file:
            begun = group.command(command) if group else command
            env = {**os.environ, **(group.environment if group else {COUNTED: "", ENGINES_PARENT: ""})}
            if exit_s:
                env.setdefault("ZOE_TEST_EXIT_S", exit_s)
            env.pop("PYTHONDONTWRITEBYTECODE", None)  # without bytecode, 2.0 CPU s to begin instead of 0.5
            process = subprocess.Popen(begun, cwd=root, env=env, stdout=file, stderr=subprocess.STDOUT)
            exit_code, hung = _wait(process, records, hang_s or most_s())
        outlived = group.left() if group else []
        if group and exit_code not in (0, SOME_FAILED):
            group.end()  # a test that is interrupted kills its programs, and these leave theirs
    finally:
        group_cpu_s = group.close() if group else None
    with records.open("a", encoding="utf-8") as file_of_records:
        run = {"kind": "run", "seconds": time.monotonic() - began_s, "cpu_s": group_cpu_s}
        file_of_records.write(f"\n{json.dumps(run)}\n")  # the last line of a run that crashed may be incomplete
    cases = Cases(exit_code, _end_of(output), group_cpu_s=group_cpu_s, outlived=outlived)
    for record in read_records(records):
        _count(cases, record)
    _judge(cases, hung)
    return cases


def _judge(cases: Cases, hung: bool) -> None:
    """Find what pytest did not report itself, and name a test for it as far as one is known."""
    code = cases.exit_code
    never = cases.found - cases.begun
    early = "it took too long" if hung else f"the process ended before pytest did, with exit code {code}"
    early += f"; {counted(never, 'test')} never ran" if never > 0 else ""
    if cases.unfinished:
        cases.broken = early
    elif not cases.ended and (code in (0, SOME_FAILED) or hung):
        cases.broken = f"after it, {early}" if cases.last else early
    elif cases.ended and not cases.exited and code != 0:
        cases.broken = f"the process did not exit after its tests, and ended with exit code {code}"
    elif code not in (0, SOME_FAILED) and not (code == INTERRUPTED and cases.failed):
        cases.broken = f"pytest ended with exit code {code}"
    if cases.ended and cases.broken:
        cases.untold = {test: f"its thread {thread} did not end" for test, thread in cases.left.items()}
    if cases.broken and not cases.untold:
        cases.untold = {"pytest" if cases.ended else cases.last or "pytest": cases.broken}
    cases.failed.update(cases.untold)
    cases.passed -= set(cases.failed)


def counted(count: int, noun: str) -> str:
    """Return `1 test`, `2 tests`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _end_of(output: Path) -> str:
    with output.open("rb") as file:
        file.seek(max(output.stat().st_size - OUTPUT_BYTES_MAX, 0))
        return file.read().decode("utf-8", errors="replace")


def _wait(process: subprocess.Popen[bytes], records: Path, hang_s: float) -> tuple[int, bool]:
    """Return the exit code, and whether the process had to be ended."""
    hung, began_s = False, time.time()
    while True:
        try:
            return process.wait(min(_LOOK_S, hang_s)), hung
        except subprocess.TimeoutExpired:
            if _quiet_s(records, began_s) < hang_s:
                continue
        hung = True
        process.send_signal(signal.SIGABRT)  # pytest's faulthandler prints all stacks
        try:
            return process.wait(_DUMP_S), hung
        except subprocess.TimeoutExpired:
            process.kill()


def most_s() -> float:
    """Return how long a test may run."""
    return HANG_LONG_S if {"ZOE_TEST_LONG", "ZOE_PROPERTY_CHECKS"} & set(os.environ) else HANG_S


def _quiet_s(records: Path, began_s: float | None = None) -> float:
    """Return how long ago something was recorded; if nothing was, or somebody removed it, since the run began."""
    with contextlib.suppress(FileNotFoundError):
        return time.time() - records.stat().st_mtime
    return time.time() - began_s if began_s is not None else 0.0


def progress(records: Path) -> str:
    """Return how many tests of a run have ended, how many failed, and which takes long; "" if none has begun."""
    known = list(read_records(records))
    if not known:
        return ""
    total = next((record["count"] for record in known if record["kind"] == "collected"), "?")
    counts = f"{sum(record['kind'] == 'test' for record in known)}/{total}"
    failed = sum(record.get("outcome") == "failed" for record in known)
    counts += f", {failed} failed" if failed else ""
    slow = _quiet_s(records) > PROGRESS_S and known[-1]["kind"] in ("begin", "fixture")
    return f"{counts} ({running(records).rpartition('::')[2]} since {_quiet_s(records):.0f} s)" if slow else counts


def running(records: Path) -> str:
    """Return the test that began last, if it has no outcome yet."""
    name = ""
    for record in read_records(records):
        match record:
            case {"kind": "begin", "name": begun}:
                name = begun
            case {"kind": "outcome", "name": decided} if decided == name:
                name = ""
    return name


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a run, even if it still runs or has crashed."""
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            if line.endswith("}"):  # the last one may be incomplete
                yield json.loads(line)


def _count(cases: Cases, record: Record) -> None:
    match record:
        case {"kind": "begin", "name": name}:
            cases.unfinished = cases.last = name
            cases.begun += 1
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
        case {"kind": "left", "threads": threads}:
            cases.left.update(threads)
        case {"kind": "end", "own_cpu_s": own_s, "children_cpu_s": children_s}:
            cases.cpu_s += own_s + children_s
            cases.ended = len(cases.passed | cases.failed.keys()) + cases.skips.total() >= cases.found
        case {"kind": "exit", "own_cpu_s": own_s, "children_cpu_s": children_s}:
            cases.cpu_s += own_s + children_s
            cases.exited = True
