"""Adjust the guarantees of running promised executions: early ones return elastic services and bandwidth, late ones get
more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark
from zoe_lib.domain.values.progress import ExecutionProgress
from zoe_lib.run_times.samples import through_views
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.booking.bookings import CAUTION
from zoe_master.scheduler.promising.adjusting import adjusted_services
from zoe_master.scheduler.promising.choices import rates_of
from zoe_master.scheduler.promising.raising import raised_rate, rest_s
from zoe_master.scheduler.promising.shares_later import FutureShares
from zoe_master.state.run_times import LearnedRunTimes

_TYPICAL = 0.5


class GuaranteesNow(NamedTuple):
    """New guarantees of an execution: elastic services, and bytes per second to read; no rate: the rate of its
    promise.
    """

    execution: Execution
    elastic: int
    read_bytes_per_s: int | None


class PromiseAdjustments:
    """Compares running executions with their promises. expected_end_s: returns the expected end of an execution from a
    given time.
    """

    def __init__(self, run_times: LearnedRunTimes, expected_end_s: Callable[[Execution, float], float]) -> None:
        self._run_times = run_times
        self._expected_end_s = expected_end_s

    def adjust_on(self, tick: Tick, progress: Mapping[ExecutionId, ExecutionProgress]) -> Iterator[GuaranteesNow]:
        """Yield each execution whose guarantees change; bandwidth is assigned one by one."""
        now_s, shares = tick.snapshot.now_s, None
        for execution in tick.promised:
            promise, told = execution.promise, progress.get(execution.id)
            if promise is None or execution.state is not ExecutionState.RUNNING:
                continue
            elastic, rate = adjusted_services(execution, told, now_s), promise.rate(execution.attempt)
            if elastic is not None:
                yield GuaranteesNow(execution, elastic, rate)
                continue
            left_s = self._rest_s(execution, told, now_s) if rate else None
            if not rate or (left_s is None and Mark.STORAGE_WITHDRAWN not in execution.marks):
                continue
            shares = shares or FutureShares(tick.snapshot, tick.policy)
            could_be = rates_of(shares.read_rate, rate + shares.free_rate())
            bookings, until_s = tick.snapshot.bookings, now_s + CAUTION * (left_s or 0.0)
            rates = [number for number in could_be if shares.may_hold(execution, number, bookings, until_s)]
            found = raised_rate(execution, left_s, self._typical_s(execution), rates, now_s)
            if found is not None:
                shares.hold(execution, found)
                yield GuaranteesNow(execution, promise.elastic_guarantee(execution.attempt), found)

    def _rest_s(self, execution: Execution, told: ExecutionProgress | None, now_s: float) -> float | None:
        """Return the remaining run time; None if unknown. An execution without progress reports counts as late after a
        notice, and gets more bandwidth once.
        """
        promise = execution.promise
        if told is not None or promise is None:
            return rest_s(execution, told, now_s)
        if promise.notice is None or promise.rate(execution.attempt) != promise.terms.read_bytes_per_s:
            return None
        return self._expected_end_s(execution, now_s) - now_s

    def _typical_s(self, execution: Execution) -> Callable[[int], float | None]:
        """Return a function that returns the median run time at a rate."""
        views = through_views(execution) if execution.inputs else None

        def takes_s(rate: int) -> float | None:
            assert execution.promise is not None
            application, elastic = execution.application, execution.promise.elastic_guarantee(execution.attempt)
            tenant, user = execution.tenant, execution.user
            known = self._run_times.run_time_within(application, tenant, user, elastic, _TYPICAL, rate, views)
            return None if known is None else known.seconds

        return takes_s
