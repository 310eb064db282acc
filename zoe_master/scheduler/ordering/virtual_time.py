"""Emulated processor sharing: when each execution would end if all ran at once, slowed down equally.

Dell'Amico, Carra and Michiardi, "PSBS: Practical Size-Based Scheduling", IEEE Transactions on Computers 65(7), 2016.
All virtual executions advance at the same pace, so an execution ends when the pace summed since its arrival (the *lag*)
has grown by its run time: one number for each execution, which never changes, and a heap.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import replace

from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.frozen import value
from zoe_master.scheduler.ordering.estimate import Estimates


@value(frozen=True, slots=True)
class ExecutionArrival:
    """Arrival of an execution (seconds since the epoch), its expected run time, and the weight of its share."""

    execution_id: ExecutionId
    at_s: float
    run_s: float
    cores_milli: int


def arrival_of(execution: Execution, estimates: Estimates) -> ExecutionArrival:
    """Return the arrival of an execution; its share is weighted by all the cores that it wants."""
    cores_milli = max(execution.application.total_resources().cores_milli, 1)
    return ExecutionArrival(execution.id, execution.submitted_at_s, estimates.guess_s(execution), cores_milli)


class VirtualTime:
    """The emulation up to a time.

    Each execution advances by min(1, cores / wanted cores) virtual seconds a second. That is weighted processor
    sharing: on one core, and with one core for each execution, all get an equal share. If no cores are known,
    executions do not slow each other down.
    """

    def __init__(self, cores_milli: int) -> None:
        self._cores_milli = cores_milli
        self._wanted_milli = 0
        self._ends: list[tuple[float, int]] = []
        self._now_s = -math.inf
        self._lag_s = 0.0
        self._end_lag_s: dict[ExecutionId, float] = {}

    def arrive(self, arrival: ExecutionArrival) -> None:
        """Add an arrival, which is not earlier than any before."""
        self.advance(arrival.at_s)
        end_lag_s = self._lag_s + arrival.run_s
        self._end_lag_s[arrival.execution_id] = end_lag_s
        heapq.heappush(self._ends, (end_lag_s, arrival.cores_milli))
        self._wanted_milli += arrival.cores_milli

    def advance(self, now_s: float) -> None:
        """Advance the time; no effect if it is already later."""
        while self._ends and self.next_end_s() <= now_s:
            self._now_s = self.next_end_s()
            self._lag_s, cores_milli = heapq.heappop(self._ends)
            self._wanted_milli -= cores_milli
        if now_s > self._now_s:
            if self._ends:
                self._lag_s += (now_s - self._now_s) * self._pace()
            self._now_s = now_s

    def next_end_s(self) -> float:
        """Return when the next execution would end without new arrivals; infinite if there is none."""
        if not self._ends:
            return math.inf
        return self._now_s + max(self._ends[0][0] - self._lag_s, 0.0) / self._pace()

    def end_lag_s(self, execution_id: ExecutionId) -> float:
        """Return the lag at which it ends: a lower one ends earlier; infinite if it never arrived."""
        return self._end_lag_s.get(execution_id, math.inf)

    def late(self, execution_id: ExecutionId) -> bool:
        """Return whether it would have ended by now."""
        return self.end_lag_s(execution_id) <= self._lag_s

    def _pace(self) -> float:
        if self._cores_milli <= 0:
            return 1.0
        return min(1.0, self._cores_milli / self._wanted_milli)


def virtual_time(arrivals: Iterable[ExecutionArrival], cores_milli: int, now_s: float) -> VirtualTime:
    """Return the emulation of all these executions until now.

    Executions with the same arrival are ordered by id; later arrivals count as now.
    """
    emulated = VirtualTime(cores_milli)
    for arrival in sorted(arrivals, key=lambda arrival: (arrival.at_s, arrival.execution_id)):
        emulated.arrive(arrival if arrival.at_s <= now_s else replace(arrival, at_s=now_s))
    emulated.advance(now_s)
    return emulated


# Before the first arrival.
NOBODY = VirtualTime(0)
