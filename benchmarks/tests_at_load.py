"""Tier 1 of the tests, and its capabilities alone, again and again beside other work: does a busy machine refuse it?

`python -m benchmarks.tests_at_load FILE [--load 8] [--whole 5] [--capabilities 20]`. FILE gets one JSON line for each
run; a second call goes on where the first one ended. The load is processes that spin, at ordinary priority.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.support import machine

_SPIN = "while True: pass"


def main() -> int:
    """Make the runs that FILE lacks, and print a table; return 1 if a run failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--load", type=int, default=8)
    parser.add_argument("--whole", type=int, default=5, help="runs of tier 1 (5)")
    parser.add_argument("--capabilities", type=int, default=20, help="runs of the capabilities alone (20)")
    asked = parser.parse_args()
    wanted = {"tier 1": (asked.whole, ["--tier", "1"]), "capabilities": (asked.capabilities, ["--capabilities"])}
    for kind, (count, arguments) in wanted.items():
        for number in range(len(_runs(asked.file, kind)), count):
            with _load(asked.load):
                began_s = time.monotonic()
                output = asked.file.with_name(f"{asked.file.stem}-{kind.replace(' ', '-')}-{number}.log")
                with output.open("w") as log:
                    command = [sys.executable, "-m", "scripts.testing.run", *arguments]
                    code = subprocess.run(command, check=False, stdout=log, stderr=subprocess.STDOUT).returncode
            failed = [line for line in output.read_text("utf-8").splitlines() if line.startswith("FAILED: ")]
            seconds = round(time.monotonic() - began_s)
            run = {"kind": kind, "load": asked.load, "seconds": seconds, "exit_code": code, "failed": failed}
            with asked.file.open("a") as file:
                file.write(json.dumps(run) + "\n")
            print(f"{kind} {number + 1} of {count}: {seconds} s, exit code {code}", *failed, sep="\n  ", flush=True)
    runs = [run for kind in wanted for run in _runs(asked.file, kind)]
    print(f"\nBeside {asked.load} spinning processes, {machine()}:\n")
    print("| runs | number | passed | seconds |\n|---|---|---|---|")
    for kind in wanted:
        own = _runs(asked.file, kind)
        passed, took_s = sum(not run["exit_code"] for run in own), [run["seconds"] for run in own]
        print(f"| {kind} | {len(own)} | {passed} | {min(took_s, default=0)} to {max(took_s, default=0)} |")
    return int(any(run["exit_code"] for run in runs))


def _runs(file: Path, kind: str) -> list[dict[str, Any]]:
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [run for run in map(json.loads, lines) if run["kind"] == kind]


@contextlib.contextmanager
def _load(count: int) -> Iterator[None]:
    spinning = [subprocess.Popen([sys.executable, "-I", "-c", _SPIN], env=dict(os.environ)) for _ in range(count)]
    try:
        yield
    finally:
        for one in spinning:
            one.kill()
            one.wait()


if __name__ == "__main__":
    sys.exit(main())
