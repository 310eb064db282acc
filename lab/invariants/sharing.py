"""Processor sharing by hand: the remaining time of every job, advanced from each arrival or end to the next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_master.scheduler.ordering.virtual_time import ExecutionArrival

_NOTHING_S = 1e-9


def virtual_ends(
    arrivals: Iterable[ExecutionArrival], cores_milli: int, now_s: float
) -> Mapping[ExecutionId, tuple[float, float]]:
    """Return the virtual seconds left of every job, and when the jobs with none left ended (0 for the others).

    Nothing is kept between calls, nor summed up over time: n arrivals take 2n steps, each over all present jobs.
    """
    coming = sorted(arrivals, key=lambda arrival: (arrival.at_s, arrival.execution_id))
    weight = np.array([arrival.cores_milli for arrival in coming], dtype=np.int64)
    left_s = np.array([arrival.run_s for arrival in coming], dtype=np.float64)
    ended_s = np.zeros(len(coming))
    there, come, at_s = np.empty(0, dtype=np.intp), 0, -math.inf
    while True:
        total_weight = int(weight[there].sum())
        pace = min(1.0, cores_milli / total_weight) if total_weight and cores_milli > 0 else 1.0
        until_s = min(coming[come].at_s, now_s) if come < len(coming) else now_s
        shortest_s = float(left_s[there].min(initial=math.inf))
        ends_s = at_s + shortest_s / pace if len(there) else math.inf
        passed_s = shortest_s if ends_s <= until_s else (until_s - at_s) * pace if len(there) else 0.0
        at_s = min(ends_s, until_s)
        left_s[there] -= passed_s
        over = left_s[there] <= _NOTHING_S
        left_s[there[over]], ended_s[there[over]] = 0.0, at_s
        there = there[~over]
        if ends_s <= until_s:
            continue
        if come == len(coming):
            ids = (arrival.execution_id for arrival in coming)
            return dict(zip(ids, zip(left_s.tolist(), ended_s.tolist(), strict=True), strict=True))
        there = np.append(there, come)
        come += 1
