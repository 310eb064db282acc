"""The first waiting execution for the limit of a tenant or a user, and the executions that may pass it.

Without a line, small cores of a tenant would pass a large one for ever, each within the limit. So the first that a
limit refuses keeps a reservation by the estimates of run times, as in EASY backfill: not of nodes, but of its holder's
limit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Service, ServiceState
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.values.resources import NOTHING, Resources, total
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.snapshot import Snapshot

# The expected end of an execution, and the amount it returns to the holder's limit.
_End = tuple[float, Resources]


@dataclass(slots=True)
class _Line:
    """A line: its first execution, the expected start of that, and the rest of the limit then."""

    first: ExecutionId
    starts_s: float
    beside: Resources


class LimitLines:
    """The lines of one pass; `takes_back`: whether elastic services give way to cores."""

    def __init__(
        self, snapshot: Snapshot, holdings: TenantReservations, estimates: Estimates, takes_back: bool
    ) -> None:
        self._snapshot = snapshot
        self._holdings = holdings
        self._estimates = estimates
        self._takes_back = takes_back
        self._lines: dict[LimitSubject, _Line] = {}
        self._asked: dict[ExecutionId, int] = {}  # in the sequence of the queue
        self._ends: dict[LimitSubject, list[_End]] | None = None
        self._given: list[tuple[Execution, float]] = []

    def refuses(self, execution: Execution) -> LimitSubject | None:
        """Return the holder whose line it would delay; None if it may continue."""
        turn = self._asked.setdefault(execution.id, len(self._asked))
        if not self._lines:
            return None
        core, ends_s = execution.application.core_resources(), self._ends_s(execution)
        for holder in self._holdings.holders(execution):
            line = self._lines.get(holder)
            if line is not None and turn > self._asked[line.first] and not _passes(line, core, ends_s):
                return holder
        return None

    def wait(self, execution: Execution, holder: LimitSubject, may_start: Callable[[Execution], bool]) -> None:
        """Record that this limit refuses it: the first that could start without the limit keeps its turn."""
        self._asked.setdefault(execution.id, len(self._asked))
        free = self._holdings.left_of(execution, holder)
        core = execution.application.core_resources()
        if holder in self._lines or not may_start(execution):
            return
        for starts_s, amount in sorted(self._ends_of(holder), key=lambda end: end[0]):
            free += amount
            if core.fits_in(free):
                self._lines[holder] = _Line(execution.id, starts_s, free - core)
                return

    def take(self, execution: Execution) -> None:
        """Count an execution that got places, now or soon."""
        ends_s, core = self._ends_s(execution), execution.application.core_resources()
        self._given.append((execution, ends_s))
        for holder in self._holdings.holders(execution) if self._lines else ():
            line = self._lines.get(holder)
            if line is not None and ends_s > line.starts_s:
                line.beside -= core

    def may_grow(self, execution: Execution, amount: Resources, ends_s: float) -> bool:
        """Return whether elastic services that stay until then leave enough for the first in the line."""
        return all(_passes(line, amount, ends_s) for line in self._of_limits(execution))

    def grow(self, execution: Execution, amount: Resources, ends_s: float) -> None:
        """Count elastic services that stay until then."""
        for line in self._of_limits(execution):
            if ends_s > line.starts_s:
                line.beside -= amount

    def _of_limits(self, execution: Execution) -> Sequence[_Line]:
        return [self._lines[holder] for holder in self._holdings.holders(execution) if holder in self._lines]

    def _ends_s(self, execution: Execution) -> float:
        return self._snapshot.now_s + self._estimates.guess_s(execution)

    def _ends_of(self, holder: LimitSubject) -> Iterable[_End]:
        if self._ends is None:
            self._ends = self._all_ends()
        given = ((ends_s, e.application.core_resources()) for e, ends_s in self._given if holder in self._holders_of(e))
        return (*self._ends[holder], *given)

    def _all_ends(self) -> dict[LimitSubject, list[_End]]:
        """Return all ends; services that are leaving, or can be stopped for a core, could be gone at once."""
        now_s = self._snapshot.now_s
        ends_of: dict[LimitSubject, list[_End]] = defaultdict(list)
        for execution in self._snapshot.active:
            holders = self._holders_of(execution)
            if not holders:
                continue
            parts: dict[bool, list[Resources]] = {True: [], False: []}
            for service in execution.services:
                if service.node is not None and service.alive:
                    parts[self._stays(execution, service)].append(execution.component_of(service).reservation)
            ends = (now_s, total(parts[False])), (self._estimates.release_s(execution, now_s), total(parts[True]))
            for holder in holders:
                ends_of[holder] += [end for end in ends if end[1] != NOTHING and end[0] < math.inf]
        return ends_of

    def _holders_of(self, execution: Execution) -> Sequence[LimitSubject]:
        return self._holdings.holders(execution)

    def _stays(self, execution: Execution, service: Service) -> bool:
        leaving = service.state is ServiceState.STOPPING or execution.state is ExecutionState.STOPPING
        return not leaving and (service.core or not self._takes_back)


def _passes(line: _Line, amount: Resources, ends_s: float) -> bool:
    return ends_s <= line.starts_s or (
        amount.cores_milli <= max(line.beside.cores_milli, 0)
        and amount.memory_bytes <= max(line.beside.memory_bytes, 0)
    )
