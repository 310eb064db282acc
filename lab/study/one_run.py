"""One cell of the study: its workload, its run, and its figures."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from lab.study.cells import LOAD, OVERLOAD, Cell
from lab.study.places_cells import FACTOR, PlacesCell, places_figures, run_of
from lab.study.sharing_cells import SharingCell, sharing_figures, with_sharing
from zoe_lib.domain.cluster.cluster import STORAGE_PATH_LABEL, Node
from zoe_lib.domain.values.storage import Guarantee
from zoe_simulator.elastic_run import ElasticRun, FinishedApplication
from zoe_simulator.stores.shared_store import StoreSize
from zoe_simulator.stores.store_use import StoreUse
from zoe_simulator.workload import (
    MACHINE,
    MACHINES_PER_FACTOR,
    Arrival,
    arrivals,
    machines,
    rigid,
    with_errors,
    with_reading,
)

MEASURES = (
    "mean_turnaround_s",
    "p95_turnaround_s",
    "mean_bounded_slowdown",
    "max_bounded_slowdown",
    "mean_wait_s",
    "allocation",
    "preempted",
)
# The first only if something is read from a store, the second only if tenants share.
WISHES = ("wishing_bounded_slowdown", "wish_granted")
SHARED = ("interactive_wait_s", "others_bounded_slowdown")
PLACES = ("network_share",)
# The readers of a full cluster could use about a third more than the store can move.
_STORE = StoreSize(store=250_000_000, path=80_000_000, floor=100_000)
_USES: Mapping[str, StoreUse | None] = {
    "none": None,
    "oblivious": StoreUse(_STORE),
    "headroom": StoreUse(_STORE, described=True),
    "pushdown": StoreUse(_STORE, described=True, pushdown=True),
    "preferred": StoreUse(_STORE, described=True, guarantee=Guarantee.PREFERRED),
    "required": StoreUse(_STORE, described=True, guarantee=Guarantee.REQUIRED),
    "all": StoreUse(_STORE, described=True, pushdown=True, guarantee=Guarantee.PREFERRED),
}


def run_cell(cell: Cell, applications: int) -> dict[str, Any]:
    """Return the figures of one run; equal for equal arguments except `cpu_s`, the CPU seconds it took."""
    placed = isinstance(cell, PlacesCell)
    use = None if placed else _USES[cell.storage]
    run = run_of(cell, applications) if isinstance(cell, PlacesCell) else _run_of(cell, applications, use)
    began_s = time.process_time()
    finished = run.run()
    cpu_s = time.process_time() - began_s
    cores = MACHINE.cores_milli / 1000 * MACHINES_PER_FACTOR * (FACTOR if placed else 1)
    arriving_s = max(application.arrival.submit_s for application in finished)
    return {
        "applications": applications,
        **summary(finished),
        "allocation": run.core_seconds / (arriving_s * cores),
        "preempted": run.preempted,
        **(places_figures(run) if placed else {}),
        **(_wish_figures(run) if use is not None else {}),
        **(sharing_figures(finished) if isinstance(cell, SharingCell) else {}),
        "cpu_s": cpu_s,
    }


def _run_of(cell: Cell, applications: int, use: StoreUse | None) -> ElasticRun:
    nodes = machines() if use is None else with_paths(machines(), use.size.path)
    return ElasticRun(workload_of(cell, applications), nodes, cell.policy, use)


def workload_of(cell: Cell, applications: int) -> tuple[Arrival, ...]:
    """Return the applications of a cell: the same for all cells of a seed except for family and errors."""
    sharing = isinstance(cell, SharingCell)
    load = OVERLOAD if sharing or cell.part == "overload" else LOAD
    workload = with_errors(arrivals(cell.seed, applications, load), cell.seed, cell.sigma)
    if sharing:
        workload = with_sharing(workload, cell.seed)
    if cell.storage != "none":
        workload = with_reading(workload, cell.seed)
    return rigid(workload) if cell.family == "rigid" else workload


def with_paths(nodes: Sequence[Node], rate: int) -> list[Node]:
    """Return the nodes with the capacity of their paths to the store."""
    return [replace(node, labels={**node.labels, STORAGE_PATH_LABEL: str(rate)}) for node in nodes]


def _wish_figures(run: ElasticRun) -> dict[str, float]:
    """Return the figures of applications that prefer bandwidth."""
    reading = ((finished, finished.arrival.reading) for finished in run.finished)
    slowdowns = [
        finished.bounded_slowdown for finished, reads in reading if reads is not None and reads.promised is not None
    ]
    return {
        "wishing_bounded_slowdown": fmean(slowdowns) if slowdowns else 1.0,
        "wish_granted": run.granted_s / run.wished_s if run.wished_s else 1.0,
    }


def summary(finished: Sequence[FinishedApplication]) -> dict[str, float]:
    """Return turnaround and wait in seconds, and slowdown bounded at ten seconds."""
    turnarounds = sorted(application.turnaround_s for application in finished)
    slowdowns = [application.bounded_slowdown for application in finished]
    return {
        "mean_turnaround_s": fmean(turnarounds),
        "p95_turnaround_s": turnarounds[min(int(0.95 * len(turnarounds)), len(turnarounds) - 1)],
        "mean_bounded_slowdown": fmean(slowdowns),
        "max_bounded_slowdown": max(slowdowns),
        "mean_wait_s": fmean(application.wait_s for application in finished),
    }
