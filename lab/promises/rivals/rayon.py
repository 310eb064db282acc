"""Like Rayon: reservations of cores in a plan over time.

Curino, Difallah, Douglas, Krishnan, Ramakrishnan, Rao, "Reservation-based scheduling: if you're late don't blame us!",
SoCC 2014. Kept: admission against a plan of reserved cores, its greedy agent that places as late as possible, work
without a reservation in the rest, and reserved work that begins early without disturbing the plan. Simplified: one
stage per application, a gang with one number of services; no replanning, except after a lost node; the run time is the
learned one at the chance given, where Rayon's users state it. The plan does not include bandwidth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lab.promises.rivals.base import RivalApplication, RivalView, by_deadline, earliest, grow, numbers

_BEGINS = 12
_OVERRUN = 0.1  # of the planned time: an overdue run is taken to continue for so long


@dataclass(frozen=True, slots=True)
class CoresReservation:
    """Cores in the plan between two times, in seconds."""

    begins_s: float
    ends_s: float
    cores: int


class RayonLike:
    """The plan has a reservation for each admitted application with a deadline that has not ended."""

    def __init__(self, chance: float = 0.5) -> None:
        self._chance = chance
        self._plan: dict[int, CoresReservation] = {}

    def admits(self, one: RivalApplication, view: RivalView) -> bool:
        """Reserve the fewest services with room, as late as possible."""
        deadline_s = one.application.deadline_s
        others = self._other_holdings(view)
        for services in numbers(one.application):
            takes_s = view.told(one.application, services, self._chance)
            latest_s = deadline_s - takes_s
            if latest_s < view.now_s:
                continue
            for step in range(_BEGINS):
                begins_s = latest_s - step * (latest_s - view.now_s) / (_BEGINS - 1)
                found = CoresReservation(begins_s, begins_s + takes_s, services)
                if _has_room(found, others, view.cores):
                    self._plan[one.number] = found
                    return True
        return False

    def decide(self, view: RivalView) -> Mapping[int, int]:
        """Start due applications, then others that disturb no reservation; lend the rest to running ones."""
        there = {application.number for application in (*view.waiting, *view.running)}
        self._plan = {number: reservation for number, reservation in self._plan.items() if number in there}
        wanted = {application.number: self._cores_of(application) for application in view.running}
        free = view.cores - sum(wanted.values())
        for application in sorted(view.waiting, key=self._turn):
            services = self._cores_of(application)
            due = application.number in self._plan and self._plan[application.number].begins_s <= view.now_s
            takes_s = view.told(application.application, services, self._chance)
            now = CoresReservation(view.now_s, view.now_s + takes_s, services)
            if services <= free and (
                due or _has_room(now, self._other_holdings(view, application.number, wanted), view.cores)
            ):
                wanted[application.number], free = services, free - services
        started = [application for application in (*view.running, *view.waiting) if application.number in wanted]
        grow(wanted, free, sorted(started, key=by_deadline))
        return wanted

    def next_s(self, now_s: float) -> float:
        """Return when the next reservation begins."""
        return earliest([reservation.begins_s for reservation in self._plan.values()], now_s)

    def _cores_of(self, one: RivalApplication) -> int:
        reserved = self._plan.get(one.number)
        return one.application.core if reserved is None else reserved.cores

    def _turn(self, one: RivalApplication) -> tuple[float, float]:
        reserved = self._plan.get(one.number)
        return (reserved.begins_s if reserved is not None else float("inf")), one.application.submit_s

    def _other_holdings(
        self, view: RivalView, but: int = -1, starting: Mapping[int, int] | None = None
    ) -> list[CoresReservation]:
        """Return the holdings of the others: reservations of waiting ones, and running ones until their expected
        end.
        """
        found = []
        for application in (*view.running, *view.waiting):
            runs = application.work is not None or (starting is not None and application.number in starting)
            reserved = self._plan.get(application.number)
            if application.number == but or (not runs and reserved is None):
                continue
            if not runs and reserved is not None:
                found.append(reserved)
                continue
            began_s = application.work.start_s if application.work is not None else view.now_s
            takes_s = view.told(application.application, self._cores_of(application), self._chance)
            ends_s = max(began_s + takes_s, view.now_s + _OVERRUN * takes_s)
            found.append(CoresReservation(view.now_s, ends_s, self._cores_of(application)))
        return found


def _has_room(wanted: CoresReservation, others: Iterable[CoresReservation], cores: int) -> bool:
    """Return whether there are enough cores at all times of the wanted reservation."""
    beside = [other for other in others if other.begins_s < wanted.ends_s and other.ends_s > wanted.begins_s]
    times = [
        wanted.begins_s,
        *(reservation.begins_s for reservation in beside if reservation.begins_s > wanted.begins_s),
    ]
    return all(
        wanted.cores
        + sum(reservation.cores for reservation in beside if reservation.begins_s <= at_s < reservation.ends_s)
        <= cores
        for at_s in times
    )
