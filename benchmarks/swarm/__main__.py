"""Run every row of the comparison, or the named ones: `make bench-swarm`, `make bench-swarm ROWS="start verdict"`."""

from __future__ import annotations

import argparse
import signal
import sys
import time

from benchmarks.support import machine
from benchmarks.swarm import batch, spark, starting, verdict
from benchmarks.swarm.stand import Stand, stand
from benchmarks.swarm.table import HEAD, Figure, load, tell

ROWS = {
    "start": starting.measure,
    "cancel": starting.measure_cancel,
    "verdict": verdict.measure,
    "batch": batch.measure,
    "spark": spark.measure,
}
RUNS = 5


def main() -> int:
    """Measure and print; return 1 if a goal was missed."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is undone then too
    print(machine(), flush=True)
    figures: list[Figure] = []
    with stand() as its:
        for name in options.rows or ROWS:
            figures += _row(its, name, options.runs)
    return 0 if all(figure.is_reached for figure in figures) else 1


def _row(its: Stand, name: str, runs: int) -> list[Figure]:
    before, began_s = load(), time.monotonic()
    found = ROWS[name](its, runs)
    print(f"\n{name}: {runs} runs in turn, {before} before, {load()} after, {time.monotonic() - began_s:.0f} s\n{HEAD}")
    tell(found)
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-swarm", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], help="all when none is named")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each side")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
