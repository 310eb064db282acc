"""Measure the rows of docs/operate/performance-store.md, or those named: `make bench-storage ROWS="slo cost"`."""

from __future__ import annotations

import argparse
import signal
import sys
import time

from benchmarks.storage import connector, cost, pushdown, slo, stranger
from benchmarks.storage.table import load, tell
from benchmarks.support import machine

ROWS = {
    "slo": slo.measure,
    "cost": cost.measure,
    "pushdown": pushdown.measure,
    "connector": connector.measure,
    "stranger": stranger.measure,
}


def main() -> int:
    """Measure and print; return 1 if a goal was missed."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is undone then too
    print(machine(), flush=True)
    reached = True
    for name in options.rows or ROWS:
        before, began_s = load(), time.monotonic()
        lines = ROWS[name](options)
        print(f"\n{name}: {before} before, {load()} after, {time.monotonic() - began_s:.0f} s")
        tell(lines)
        reached = reached and all(line.reached for line in lines)
    return 0 if reached else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-storage", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], help="all when none is named")
    parser.add_argument("--windows", type=int, default=60, help="windows of one second of `slo`")
    parser.add_argument("--pairs", type=int, default=400, help="pairs of requests in each cell of `cost`")
    parser.add_argument("--runs", type=int, default=5, help="pairs of runs in each cell of `pushdown`")
    parser.add_argument("--megabytes", type=int, default=200, help="what `pushdown` reads")
    parser.add_argument("--more-megabytes", type=int, default=800, help="data of one cell that it also reads; 0: none")
    parser.add_argument("--object-workers", type=int, default=2, help="processes of each object server of `pushdown`")
    parser.add_argument("--caps", type=float, nargs="*", default=[0, 100, 20, 5], help="MB/s of `pushdown`; 0: none")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
