"""Like ElasticFlow: admission by minimum satisfactory shares.

Gu, Zhao, Zhong, Xiong, Chen, Cheng, Zhao, Chen, Jin, Liu, "ElasticFlow: an elastic serverless training platform for
distributed deep learning", ASPLOS 2023. Kept: the minimum satisfactory share of each application by progressive filling
over time slots in the order of deadlines, refusal of applications that would break an admitted one, and the rest by
marginal returns. Simplified: slots end at the deadlines; scaling curves are the learned run times at the chance given,
and progress is known; started applications keep their essential services, since only training jobs can pause; work
without a deadline gets the rest in the order of submissions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lab.promises.rivals.base import RivalApplication, RivalView, by_deadline


class ElasticFlowLike:
    """Stateless: shares are computed anew at each event."""

    def __init__(self, chance: float = 0.5) -> None:
        self._chance = chance

    def admits(self, one: RivalApplication, view: RivalView) -> bool:
        """Return whether it and all admitted ones that were feasible before have their shares with it."""
        before = self._shares(_asking(view), view)
        after = self._shares([*_asking(view), one], view)
        return after[one.number] is not None and all(
            after[number] is not None for number, share in before.items() if share is not None
        )

    def decide(self, view: RivalView) -> Mapping[int, int]:
        """Give each its share of the first slot, start others on the rest, and then give services one by one."""
        shares = self._shares(_asking(view), view)
        wanted = {application.number: application.application.core for application in view.running}
        free = view.cores - sum(wanted.values())
        for application in sorted(_asking(view), key=by_deadline):
            share = shares[application.number]
            share = application.application.total if share is None else share
            more = min(share - wanted.get(application.number, 0), free)
            if more > 0 and wanted.get(application.number, 0) + more >= application.application.core:
                wanted[application.number] = wanted.get(application.number, 0) + more
                free -= more
        for execution in view.waiting:
            if execution.number not in wanted and execution.application.core <= free:
                wanted[execution.number] = execution.application.core
                free -= execution.application.core
        self._give(
            wanted,
            free,
            [application for application in (*view.running, *view.waiting) if application.number in wanted],
            view,
        )
        return wanted

    def next_s(self, now_s: float) -> float:  # noqa: ARG002 - it decides at events
        """Return infinity: it decides at events only."""
        return math.inf

    def _give(self, wanted: dict[int, int], free: int, started: Sequence[RivalApplication], view: RivalView) -> None:
        """Give each further service to the application that it shortens most, as a share of its run time."""
        for _ in range(free):
            best, most = None, 0.0
            for application in started:
                has = wanted[application.number]
                if has < application.application.total:
                    now_s, then_s = (view.told(application.application, n, self._chance) for n in (has, has + 1))
                    saved = 1.0 - then_s / now_s
                    if best is None or saved > most:
                        best, most = application, saved
            if best is None:
                return
            wanted[best.number] += 1

    def _shares(self, asking: Sequence[RivalApplication], view: RivalView) -> dict[int, int | None]:
        """Return the services of each in the first slot; None for one whose deadline cannot be met."""
        ends = sorted(
            {
                application.application.deadline_s
                for application in asking
                if application.application.deadline_s > view.now_s
            }
        )
        slots = list(zip([view.now_s, *ends], ends, strict=False))
        free = [view.cores - self._best_effort_cores(begins_s, view) for begins_s, _ in slots]
        found: dict[int, int | None] = {}
        for application in sorted(asking, key=by_deadline):
            usable = [i for i, (_, ends_s) in enumerate(slots) if ends_s <= application.application.deadline_s]
            level = self._level(application, [(slots[i][1] - slots[i][0], free[i]) for i in usable], view)
            if level is None:
                found[application.number] = None
                continue
            left = application.remaining_share
            found[application.number] = 0
            for i in usable:
                services = _at_level(application, level, free[i])
                if left <= 1e-9 or not services:
                    continue
                found[application.number] = services if i == 0 else found[application.number]
                free[i] -= services
                left -= (slots[i][1] - slots[i][0]) / view.told(application.application, services, self._chance)
        return found

    def _level(self, one: RivalApplication, slots: Sequence[tuple[float, int]], view: RivalView) -> int | None:
        """Return the least number of services for an end in these slots, given by length and free cores."""
        for level in range(one.application.core, one.application.total + 1):
            done = 0.0
            for seconds, free in slots:
                services = _at_level(one, level, free)
                done += seconds / view.told(one.application, services, self._chance) if services else 0.0
            if done >= one.remaining_share - 1e-9:
                return level
        return None

    def _best_effort_cores(self, at_s: float, view: RivalView) -> int:
        """Return the cores that work without a deadline is expected to hold at a time."""
        held = 0
        for application in view.running:
            if not application.application.has_deadline and application.work is not None:
                takes_s = view.told(application.application, application.application.core, self._chance)
                held += (
                    application.application.core
                    if max(application.work.start_s + takes_s, view.now_s + 1) > at_s
                    else 0
                )
        return held


def _asking(view: RivalView) -> list[RivalApplication]:
    return [application for application in (*view.running, *view.waiting) if application.application.has_deadline]


def _at_level(one: RivalApplication, level: int, free: int) -> int:
    services = min(level, free)
    return services if services >= one.application.core else 0
