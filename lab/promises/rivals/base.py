"""Interface of a rival: its view and its decisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lab.promises.applications import ApplicationWork, StudyApplication

# Returns the seconds to the end of an application with so many services, with a chance.
Told = Callable[[StudyApplication, int, float], float]


@dataclass(slots=True)
class RivalApplication:
    """An application that waits (`work` None) or runs; places: the nodes of its services, the essential ones first."""

    application: StudyApplication
    work: ApplicationWork | None = None
    places: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        """Return its number."""
        return self.application.number

    @property
    def remaining_share(self) -> float:
        """Return the remaining share of its work."""
        return 1.0 - self.work.done if self.work is not None else 1.0


@dataclass(frozen=True, slots=True)
class RivalView:
    """The information for a rival: the cores of the running nodes, waiting and running applications in the order of
    submissions, and learned run times.
    """

    now_s: float
    cores: int
    waiting: Sequence[RivalApplication]
    running: Sequence[RivalApplication]
    told: Told


class Rival(Protocol):
    """A way to meet deadlines."""

    def admits(self, one: RivalApplication, view: RivalView) -> bool:
        """Return whether an application with a deadline, which is submitted now, may run at all."""
        ...

    def decide(self, view: RivalView) -> Mapping[int, int]:
        """Return the number of services of each application from now on, by number, the most important first.

        Running ones keep at least their essential services.
        """
        ...

    def next_s(self, now_s: float) -> float:
        """Return when it wants to decide again without an event; infinite if it does not."""
        ...


def numbers(one: StudyApplication) -> list[int]:
    """Return the numbers of services to choose from: the essential ones, with 1, 2, 4 and so on more, and all."""
    found, more = [one.core], 1
    while one.core + more < one.total:
        found.append(one.core + more)
        more *= 2
    return [*found, one.total] if one.total > one.core else found


def grow(wanted: dict[int, int], spare: int, candidates: Sequence[RivalApplication]) -> None:
    """Give the spare services to these in turn, up to all their services."""
    for candidate in candidates:
        more = min(candidate.application.total - wanted[candidate.number], spare)
        if more > 0:
            wanted[candidate.number] += more
            spare -= more


def by_deadline(one: RivalApplication) -> tuple[float, float, int]:
    """Order by deadlines; applications without one follow in the order of submissions."""
    return one.application.deadline_s, one.application.submit_s, one.number


def earliest(times: Sequence[float], after_s: float) -> float:
    """Return the first of these times in the future; infinite without one."""
    return min((at_s for at_s in times if at_s > after_s), default=math.inf)
