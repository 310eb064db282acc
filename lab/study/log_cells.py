"""Cells of the study on published logs: every cell is one window of one log under one policy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from lab.study.cell import StudyCell
from lab.study.log_workloads import AS_LOGGED, LOGS, POPULATIONS, WINDOWS, log_workload, trace_of
from lab.study.one_run import summary
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.elastic_run import ElasticRun

LOG_PART = "logs"
# Order and backfill; all others are compared with the first.
POLICIES = (
    ("fifo", "easy"),
    ("size", "none"),
    ("size", "easy"),
    ("size", "easy-sjbf"),
    ("sjf", "easy-sjbf"),
    ("wfp3", "easy-sjbf"),
    ("unicef", "easy-sjbf"),
    ("f1", "easy-sjbf"),
    ("f2", "easy-sjbf"),
    ("f3", "easy-sjbf"),
    ("f4", "easy-sjbf"),
)
# Population and load.
CONDITIONS = tuple(product(POPULATIONS, (AS_LOGGED, 0.9, 1.1)))
# The first jobs of a window meet an empty machine, and do not count.
WARM_UP = 0.2
# A preempted elastic worker loses this share of its work.
LOSS = 0.5


@dataclass(frozen=True, slots=True, order=True)
class LogCell(StudyCell):
    """One run. `load` is work that arrives over the cores; 0: as logged. `window` stands for a seed."""

    log: str
    population: str
    load: float
    order: str
    backfill: str
    window: int

    @property
    def policy(self) -> Policy:
        """Return the policy of the run, with the scheduler's defaults for the constant parameters."""
        return Policy(order=self.order, backfill=self.backfill)


def log_cells() -> Iterator[LogCell]:
    """Yield all cells of the part, window by window, so that the completed ones are always paired."""
    for window in range(WINDOWS):
        for log in LOGS:
            for population, load in CONDITIONS:
                for order, backfill in POLICIES:
                    yield LogCell(LOG_PART, log, population, load, order, backfill, window)


def run_log_cell(cell: LogCell, jobs: int, folder: Path) -> dict[str, Any]:
    """Return the figures of one run; equal for equal arguments except `cpu_s`, the CPU seconds it took."""
    trace = trace_of(folder, cell.log)
    workload = log_workload(trace, cell.window, jobs, cell.load, cell.population)
    began_s = time.process_time()
    run = ElasticRun(workload, trace.nodes, cell.policy, loss=LOSS)
    counted = [finished for finished in run.run() if finished.arrival.number >= WARM_UP * jobs]
    cpu_s = time.process_time() - began_s
    return {
        "applications": jobs,
        **summary(counted),
        "preempted": run.preempted,
        "lost_share": run.lost_s / max(sum(arrival.total * arrival.run_s for arrival in workload), 1.0),
        "cpu_s": cpu_s,
    }
