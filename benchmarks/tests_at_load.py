"""Run tier 1 of the tests, and its capabilities alone, repeatedly under load, to see whether a busy machine fails them.

`python -m benchmarks.tests_at_load FILE [--load 8] [--whole 5] [--capabilities 20]`. FILE gets one JSON line for each
run, with the median of the machine's load; a second call continues the first one. Processes that spin at the priority
of the tests add what the tests and other work of the machine lack for that load.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.support import machine

_SPIN = "while True: pass"
_SAMPLE_S = 2.0
_SAMPLES = 5  # of the number of runnable processes, before that of spinning ones is changed


def main() -> int:
    """Make the runs that FILE lacks, and print a table; return 1 if a run failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--load", type=int, default=8, help="runnable processes in the mean (8)")
    parser.add_argument("--whole", type=int, default=5, help="runs of tier 1 (5)")
    parser.add_argument("--capabilities", type=int, default=20, help="runs of the capabilities alone (20)")
    asked = parser.parse_args()
    wanted = {"tier 1": (asked.whole, ["--tier", "1"]), "capabilities": (asked.capabilities, ["--capabilities"])}
    for kind, (count, arguments) in wanted.items():
        for number in range(len(_runs(asked.file, kind)), count):
            with _load_of(asked.load) as loads:
                began_s = time.monotonic()
                output = asked.file.with_name(f"{asked.file.stem}-{kind.replace(' ', '-')}-{number}.log")
                with output.open("w") as log:
                    command = [sys.executable, "-m", "scripts.testing.run", *arguments]
                    code = subprocess.run(command, check=False, stdout=log, stderr=subprocess.STDOUT).returncode
            failed = [line for line in output.read_text("utf-8").splitlines() if line.startswith("FAILED: ")]
            seconds = round(time.monotonic() - began_s)
            load = round(statistics.median(loads), 1)
            run = {"kind": kind, "load": load, "seconds": seconds, "exit_code": code, "failed": failed}
            with asked.file.open("a") as file:
                file.write(json.dumps(run) + "\n")
            took = f"{seconds} s, load {load}, exit code {code}"
            print(f"{kind} {number + 1} of {count}: {took}", *failed, sep="\n  ", flush=True)
    runs = [run for kind in wanted for run in _runs(asked.file, kind)]
    print(f"\n{machine()}:\n")
    print("| runs | number | passed | seconds | load |\n|---|---|---|---|---|")
    for kind in wanted:
        own = _runs(asked.file, kind)
        passed = sum(not run["exit_code"] for run in own)
        print(f"| {kind} | {len(own)} | {passed} | {_range(own, 'seconds')} | {_range(own, 'load')} |")
    return int(any(run["exit_code"] for run in runs))


def _runs(file: Path, kind: str) -> list[dict[str, Any]]:
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [run for run in map(json.loads, lines) if run["kind"] == kind]


def _range(runs: list[dict[str, Any]], column: str) -> str:
    values = [run[column] for run in runs]
    return f"{min(values, default=0)} to {max(values, default=0)}"


@contextlib.contextmanager
def _load_of(wanted: int) -> Iterator[list[float]]:
    """Keep about `wanted` processes runnable; yield a list to which the load average of a minute is added regularly."""
    loads, over = [os.getloadavg()[0]], threading.Event()
    spinning: list[subprocess.Popen[bytes]] = []

    def adjust() -> None:
        runnable: list[int] = []
        while not over.wait(_SAMPLE_S):
            loads.append(os.getloadavg()[0])
            runnable.append(_runnable())
            if len(runnable) == _SAMPLES:
                missing = wanted - round(statistics.mean(runnable))
                spinning.extend(_spinner() for _ in range(missing))
                for _ in range(min(-missing, len(spinning))):
                    _end(spinning.pop())
                runnable.clear()

    adjuster = threading.Thread(target=adjust)
    adjuster.start()
    try:
        yield loads
    finally:
        over.set()
        adjuster.join()
        for popen in spinning:
            _end(popen)


def _runnable() -> int:
    """Return the number of runnable threads of the machine, without the one that asks."""
    return int(Path("/proc/loadavg").read_text("ascii").split()[3].partition("/")[0]) - 1


def _spinner() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-c", _SPIN])


def _end(popen: subprocess.Popen[bytes]) -> None:
    popen.kill()
    popen.wait()


if __name__ == "__main__":
    sys.exit(main())
