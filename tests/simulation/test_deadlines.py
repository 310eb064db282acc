"""The master notes each missed deadline once, with its cause, whatever dies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulation.world import World, application, check_invariants, component, node
from zoe_client.vocabulary import DeadlineCause, ExecutionState
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.values.conditions import Conditions
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.state.crash_points import CrashPoint

JOB = application(component("job", 1, 1, cores=8), expected_run_s=100.0)


def slow(run_s: float) -> World:
    return World([node("n1")], behave=lambda _: ServiceBehaviour(run_s=run_s))


def misses(world: World, execution_id: str) -> list[float]:
    entries = world.store.journal(0, 10_000, execution_id=execution_id)
    return [entry.at_s for entry in entries if entry.kind == ev.DeadlineMissed.kind]


def test_it_is_noted_at_the_deadline_itself() -> None:
    world = slow(4000.0)
    deadline_s = world.clock.now_s() + 30.0
    one = world.submit(JOB, deadline_s=deadline_s)
    world.run(100.0, check_invariants)
    assert misses(world, one) == [deadline_s], "time alone wakes the master"
    assert world.master.latest is not None
    found = world.get(one)
    assert found.missed is not None
    assert (found.state, found.missed.cause) == (ExecutionState.RUNNING, DeadlineCause.TOO_SHORT)
    world.run(5000.0)
    assert world.state(one) is ExecutionState.SUCCEEDED
    assert misses(world, one) == [deadline_s]


def test_waiting_execution_misses_its_deadline() -> None:
    world = slow(300.0)
    world.submit(JOB)
    soon = world.clock.now_s() + 150.0
    queued = world.submit(JOB, deadline_s=soon)
    later = world.submit(JOB, deadline_s=soon, conditions=Conditions(begin_at_s=soon + 1000.0))
    world.run(200.0, check_invariants)
    assert [misses(world, text) for text in (queued, later)] == [[soon], [soon]]
    causes = [found.cause for text in (queued, later) if (found := world.get(text).missed)]
    assert causes == [DeadlineCause.QUEUE, DeadlineCause.INPUT_LATE]


def test_timely_or_cancelled_execution_misses_no_deadline() -> None:
    world = slow(50.0)
    deadline_s = world.clock.now_s() + 60.0
    kept, gone = world.submit(JOB, deadline_s=deadline_s), world.submit(JOB, deadline_s=deadline_s)
    world.tick()
    world.cancel(gone)
    world.run(200.0, check_invariants)
    assert [misses(world, text) for text in (kept, gone)] == [[], []]
    assert world.state(kept) is ExecutionState.SUCCEEDED


@pytest.mark.parametrize("step", [CrashPoint.OBSERVED, CrashPoint.OBSERVATIONS_KEPT])
@pytest.mark.parametrize("waits", [False, True])
def test_a_master_that_dies_at_the_deadline_leaves_one_event(step: CrashPoint, waits: bool) -> None:
    world = slow(4000.0)
    if waits:
        world.submit(JOB)
    deadline_s = world.clock.now_s() + 30.0
    one = world.submit(JOB, deadline_s=deadline_s)
    world.run(29.0)
    world.clock.advance(1.0)
    world.crash_once_at(step)
    world.tick()
    world.restart()
    world.run(100.0, check_invariants)
    assert misses(world, one) == [deadline_s]


def test_a_deadline_that_passed_while_no_master_ran() -> None:
    world = slow(50.0)
    in_time, late = (
        world.submit(replace(JOB, components=(component("job", 1, 1),)), deadline_s=at_s) for at_s in (1060.0, 1040.0)
    )
    world.run(2.0)
    world.clock.advance(500.0)
    world.restart()
    world.run(10.0)
    assert [world.state(text) for text in (in_time, late)] == [ExecutionState.SUCCEEDED] * 2
    assert misses(world, in_time) == [], "it ended in time, though that was seen later"
    assert len(misses(world, late)) == 1


def test_many_at_once_take_bounded_ticks() -> None:
    world = slow(4000.0)
    deadline_s = world.clock.now_s() + 30.0
    ids = [world.submit(JOB, deadline_s=deadline_s) for _ in range(2500)]
    world.run(25.0)
    world.clock.advance(5.0)
    tick = world.tick()
    assert tick.unfinished, "a tick takes a limited number"
    assert tick.missed.keys() == {DeadlineCause.TOO_SHORT}, "it counts them for the metric"
    assert 0 < tick.missed[DeadlineCause.TOO_SHORT] < len(ids)
    world.run(1.0)
    assert all(world.get(id_).missed for id_ in ids)
    entries = [entry for start in range(0, 20_000, 1000) for entry in world.store.journal(start, 1000)]
    assert sum(entry.kind == ev.DeadlineMissed.kind for entry in entries) == len(ids)
