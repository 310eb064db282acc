"""One process of pytest, and its report on each test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.testing.costs import Record, read_records
from scripts.testing.cpu_groups import CpuGroup
from scripts.testing.parts import ROOT

SOME_FAILED, NOT_COLLECTED, NONE_LEFT = 1, 2, 5
"""Exit codes of pytest: failed tests, files with errors, and no tests, as when all are of the other tier."""
HANG = "ZOE_TEST_HANG_S"
"""Longest duration of a test. pytest-timeout ends a hanging test before, unless it hangs outside of Python."""
OUTPUT_BYTES_MAX = 4 << 20


@dataclass
class Result:
    """The report of one part, or of lint."""

    name: str
    seconds: float = 0.0
    cpu_s: float | None = None
    """Of all its processes; None if the machine has no control group for it."""
    exit_code: int = 0
    output: str = ""
    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    """Test -> its output."""
    skips: dict[str, str] = field(default_factory=dict)
    """Test -> the reason."""
    broken: str = ""
    """Why the process did not reach its end, which differs from failed tests."""
    outlived: list[str] = field(default_factory=list)
    """Commands of programs that it left running."""


def pytest_run(name: str, arguments: Sequence[str], folder: Path) -> Result:
    """Run pytest for a part; its output and its records go to files of the folder."""
    records, log, listed = (folder / f"{name}.{kind}" for kind in ("jsonl", "log", "arguments"))
    records.unlink(missing_ok=True)
    listed.write_text("\n".join(arguments), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "scripts.testing.plugin", f"--records={records}"]
    command += ["-o", f"faulthandler_timeout={os.environ.get(HANG, '1260')}", "-o", "faulthandler_exit_on_timeout=true"]
    command += ["-o", f"cache_dir={folder / name}.cache", f"@{listed}"]
    result, began_s, group = Result(name), time.monotonic(), CpuGroup.make()
    env = {**os.environ, **group.environment}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # without bytecode, a start takes 2.0 CPU s instead of 0.5
    try:
        with log.open("wb") as output:
            begun = group.command(command)
            done = subprocess.run(begun, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT, check=False)
            result.exit_code = done.returncode
    finally:
        result.outlived, result.cpu_s = group.end()
    with records.open("a", encoding="utf-8") as file:
        file.write(f"\n{json.dumps({'whole_s': result.cpu_s})}\n")  # a crashed process may leave half a line
    result.output = log.read_bytes()[-OUTPUT_BYTES_MAX:].decode("utf-8", errors="replace")
    result.seconds = time.monotonic() - began_s
    _judge(result, read_records(records))
    return result


def _judge(result: Result, records: Iterable[Record]) -> None:
    """Copy the records of pytest, and add the results that it could not record."""
    begun, ended = "", False
    left: list[str] | None = None
    for record in records:
        match record:
            case {"begin": begun}:
                pass
            case {"left": left}:
                pass
            case {"end": ended}:
                pass
            case {"test": test, "outcome": "passed"}:
                result.passed.add(test)
            case {"test": test, "outcome": "skipped", "text": reason}:
                result.skips[test] = reason
            case {"test": test, "text": output}:
                result.failed[test] = output
    expected = (SOME_FAILED, NOT_COLLECTED) if result.failed else (0, NONE_LEFT)
    if ended and result.exit_code in expected:
        return
    result.broken = f"pytest ended with exit code {result.exit_code}"
    if left is None:
        result.broken += f" before its last test, in or after {begun or 'none'}"
    elif not ended:
        result.broken += f" after its last test: threads did not end ({', '.join(left)})"
    test = begun if left is None and begun else "pytest"
    result.failed[test] = f"{result.failed.get(test, '')}E  {result.broken}\n"
    result.passed.discard(test)
