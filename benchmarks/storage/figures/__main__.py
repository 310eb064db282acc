"""Figures of the founding document on filters, caches and monitoring, measured here: `make bench-store FIG=11`.

    python -m benchmarks.storage.figures 11 18 [--rounds 300]

Prints the published result, the differences, and a table; writes the points as CSV and their plot as SVG below
docs/study/store-figures. Latencies are of a client on loopback; ratios are medians over interleaved pairs with their 95
% interval by order statistics.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.storage.figures import caching, documents, monitoring, overheads, policies, replicating, shares
from benchmarks.storage.figures.figure import FOLDER, Measurements, write
from benchmarks.storage.table import load, tell
from benchmarks.support import machine


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure: its measurement, the published result, and the differences here."""

    measure: Callable[[argparse.Namespace], Measurements]
    printed: str
    differs: str


EXPERIMENTS = {
    10: Experiment(policies.measure, policies.PRINTED, policies.DIFFERS),
    11: Experiment(caching.oscillating, caching.PRINTED_11, caching.DIFFERS_11),
    12: Experiment(documents.measure, documents.PRINTED, documents.DIFFERS),
    13: Experiment(caching.web, caching.PRINTED_13, caching.DIFFERS_13),
    14: Experiment(shares.measure_figure_14, shares.PRINTED_14, shares.DIFFERS_14),
    15: Experiment(shares.at_places, shares.PRINTED_15, shares.DIFFERS_15),
    16: Experiment(shares.two_proxies, shares.PRINTED_16, shares.DIFFERS_16),
    17: Experiment(replicating.measure, replicating.PRINTED, replicating.DIFFERS),
    18: Experiment(overheads.chain, overheads.PRINTED_18, overheads.DIFFERS_18),
    19: Experiment(overheads.modules, overheads.PRINTED_19, overheads.DIFFERS_19),
    20: Experiment(monitoring.measure, monitoring.PRINTED, monitoring.DIFFERS),
}


def main() -> int:
    """Measure and print; return 1 if a goal was missed."""
    parser = argparse.ArgumentParser(
        prog="figures", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figures", nargs="*", type=int, choices=[[], *EXPERIMENTS], help="all when none is named")
    parser.add_argument("--rounds", type=int, default=300, help="pairs of requests of each cell [300]")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is undone then too
    print(machine(), flush=True)
    reached = True
    for number in options.figures or EXPERIMENTS:
        one, before, began_s = EXPERIMENTS[number], load(), time.monotonic()
        found = one.measure(options)
        print(f"\nFigure {number}. There: {' '.join(one.printed.split())}\nHere: {' '.join(one.differs.split())}")
        print(f"({before} before, {load()} after, {time.monotonic() - began_s:.0f} s, {options.rounds} rounds)")
        tell(found.lines)
        write(number, found)
        print(f"  {FOLDER / f'figure-{number}.svg'}")
        reached = reached and all(line.reached for line in found.lines)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
