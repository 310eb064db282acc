"""One process of pytest, and its report on each test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.testing.costs import Record, read_records
from scripts.testing.cpu_groups import COUNTED, ENGINES_PARENT, CpuGroup
from scripts.testing.names import ROOT

SOME_FAILED = 1
"""The exit code of pytest for failed tests."""
NONE_LEFT = 5
"""That for no tests, as when all of a file are of the other tier."""
HANG = "ZOE_TEST_HANG_S"
"""How long nothing may be recorded. pytest-timeout ends a hanging test before, unless it hangs outside of Python."""
OUTPUT_BYTES_MAX = 4 << 20
_LOOK_S, _DUMP_S = 5.0, 30.0


@dataclass
class Cases:
    """One run's report on each test."""

    exit_code: int = 0
    output: str = ""
    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    """Test -> its output."""
    skips: dict[str, str] = field(default_factory=dict)
    """Test -> the reason."""
    files: set[str] = field(default_factory=set)
    """Files of which a test began."""
    broken: str = ""
    """Why the process did not come to its end, which is not the same as failed tests."""
    outlived: list[str] = field(default_factory=list)
    """Commands of programs that it left running."""
    cpu_s: float | None = None
    """Of all that it started; None where the machine has no control group for it."""


def pytest_run(arguments: Sequence[str], records: Path, root: Path = ROOT) -> Cases:
    """Run pytest; its output goes to a file beside the records, which are made anew."""
    records.unlink(missing_ok=True)
    listed = records.with_suffix(".arguments")
    listed.write_text("\n".join(arguments), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "scripts.testing.plugin", f"--records={records}"]
    command += ["-o", f"cache_dir={records.with_suffix('.cache')}", f"@{listed}"]
    output, began_s, group = records.with_suffix(".log"), time.monotonic(), CpuGroup.make(records.stem)
    env = {**os.environ, **(group.environment if group else {COUNTED: "", ENGINES_PARENT: ""})}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # without bytecode, 2.0 CPU s to begin instead of 0.5
    cases = Cases()
    try:
        with output.open("wb") as file:
            begun = group.command(command) if group else command
            process = subprocess.Popen(begun, cwd=root, env=env, stdout=file, stderr=subprocess.STDOUT)
            cases.exit_code, hung = _wait(process, records)
        cases.outlived = group.left() if group else []
        if group and cases.exit_code not in (0, SOME_FAILED, NONE_LEFT):
            group.end()  # a test that is interrupted kills its programs, and these leave theirs
    finally:
        cases.cpu_s = group.close() if group else None
    with records.open("a", encoding="utf-8") as file_of_records:
        run = {"kind": "run", "seconds": time.monotonic() - began_s, "cpu_s": cases.cpu_s}
        file_of_records.write(f"\n{json.dumps(run)}\n")  # the last line of a process that crashed may be incomplete
    cases.output = output.read_bytes()[-OUTPUT_BYTES_MAX:].decode("utf-8", errors="replace")
    _judge(cases, list(read_records(records)), hung, time.time())
    return cases


def _judge(cases: Cases, records: Sequence[Record], hung: bool, ended_s: float) -> None:
    """Take over what pytest recorded, and find what it could not record itself."""
    last, ended, left, at_s = "", False, dict[str, str](), ended_s
    for record in records:
        match record:
            case {"kind": "begin", "name": last}:
                cases.files.add(last.partition("::")[0])
            case {"kind": "outcome", "name": name, "outcome": "passed"}:
                cases.passed.add(name)
            case {"kind": "outcome", "name": name, "outcome": "skipped", "reason": reason}:
                cases.skips[name] = reason
            case {"kind": "outcome", "name": name, "output": output}:
                cases.failed[name] = f"{cases.failed.get(name, '')}{output}\n"
            case {"kind": "end", "threads": left, "at_s": at_s}:
                ended = True
    cases.passed -= cases.failed.keys()
    expected = (0, NONE_LEFT) if not cases.failed else (SOME_FAILED, 2)  # 2: files that could not be collected
    stuck = bool(left) and ended_s - at_s > 0.9 * float(os.environ.get("ZOE_TEST_EXIT_S", "120"))
    if hung or stuck or not ended or cases.exit_code not in expected:
        cases.broken = "it took too long" if hung else f"pytest ended with exit code {cases.exit_code}"
        cases.broken += " after its last test" if ended else f" before its last test, in or after {last or 'none'}"
        for test in left or ([last] if last and not ended else ["pytest"]):
            told = f"its thread {left[test]} did not end" if test in left else cases.broken
            cases.failed[test] = f"{cases.failed.get(test, '')}E  {told}\n"
            cases.passed.discard(test)


def _wait(process: subprocess.Popen[bytes], records: Path) -> tuple[int, bool]:
    """Return the exit code, and whether the process had to be ended: it then prints all stacks."""
    began_s, hang_s = time.time(), float(os.environ.get(HANG, "1260"))
    while True:
        try:
            return process.wait(min(_LOOK_S, hang_s)), False
        except subprocess.TimeoutExpired:
            if quiet_s(records, began_s) < hang_s:
                continue
        process.send_signal(signal.SIGABRT)  # pytest's faulthandler prints all stacks
        try:
            return process.wait(_DUMP_S), True
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait(), True


def quiet_s(records: Path, began_s: float) -> float:
    """Return how long ago something was recorded."""
    try:
        return time.time() - records.stat().st_mtime
    except FileNotFoundError:
        return time.time() - began_s


def progress(records: Path) -> str:
    """Return how many tests of a process have ended, how many failed, and which one takes long."""
    known = list(read_records(records))
    counts = Counter(record.get("outcome", record["kind"]) for record in known)
    total = next((record["count"] for record in known if record["kind"] == "collected"), "?")
    failed = f", {counts['failed']} failed" if counts["failed"] else ""
    begun = next((record["name"] for record in reversed(known) if record["kind"] == "begin"), "")
    waits = quiet_s(records, time.time())
    long = f" ({begun.rpartition('::')[2]} since {waits:.0f} s)" if begun and waits > 60 else ""
    return f"{counts['test']}/{total}{failed}{long}"
