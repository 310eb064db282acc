"""Like 3Sigma: utility by the whole distribution of run times, without reservations.

Park, Tumanov, Jiang, Kozuch, Ganger, "3Sigma: distribution-based cluster scheduling for runtime uncertainty", EuroSys
2018. Kept: the expected utility of a begin is the chance, by the learned distribution, to end by the deadline, times
the value of the work (its core-seconds); a begin may be delayed, at the cost of the lower chance; work with a hopeless
deadline comes after the rest (over-estimates are not given up). Simplified: a greedy choice instead of a mixed-integer
program; run times are the learned quantiles, between which the chance is linear; running work is not stopped; services
beyond the essential ones are lent, which 3Sigma does not do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from lab.promises.applications import StudyApplication
from lab.promises.rivals.base import RivalApplication, RivalView, by_deadline, grow
from zoe_lib.run_times.spread import CHANCES

_HARDLY = 0.05
_SOONER = 0.5  # of the least run time, relative to the median: before that, nothing ends


class ThreeSigmaLike:
    """Stateless: the order is computed anew at each event."""

    def admits(self, one: RivalApplication, view: RivalView) -> bool:  # noqa: ARG002 - it refuses nothing
        """Return True: without a promise there is nothing to refuse."""
        return True

    def decide(self, view: RivalView) -> Mapping[int, int]:
        """Start the applications that lose most by waiting, with all free services; lend the rest."""
        wanted = {application.number: application.application.core for application in view.running}
        free = view.cores - sum(wanted.values())
        for application in sorted(view.waiting, key=lambda application: self._turn(application, view)):
            services = min(application.application.total, free)
            if services >= application.application.core:
                wanted[application.number] = services
                free -= services
        started = [application for application in (*view.running, *view.waiting) if application.number in wanted]
        grow(wanted, free, sorted(started, key=by_deadline))
        return wanted

    def next_s(self, now_s: float) -> float:  # noqa: ARG002 - it decides at events
        """Return infinity: it decides at events only."""
        return math.inf

    def _turn(self, one: RivalApplication, view: RivalView) -> tuple[int, float, float]:
        app = one.application
        if not app.has_deadline:
            return 1, app.submit_s, 0.0
        has_s = app.deadline_s - view.now_s
        now = chance_within(app, app.total, has_s, view)
        if now < _HARDLY:
            return 2, app.submit_s, 0.0
        later = chance_within(app, app.total, has_s - _step_s(view), view)
        worth = view.told(app, app.total, 0.5) * app.total
        return 0, -(now - later) * worth, app.deadline_s


def chance_within(one: StudyApplication, services: int, has_s: float, view: RivalView) -> float:
    """Return the chance of an end within so many seconds, linear between the learned quantiles."""
    median_s = view.told(one, services, 0.5)
    points: Sequence[tuple[float, float]] = [
        (_SOONER * median_s, 0.0),
        *((view.told(one, services, chance), chance) for chance in CHANCES),
    ]
    reached = 0.0
    for (low_s, low), (high_s, high) in pairwise(points):
        if has_s >= high_s:
            reached = high
        elif has_s > low_s:
            return low + (high - low) * (has_s - low_s) / (high_s - low_s)
    return reached


def _step_s(view: RivalView) -> float:
    """Return the delay of a begin: until half of the running work is expected to have ended."""
    left = sorted(
        max(
            application.work.start_s
            + view.told(application.application, max(application.work.running, 1), 0.5)
            - view.now_s,
            1.0,
        )
        for application in view.running
        if application.work is not None
    )
    return left[len(left) // 2] if left else 60.0
