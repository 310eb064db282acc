"""Run times that a replay learns from ended jobs of the log, instead of the users' requests.

A prediction is made at submission, from jobs that have ended by then; the run time of a job that has not ended is never
used.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from heapq import nsmallest
from statistics import fmean
from typing import Protocol

from zoe_simulator.jobs import Job

_NEIGHBOURS = 5
_AVERAGED = 2
# Ended runs per user that are considered: older ones say less, and a long log stays quick to replay.
_KEPT = 200
_USERS_MAX = 20_000


class Predictor(Protocol):
    """Predicts run times in seconds; None while it knows nothing about such a job."""

    def expected_run_s(self, job: Job) -> float | None:
        """Return the predicted run time of a job that is submitted now. Does not look at `job.run_s`."""

    def learn(self, job: Job) -> None:
        """Add a job that has just ended."""


class Mean2:
    """The mean of the last two ended runs of the same user, and of the same application if the log names it.

    Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user runtime estimates",
    IEEE TPDS 18(6), 2007. A single run predicts nothing, as published.
    """

    def __init__(self) -> None:
        self._ended: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def expected_run_s(self, job: Job) -> float | None:
        """Return the mean of two."""
        ended = self._ended.get((job.user, job.application), ())
        return fmean(ended) if len(ended) == _AVERAGED else None

    def learn(self, job: Job) -> None:
        """Add an ended run. Beyond 20,000 applications, the one whose last end is oldest is forgotten."""
        kind = job.user, job.application
        self._ended.setdefault(kind, deque(maxlen=_AVERAGED)).append(job.run_s)
        self._ended.move_to_end(kind)
        if len(self._ended) > _USERS_MAX:
            self._ended.popitem(last=False)


class Neighbours:
    """The mean of the user's five ended runs with the most similar numbers of processors and requested run times.

    The distance is the sum of both differences in doublings; of equally similar runs the last ones count.
    """

    def __init__(self) -> None:
        self._ended: OrderedDict[str, deque[tuple[float, float, float]]] = OrderedDict()

    def expected_run_s(self, job: Job) -> float | None:
        """Return the mean of five, or of as many as the user has."""
        ended = self._ended.get(job.user)
        if not ended:
            return None
        processors, request = _doublings(job)
        nearest = nsmallest(_NEIGHBOURS, reversed(ended), key=lambda r: abs(r[0] - processors) + abs(r[1] - request))
        return fmean(ran_s for _, _, ran_s in nearest)

    def learn(self, job: Job) -> None:
        """Add an ended run. Beyond 20,000 users, the user whose last end is oldest is forgotten."""
        ended = self._ended.setdefault(job.user, deque(maxlen=_KEPT))
        ended.append((*_doublings(job), job.run_s))
        self._ended.move_to_end(job.user)
        if len(self._ended) > _USERS_MAX:
            self._ended.popitem(last=False)


PREDICTORS: Mapping[str, Callable[[], Predictor]] = {"mean2": Mean2, "neighbours": Neighbours}


def _doublings(job: Job) -> tuple[float, float]:
    return math.log2(job.processors), math.log2(job.request_s)
