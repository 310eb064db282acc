"""An execution that waits for other programs' use delays no other, keeps its turn, and starts once they use less."""

from __future__ import annotations

import pytest

from lab.invariants.queue import queue_problems
from tests.simulation.world import World, application, check_invariants, component, node
from zoe_lib.domain.cluster.policy import BACKFILLS, ORDERS, Policy
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.waiting import WaitCause, spans
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.documents.codec import event_of
from zoe_master.backends.simulated import ServiceBehaviour

S = ExecutionState


def check(world: World) -> None:
    check_invariants(world)
    tick = world.tick()
    assert not (wrong := list(queue_problems(tick.snapshot, world.master.policy, tick.plan))), wrong


def events_of(world: World, execution_id: str) -> list[object]:
    entries = world.store.journal(0, 1000)
    return [event_of(e.kind, e.at_s, e.cause_id, e.data) for e in entries if e.execution_id == execution_id]


@pytest.mark.parametrize("backfill", sorted(BACKFILLS))
@pytest.mark.parametrize("order", sorted(ORDERS))
def test_others_start_meanwhile_and_it_starts_in_its_turn(order: str, backfill: str) -> None:
    world = World([node("n", cores=16)], behave=lambda _: ServiceBehaviour(run_s=50.0))
    world.store.set_policy(Policy(order=order, backfill=backfill), 0, world.clock.now_s(), "admin")
    world.backend.set_foreign("n", Resources(4000))
    world.tick()
    wide = world.submit(application(component("c", 1, 1, cores=14), expected_run_s=50.0))
    hello = world.submit(application(component("c", 1, 1, cores=1), expected_run_s=1.0))
    world.run(100.0, check)
    assert [world.state(i) for i in (wide, hello)] == [S.QUEUED, S.SUCCEEDED]
    reason = world.get(wide).reason
    assert reason is not None
    assert reason.code is ReasonCode.FOREIGN_USE
    assert "4 of 16 cores on n" in reason.sentence
    told = [event for event in events_of(world, wide) if type(event).__name__ == "ReasonChanged"]
    assert len(told) == 1, "it comes to rest: nothing more is written while nothing changes"
    world.backend.set_foreign("n", Resources(1000))
    world.run(10.0, check)
    assert world.state(wide) is S.RUNNING
    assert spans(events_of(world, wide), world.clock.now_s())[-1].cause is WaitCause.FOREIGN_USE
