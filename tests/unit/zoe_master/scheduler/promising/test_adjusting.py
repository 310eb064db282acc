"""Early executions return unneeded services, no sooner than they can spare them, and it converges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.applications import application, component, execution
from zoe_client.vocabulary import PromiseRisk
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark, Service, new_services
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseAdjustment, PromiseNotice
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressHistory, ProgressReading
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.promising.adjusting import LATE, PAUSE_SHARE, adjusted_services

CORE = Resources(1000, 1)
WORK = application(
    component(name="driver", essential=1, total=1, reservation=CORE),
    component(name="worker", essential=1, total=9, reservation=CORE),
)
RUN_S, FINISH_S = 1000.0, 1000.0


def running(promise: Promise, workers: int = 9) -> Execution:
    """Return an execution that has been ready since 0, with this number of workers."""
    services = tuple(
        replace(service, ready_at_s=0.0, ended_at_s=None if service.index < workers else 1.0)
        for service in new_services("x", WORK, 1)
    )
    marks = {Mark.PLACED: 0.0, Mark.READY: 0.0}
    return replace(
        execution(), application=WORK, state=ExecutionState.RUNNING, marks=marks, services=services, promise=promise
    )


def promise(**changes: object) -> Promise:
    """Return a promise that guarantees all eight elastic workers."""
    return replace(Promise(FinishTerms(FINISH_S, 0.9, 8, RUN_S, 0.0), 0.0), **changes)  # type: ignore[arg-type]


def told(until_s: float, per_s: float) -> ExecutionProgress:
    """Return reports every 5 s of a program that advances by this share a second."""
    readings = tuple(ProgressReading(5.0 * n, per_s * 5.0 * n) for n in range(1, int(until_s // 5) + 1))
    return ExecutionProgress("x", 1, until_s, readings)


@pytest.mark.parametrize(
    ("at_s", "per_s", "guaranteed"),
    [
        (300.0, 1 / 1000, None),  # it ends just in time
        (300.0, 1 / 800, None),  # early, but within the dead band
        (300.0, 1 / 400, 1),  # 100 s are left of the work with 9 workers, 450 s with two, and there are 700
        (300.0, 1 / 600, None),  # 300 s with 9 workers, 540 with 5: it could, but not surely
        (200.0, 1 / 400, 4),
        (90.0, 1 / 300, None),  # it was ready only just now
        (150.0, 1 / 700, None),  # a fifth says little of the rest
    ],
)
def test_an_early_one_keeps_what_it_needs_to_end_in_time(at_s: float, per_s: float, guaranteed: int | None) -> None:
    assert adjusted_services(running(promise()), told(at_s, per_s), at_s) == guaranteed


def test_one_that_is_no_longer_early_gets_as_many_as_it_needs() -> None:
    gave_back = promise(adjusted=PromiseAdjustment(1, 1, 150.0))
    readings = told(300.0, 1 / 700).readings
    late = adjusted_services(running(gave_back, workers=2), ExecutionProgress("x", 1, 300.0, readings), 300.0)
    assert late is None, "with two workers it needs 400 of 700 s"
    slow = told(300.0, 1 / 1100)
    assert adjusted_services(running(gave_back, workers=2), slow, 300.0) is not None
    assert adjusted_services(running(gave_back, workers=2), slow, 300.0) == 8, "more cores may not make it faster"


def test_pauses_are_kept() -> None:
    before = promise(adjusted=PromiseAdjustment(1, 1, 250.0))
    assert adjusted_services(running(before, workers=2), told(300.0, 1 / 1100), 300.0) is None


def test_no_adjustment_without_a_pace_of_this_attempt() -> None:
    early = told(300.0, 1 / 400)
    assert adjusted_services(running(promise()), None, 300.0) is None
    assert adjusted_services(running(promise()), replace(early, attempt=2), 300.0) is None
    assert adjusted_services(running(promise()), replace(early, readings=early.readings[:3]), 300.0) is None
    assert adjusted_services(replace(running(promise()), state=ExecutionState.STARTING), early, 300.0) is None
    assert adjusted_services(running(promise(terms=FinishTerms(FINISH_S, 0.9, 0, RUN_S, 0.0))), early, 300.0) is None


def test_once_the_promise_is_at_risk_all_is_guaranteed_again() -> None:
    notice = PromiseNotice(PromiseRisk.SLOWER, 1200.0, 290.0)
    at_risk = promise(adjusted=PromiseAdjustment(1, 1, 299.0), notice=notice)
    assert adjusted_services(running(at_risk), None, 300.0) == 8
    assert adjusted_services(running(promise(notice=notice)), told(300.0, 1 / 400), 300.0) is None


def test_adjustment_counts_for_its_attempt_only() -> None:
    adjusted_once = promise(adjusted=PromiseAdjustment(1, 1, 299.0))
    assert (adjusted_once.elastic_guarantee(1), adjusted_once.elastic_guarantee(2)) == (1, 8)


class Cluster:
    """Runs the execution, while others take all available cores of it at once, for a while or for good."""

    def __init__(self, need: float, noise: list[float], back_after_s: float) -> None:
        self.now_s, self.done, self.changes = 0.0, 0.0, 0
        self._need_s, self._noise, self._back_after_s = need * RUN_S, noise, back_after_s
        self._execution, self._history = running(promise()), ProgressHistory()

    def step(self) -> None:
        """Work for 5 s; then decide."""
        self.now_s += 5.0
        workers = sum(
            service.component == "worker" and service.ended_at_s is None for service in self._execution.services
        )
        self.done += workers / 9 * 5.0 / self._need_s * self._noise[int(self.now_s / 5) % len(self._noise)]
        self._history.take(ProgressReading(self.now_s, min(self.done, 1.0)))
        elastic = adjusted_services(
            self._execution, ExecutionProgress("x", 1, self.now_s, self._history.readings), self.now_s
        )
        if elastic is not None:
            self.changes += 1
            change = PromiseAdjustment(elastic, 1, self.now_s)
            self._execution = replace(self._execution, promise=promise(adjusted=change))
        self._execution = replace(self._execution, services=tuple(map(self._moved, self._execution.services)))

    def _moved(self, service: Service) -> Service:
        assert self._execution.promise is not None
        if service.component != "worker" or service.index == 0:
            return service
        wanted, change = service.index <= self._execution.promise.elastic_guarantee(1), self._execution.promise.adjusted
        if not wanted and service.ended_at_s is None:
            return replace(service, ended_at_s=self.now_s)
        is_back = change is not None and self.now_s - change.at_s > self._back_after_s
        if wanted and service.ended_at_s is not None and is_back:
            return replace(service, ready_at_s=self.now_s, ended_at_s=None)
        return service


@settings(max_examples=30)
@given(st.floats(0.25, 1.2), st.lists(st.floats(0.9, 1.1), min_size=20, max_size=20), st.sampled_from([0.0, 60.0, 1e9]))
def test_execution_that_gives_back_services_ends_in_time(need: float, noise: list[float], back_after_s: float) -> None:
    """`need`: the needed share of its time with all workers. Work is shared by cores. It comes to rest."""
    cluster = Cluster(need, noise, back_after_s)
    while cluster.done < 1.0 and cluster.now_s < 3000.0:
        cluster.step()
    assert cluster.changes <= 1 / PAUSE_SHARE
    if need <= LATE:
        assert cluster.now_s <= FINISH_S


def test_a_steady_pace_is_adjusted_to_in_few_steps_and_nothing_is_asked_back() -> None:
    cluster = Cluster(0.3, [1.0], 1e9)
    while cluster.done < 1.0:
        cluster.step()
    assert 1 <= cluster.changes <= 4
    assert RUN_S * 0.5 < cluster.now_s <= FINISH_S, "it used the time that it had"
