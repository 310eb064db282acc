"""The thread that scales by rules: a silent source stops no instance, and users hear of it."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from tests.support.applications import application, component, execution
from tests.support.manual_clock import ManualClock
from tests.support.waiting import until
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, Service
from zoe_lib.domain.values.scaling import ScalingRule
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.background.probe_answers import NoReading
from zoe_master.background.readings import ScalingAmounts
from zoe_master.background.scaling_thread import ScalingThread
from zoe_master.loop.master import Master
from zoe_master.waker import TickWaker

RULE = ScalingRule(1, 8, port="http", per_instance=1.0, interval_s=15.0, calm_s=120.0)
QUEUE = application(component(name="worker", total=4, essential=1, scaling=RULE))


class _Scaled:
    """A running execution of four workers, a source that may be silent, and the thread, by a manual clock."""

    def __init__(self) -> None:
        self.store, self.clock, self.amount = MemoryStore(), ManualClock(), 4.0
        self.problem = ""
        epoch = self.store.try_lead("test")
        assert epoch is not None
        self._run(self.store.submit(execution(1, application=QUEUE), "request"))
        self.thread = ScalingThread(
            cast(Master, self),
            self.store,
            epoch,
            cast(ScalingAmounts, SimpleNamespace(instance_amount=self._measure)),
            TickWaker(),
            clock=self.clock,
        )

    @property
    def latest(self) -> object:
        return SimpleNamespace(snapshot=SimpleNamespace(active=self.store.active()))

    @property
    def found(self) -> Execution:
        (found,) = self.store.active()
        return found

    def pass_time(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.step(1.0)
            until(lambda: not any(not future.done() for future in list(self.thread._asked.values())))

    def told(self) -> list[str]:
        entries = self.store.journal(0, 1000)
        return [str(entry.data["why"]) for entry in entries if entry.kind == "scaling_blind"]

    def workers(self) -> int:
        return self.found.application.component("worker").total_count

    def _run(self, one: Execution) -> None:
        first = one.core_services()[0]
        placed = (ev.Placement(service_id=first.id, node="n"),)
        events: list[ev.Event] = [ev.Queued(at_s=1.0), ev.StartPlanned(at_s=1.0, placements=placed)]
        events += [kind(at_s=1.0, service_id=first.id) for kind in (ev.ServiceStarting, ev.ServiceStarted)]
        events += [ev.ServiceReady(at_s=1.0, service_id=first.id), ev.Running(at_s=1.0)]
        self.store.append(one.id, events, one.version, None)

    def _measure(self, _rule: ScalingRule, _services: list[Service]) -> float:
        if self.problem:
            raise NoReading(self.problem)
        return self.amount


@pytest.fixture
def scaled() -> Iterator[_Scaled]:
    made = _Scaled()
    yield made
    made.thread.close()


def test_a_source_that_comes_back_stops_nothing_before_a_new_calm_and_its_silence_is_told(scaled: _Scaled) -> None:
    scaled.pass_time(150)
    assert (scaled.workers(), scaled.told()) == (4, [])
    scaled.problem = "connection refused"
    scaled.pass_time(200)
    assert scaled.told() == ["no measurement, so the number of instances stays: worker: connection refused"]
    scaled.problem, scaled.amount = "", 0.0
    scaled.pass_time(100)
    assert scaled.workers() == 4, "its first answers say that nothing is left, as after a restart of a queue server"
    assert scaled.told()[1:] == [""]
    scaled.pass_time(60)
    assert scaled.workers() == 1


def test_the_next_leader_tells_that_an_earlier_silence_is_over(scaled: _Scaled) -> None:
    scaled.problem = "connection refused"
    scaled.pass_time(60)
    assert len(scaled.told()) == 1
    scaled.thread._blind.clear()  # what the earlier one knew
    scaled.problem = ""
    scaled.pass_time(30)
    assert scaled.told()[1:] == [""]
