"""The data of a run's pictures, as plain numbers."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from zoe_simulator.jobs import Run

# A picture cannot show more points than this.
_POINTS_MAX = 1000
_DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Moment:
    """From this second on, how many jobs wait and how many processors are in use, exactly or on average."""

    at_s: float
    waiting: float
    processors: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A job in a Gantt chart: `lanes` neighbouring lanes from `first_lane` on; seconds of the trace."""

    job_id: int
    first_lane: int
    lanes: int
    start_s: float
    end_s: float


def cdf(values: Iterable[float]) -> list[tuple[float, float]]:
    """Return points (value, share of all that are at most that), evenly thinned; always including the last."""
    ordered = sorted(values)
    points = [(value, (rank + 1) / len(ordered)) for rank, value in enumerate(ordered)]
    return _thin_points(points)


def over_time(runs: Iterable[Run]) -> list[Moment]:
    """Return every change of queue and use, in order."""
    changes: list[tuple[float, int, float]] = []
    for run in runs:
        changes.append((run.job.submit_s, 1, 0.0))
        changes.append((run.start_s, -1, run.job.processors))
        changes.append((run.end_s, 0, -run.job.processors))
    changes.sort(key=lambda change: change[0])
    moments: list[Moment] = []
    waiting, used = 0, 0.0
    for at_s, jobs, processors in changes:
        waiting, used = waiting + jobs, used + processors
        if moments and moments[-1].at_s == at_s:
            moments.pop()
        moments.append(Moment(at_s, waiting, used))
    return moments


def thin_moments(moments: Sequence[Moment]) -> list[Moment]:
    """Return intervals of equal length, each with its means over time."""
    if len(moments) <= _POINTS_MAX:
        return list(moments)
    times = np.array([moment.at_s for moment in moments])
    edges = np.linspace(times[0], times[-1], _POINTS_MAX + 1)
    spans = np.diff(edges)
    columns = ([moment.waiting for moment in moments], [moment.processors for moment in moments])
    # The integral of a step function is piecewise linear, so its values at the edges are exact.
    integrals = (np.concatenate([[0.0], np.cumsum(np.array(column[:-1]) * np.diff(times))]) for column in columns)
    waiting, used = (np.diff(np.interp(edges, times, integral)) / spans for integral in integrals)
    return [Moment(*values) for values in zip(edges.tolist(), waiting.tolist(), used.tolist(), strict=False)]


def busiest_day(moments: Sequence[Moment]) -> tuple[float, float]:
    """Return the day around the longest queue, or all of a shorter run."""
    first_s, last_s = moments[0].at_s, moments[-1].at_s
    peak_s = max(moments, key=lambda moment: moment.waiting).at_s
    from_s = min(max(peak_s - _DAY_S / 2, first_s), max(last_s - _DAY_S, first_s))
    return from_s, min(from_s + _DAY_S, last_s)


def gantt(runs: Iterable[Run], from_s: float, until_s: float) -> list[Bar]:
    """Return the bars of all jobs in a window, each on the lowest free lanes; one lane is one processor.

    If a job's number of processors is not whole, each job has one lane. Lanes of a job that are not neighbours become
    several bars.
    """
    listed = sorted((r for r in runs if r.end_s > r.start_s), key=lambda run: run.start_s)
    whole = all(float(run.job.processors).is_integer() for run in listed)
    free: list[int] = []
    lanes = 0
    running: list[tuple[float, int, list[int]]] = []
    bars: list[Bar] = []
    for number, run in enumerate(listed):
        while running and running[0][0] <= run.start_s:
            for lane in heapq.heappop(running)[2]:
                heapq.heappush(free, lane)
        processors = max(int(run.job.processors), 1) if whole else 1
        for _ in range(processors - len(free)):
            heapq.heappush(free, lanes)
            lanes += 1
        taken = [heapq.heappop(free) for _ in range(processors)]
        heapq.heappush(running, (run.end_s, number, taken))
        if run.start_s < until_s and run.end_s > from_s:
            bars += [Bar(run.job.id, first, count, run.start_s, run.end_s) for first, count in _neighbours(taken)]
    return bars


def _neighbours(lanes: Sequence[int]) -> list[tuple[int, int]]:
    """Return ascending lanes as (first, number)."""
    groups: list[tuple[int, int]] = []
    for lane in lanes:
        if groups and sum(groups[-1]) == lane:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((lane, 1))
    return groups


def _thin_points(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    step = max(len(points) // _POINTS_MAX, 1)
    kept = points[::step]
    return kept if not points or kept[-1] == points[-1] else [*kept, points[-1]]
