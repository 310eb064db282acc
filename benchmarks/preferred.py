"""Elastic applications with and without a preferred count, in the simulator: `python -m benchmarks.preferred [SEEDS]`.

The workload is the study's (`zoe_simulator/workload.py`): the same arrivals for each share, and the present default
policy. A share s means: the core and s of the elastic components are preferred. With a of n components an application
takes (n / a) ^ scaling times as long as with all.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from itertools import product
from statistics import fmean, median

import structlog

from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.elastic_run import ElasticRun
from zoe_simulator.workload import Arrival, arrivals, machines

APPLICATIONS = 300
LOADS = (0.7, 0.9)
SCALINGS = (1.0, 0.5)
SHARES = (0.1, 0.25, 0.5)


def main(seeds: int) -> None:
    """Print turnaround and bounded slowdown with each share, divided by those without."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    print("| load | scaling | preferred share | mean turnaround | mean bounded slowdown | longest turnaround |")
    print("|---|---|---|---|---|---|")
    for load, scaling in product(LOADS, SCALINGS):
        drawn = (arrivals(seed, APPLICATIONS, load) for seed in range(1, seeds + 1))
        workloads = [tuple(replace(arrival, scaling=scaling) for arrival in workload) for workload in drawn]
        without = [_measure(workload) for workload in workloads]
        for share in SHARES:
            pairs = zip((_measure(_with_preferred(workload, share)) for workload in workloads), without, strict=True)
            ratios = [[value / before for value, before in zip(*pair, strict=True)] for pair in pairs]
            cells = " | ".join(map(_range, zip(*ratios, strict=True)))
            print(f"| {load} | {scaling} | {share} | {cells} |", flush=True)


def _with_preferred(workload: tuple[Arrival, ...], share: float) -> tuple[Arrival, ...]:
    return tuple(
        replace(arrival, preferred=max(arrival.core, 1, round(arrival.core + share * (arrival.total - arrival.core))))
        for arrival in workload
    )


def _range(values: tuple[float, ...]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _measure(workload: tuple[Arrival, ...]) -> tuple[float, float, float]:
    """Return mean turnaround in seconds, mean bounded slowdown, and the longest turnaround in seconds."""
    finished = ElasticRun(workload, machines(), Policy()).run()
    turnarounds = [run.turnaround_s for run in finished]
    return fmean(turnarounds), fmean(run.bounded_slowdown for run in finished), max(turnarounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
