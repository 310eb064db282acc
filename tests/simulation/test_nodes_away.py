"""An execution that needs a node which is down, drained or reserved delays no other, and is first once the node is
back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lab.invariants.queue import queue_problems
from tests.simulation.world import World, application, check_invariants, component, node
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.waiting import WaitCause, spans
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.store.documents.codec import event_of
from zoe_master.backends.simulated import ServiceBehaviour

S = ExecutionState
LARGE, SMALL = node("large", cores=16), node("small", cores=4)


def down(world: World, away: bool) -> None:
    world.backend.set_node(replace(LARGE, ready=not away))


def held(world: World, hold: NodeHold | None) -> None:
    policy = world.store.policy()
    changed = replace(policy, node_holds={} if hold is None else {"large": hold})
    world.store.set_policy(changed, policy.version, world.clock.now_s(), "admin")


def drained(world: World, away: bool) -> None:
    held(world, NodeHold() if away else None)


def reserved(world: World, away: bool) -> None:
    held(world, NodeHold(tenant="physics") if away else None)


def check(world: World) -> None:
    check_invariants(world)
    tick = world.tick()
    assert not (wrong := list(queue_problems(tick.snapshot, world.master.policy, tick.plan))), wrong


def reason_of(world: World, execution_id: str) -> Reason:
    reason = world.get(execution_id).reason
    assert reason is not None
    return reason


@pytest.mark.parametrize("backfill", ["none", "easy", "easy-sjbf", "conservative"])
@pytest.mark.parametrize("order", ["fifo", "size"])
@pytest.mark.parametrize("leave", [down, drained, reserved])
def test_it_holds_up_nobody_and_starts_when_its_node_is_back(
    leave: Callable[[World, bool], None], order: str, backfill: str
) -> None:
    world = World([LARGE, SMALL], behave=lambda _: ServiceBehaviour(run_s=50.0))
    world.store.set_policy(Policy(order=order, backfill=backfill), 0, world.clock.now_s(), "admin")
    leave(world, True)
    world.tick()
    needs_it = world.submit(application(component("c", 1, 1, cores=16), expected_run_s=1.0))
    others = [world.submit(application(component("c", 1, 1, cores=2), expected_run_s=50.0)) for _ in range(3)]
    world.run(10.0, check)
    assert [world.state(i) for i in (needs_it, *others)] == [S.QUEUED, S.RUNNING, S.RUNNING, S.QUEUED]
    assert reason_of(world, needs_it).code is ReasonCode.NODES_AWAY
    assert reason_of(world, others[2]).code is ReasonCode.NO_RESOURCES, "it is the first that finds no room"
    leave(world, False)
    world.run(10.0, check)
    assert world.state(needs_it) is S.RUNNING
    entries = world.store.journal(0, 1000)
    told = [event_of(e.kind, e.at_s, e.cause_id, e.data) for e in entries if e.execution_id == needs_it]
    assert spans(told, world.clock.now_s())[-1].cause is WaitCause.NODES_AWAY


def test_a_node_reserved_for_a_tenant_is_that_tenants_whoever_comes_first() -> None:
    world = World([LARGE], behave=lambda _: ServiceBehaviour(run_s=50.0))
    reserved(world, True)
    world.tick()
    first = world.submit(application(component("c", 1, 1, cores=1)), tenant="red")
    own = world.submit(application(component("c", 1, 1, cores=16)), tenant="physics")
    world.run(10.0, check)
    assert (world.state(first), world.state(own)) == (S.QUEUED, S.RUNNING)


def test_execution_waiting_for_its_node_goes_before_later_ones() -> None:
    """A core on both nodes: others start while one is away, and no later one starts once it is back."""
    world = World([LARGE, SMALL], behave=lambda _: ServiceBehaviour(run_s=50.0))
    world.store.set_policy(Policy(order="fifo"), 0, world.clock.now_s(), "admin")
    down(world, True)
    world.tick()
    both = world.submit(application(component("c", 5, 5, cores=4)))
    meanwhile = world.submit(application(component("c", 1, 1, cores=1)))
    world.run(10.0, check)
    down(world, False)
    later = world.submit(application(component("c", 1, 1, cores=1)))
    world.run(10.0, check)
    assert [world.state(i) for i in (both, meanwhile, later)] == [S.QUEUED, S.RUNNING, S.QUEUED]
    assert reason_of(world, both).code is ReasonCode.NO_RESOURCES
    world.run(40.0, check)
    assert [world.state(i) for i in (both, meanwhile, later)] == [S.RUNNING, S.SUCCEEDED, S.QUEUED]


def test_work_runs_between_two_windows_of_a_node_and_in_neither() -> None:
    world = World([LARGE], behave=lambda _: ServiceBehaviour(run_s=50.0))
    begin_s = world.clock.now_s()
    windows = (NodeHold(since_s=begin_s, until_s=begin_s + 100), NodeHold(since_s=begin_s + 200, until_s=begin_s + 300))
    world.store.set_policy(Policy(node_windows={"large": windows}), 0, begin_s, "admin")
    world.tick()
    kinds = [application(component("c", 1, 1, cores=16), expected_run_s=run_s) for run_s in (50.0, 150.0)]
    # By its own name, so that what the short one took says nothing of the long one.
    short, long = (world.submit(replace(kind, name=name)) for kind, name in zip(kinds, ("short", "long"), strict=True))
    waiting, running = S.QUEUED, S.RUNNING
    for at_s, states in ((90, [waiting, waiting]), (110, [running, waiting]), (290, [S.SUCCEEDED, waiting])):
        world.run(begin_s + at_s - world.clock.now_s(), check)
        assert [world.state(i) for i in (short, long)] == states, at_s
    world.run(begin_s + 310 - world.clock.now_s(), check)
    assert world.state(long) is running
