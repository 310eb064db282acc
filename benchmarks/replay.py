"""Jobs per second of `zoe-sim run --backfill easy` through the production loop, with the checks off and on.

In wall time and in CPU time: on an otherwise idle machine both are the same.

    python -m benchmarks.replay LOG [JOBS]

LOG defaults to the KTH log in the folder of `ZOE_TEST_DATA`. JOBS bounds how many of its jobs are run.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.support import machine, repeat, tell

RUNS = 5
KTH = "traces/KTH-SP2-1996-2.1.sc15filtered.swf.gz"
_RUN, _CHECK = ("zoe_simulator", "run"), ("lab", "check")


def main() -> None:
    log = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(os.environ["ZOE_TEST_DATA"]) / KTH
    bound = ["--jobs", sys.argv[2]] if len(sys.argv) > 2 else []
    print(machine())

    def measure() -> dict[str, float]:
        started_s = _run(log, "--jobs", "1")[1]
        figures = {}
        for name, program in (("checks off", _RUN), ("checks on", _CHECK)):
            told, cpu_s = _run(log, *bound, program=program)
            figures[f"jobs/s, {name}"] = told["jobs_per_s"]
            figures[f"jobs per second of CPU time, {name}"] = told["jobs"] / (cpu_s - started_s)
        return figures

    tell(f"{log.name} under EASY", repeat(measure, RUNS))


def _run(log: Path, *options: str, program: tuple[str, str] = _RUN) -> tuple[dict[str, Any], float]:
    """Return the output of the command (its rate excludes the reading of the log), and its CPU time in seconds."""
    command = [sys.executable, "-m", *program, str(log), "--backfill", "easy", "--json", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), cpu_s


if __name__ == "__main__":
    main()
