"""One cell of the study: its workload, its run, and what it came to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from zoe_master.simulator.elastic_run import ElasticRun, Finished
from zoe_master.simulator.study.cells import Cell
from zoe_master.simulator.workload import MACHINE, MACHINES_PER_FACTOR, Arrival, arrivals, machines, rigid, with_errors

# Work that arrives, over the cores of the cluster: nearly all of them, so that policies matter.
LOAD = 0.9
MEASURES = (
    "mean_turnaround_s",
    "p95_turnaround_s",
    "mean_bounded_slowdown",
    "max_bounded_slowdown",
    "mean_wait_s",
    "allocation",
    "preempted",
)


def run_cell(cell: Cell, applications: int) -> dict[str, Any]:
    """What one run came to; the same for the same arguments but for `cpu_s`, the CPU seconds it took."""
    workload = workload_of(cell, applications)
    run = ElasticRun(workload, machines(), cell.policy)
    began_s = time.process_time()
    finished = run.run()
    cpu_s = time.process_time() - began_s
    cores = MACHINE.cores_milli / 1000 * MACHINES_PER_FACTOR
    return {
        "applications": applications,
        **summary(finished),
        "allocation": run.core_seconds / (workload[-1].submit_s * cores),
        "preempted": run.preempted,
        "cpu_s": cpu_s,
    }


def workload_of(cell: Cell, applications: int) -> tuple[Arrival, ...]:
    """The applications of a cell: the same for all cells of a seed but for family and errors."""
    workload = with_errors(arrivals(cell.seed, applications, LOAD), cell.seed, cell.sigma)
    return rigid(workload) if cell.family == "rigid" else workload


def summary(finished: Sequence[Finished]) -> dict[str, float]:
    """Turnaround and waiting in seconds, and slowdown bounded at ten seconds."""
    turnarounds = sorted(one.turnaround_s for one in finished)
    slowdowns = [one.bounded_slowdown for one in finished]
    return {
        "mean_turnaround_s": fmean(turnarounds),
        "p95_turnaround_s": turnarounds[min(int(0.95 * len(turnarounds)), len(turnarounds) - 1)],
        "mean_bounded_slowdown": fmean(slowdowns),
        "max_bounded_slowdown": max(slowdowns),
        "mean_wait_s": fmean(one.start_s - one.arrival.submit_s for one in finished),
    }
