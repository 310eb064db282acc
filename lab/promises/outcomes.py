"""Outcome of a workload of the study, under any scheduler."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from lab.promises.applications import ApplicationWork, StudyApplication

_SHORTEST_S = 10.0
_ROUNDING_S = 1e-3


@dataclass(frozen=True, slots=True)
class StudyEnd:
    """An ended application; seconds. name: of its execution, if it has one."""

    application: StudyApplication
    start_s: float
    end_s: float
    promised: bool = False
    name: str = ""

    @property
    def in_time(self) -> bool:
        """Return whether it ended by its deadline."""
        return self.end_s <= self.application.deadline_s + _ROUNDING_S

    @property
    def late(self) -> float:
        """Return its lateness, as a share of its available time."""
        had_s = self.application.deadline_s - self.application.submit_s
        return max(self.end_s - self.application.deadline_s, 0.0) / had_s

    @property
    def ran_s(self) -> float:
        """Return the duration of its last attempt; for a failed one, its run time alone."""
        return self.end_s - self.start_s if self.end_s < math.inf else self.application.run_s

    @property
    def bounded_slowdown(self) -> float:
        """Return turnaround over the run time alone with all services, both at least ten seconds; at least one."""
        alone_s = max(self.application.run_s, _SHORTEST_S)
        return max((self.end_s - self.application.submit_s) / alone_s, 1.0)


@dataclass(slots=True)
class StudyOutcome:
    """Ends, and other results.

    cores: of the cluster. ends: in order. refused: not run. failed: given up after lost attempts.

    held_s: core-seconds held while work arrived; arriving_s: that time. read_bytes: read in that time. noticed: times
    of at-risk notices, by name.
    """

    cores: int
    ends: list[StudyEnd] = field(default_factory=list)
    refused: list[StudyApplication] = field(default_factory=list)
    failed: list[StudyEnd] = field(default_factory=list)
    noticed: dict[str, float] = field(default_factory=dict)
    ticks: int = 0
    held_s: float = 0.0
    arriving_s: float = 0.0
    read_bytes: float = 0.0

    def count(self, active: Iterable[ApplicationWork], seconds: float) -> None:
        """Add the amounts held for some time."""
        for work in active:
            self.held_s += work.running * seconds
            self.read_bytes += work.speed * work.application.read_bytes * seconds
        self.arriving_s += seconds

    def goodput(self, applications: Sequence[StudyApplication]) -> float:
        """Return core-seconds that ended by their deadline, as a share of all with a deadline; 1 if there were none."""
        asked = sum(application.core_s for application in applications if application.has_deadline)
        kept = sum(end.application.core_s for end in self.ends if end.application.has_deadline and end.in_time)
        return kept / asked if asked else 1.0

    def late(self) -> float:
        """Return the mean lateness of ended applications with a deadline, as a share of their available time."""
        return fmean([end.late for end in self.ends if end.application.has_deadline] or [0.0])

    def slowdown(self) -> float:
        """Return the mean bounded slowdown of applications without a deadline."""
        return fmean([end.bounded_slowdown for end in self.ends if not end.application.has_deadline] or [1.0])

    @property
    def unused_share(self) -> float:
        """Return the unused share of the cores while work arrived."""
        return 1.0 - self.held_s / max(self.arriving_s * self.cores, 1e-9)

    def kept_promises(self) -> tuple[int, int]:
        """Return the numbers of kept promises and of all promises, including failed applications."""
        made = [end for end in (*self.ends, *self.failed) if end.promised]
        return sum(end.in_time for end in made), len(made)

    def announced_failures(self, ahead: float = 0.0) -> int:
        """Return the number of broken promises with an at-risk notice at least this share of their run time before the
        promised time.
        """
        broken = [end for end in (*self.ends, *self.failed) if end.promised and not end.in_time]
        return sum(
            end.application.deadline_s - self.noticed.get(end.name, math.inf) >= ahead * end.ran_s for end in broken
        )
