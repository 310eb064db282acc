"""Faults of the original Zoe's scheduler, each as a test of its own: ours must not have them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.world import GIB, World, application, check_invariants, component, node
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Cause, ExecutionState
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour

S = ExecutionState


def starts_of(world: World) -> Counter[str]:
    """How often each slot of each execution was handed over to the back-end."""
    entries = world.store.journal(0, 100_000)
    services = [str(e.data["service_id"]) for e in entries if e.kind == "service_starting"]
    return Counter(service.rpartition(".")[0] for service in services)


def test_no_livelock_where_two_want_the_elastic_room_of_one_node() -> None:
    """1 node of 13 GiB, two executions of 1 core + 2 elastic services of 4 GiB each: the original looped for ever."""
    world = World([node("n", memory_gib=13)], behave=lambda _: ServiceBehaviour(run_s=100.0))
    ids = [world.submit(application(component("c", 1, 3, memory_gib=4))) for _ in range(2)]
    world.run(90.0, check_invariants)
    services = [s for i in ids for s in world.get(i).services]
    assert sum(s.alive and s.node is not None for s in services) == 3
    assert sum(s.cause is Cause.PREEMPTED for s in services) <= 1
    world.run(1000.0, check_invariants)
    assert [world.state(i) for i in ids] == [S.SUCCEEDED, S.SUCCEEDED]
    assert max(starts_of(world).values()) <= 3, "elastic services were taken back and forth"


def test_no_over_commit_from_a_stale_snapshot() -> None:
    """1,000 services had been placed on room for 310."""
    world = World(
        [node(f"n{i}", cores=31, memory_gib=310) for i in range(10)], behave=lambda _: ServiceBehaviour(run_s=1e6)
    )
    for _ in range(100):
        world.submit(application(component("c", 1, 10)))
    world.run(100.0, check_invariants)
    assert sum(s.alive and s.node is not None for e in world.store.active() for s in e.services) == 310


def test_no_storm_of_starts_of_an_elastic_service_that_fails() -> None:
    def behave(start: ServiceStart) -> ServiceBehaviour:
        return ServiceBehaviour(run_s=1.0, exit_code=1) if start.index else ServiceBehaviour(run_s=3600.0)

    world = World([node("n")], behave=behave)
    world.submit(application(component("c", 1, 2)))
    world.run(3000.0, check_invariants)
    policy = world.master.policy
    assert starts_of(world)["e00001.c.1"] == policy.elastic_failures_max


@pytest.mark.parametrize("blocking", ["cannot fit", "asks for no memory"])
def test_the_head_of_the_line_does_not_block_it_for_ever(blocking: str) -> None:
    memory_gib = {"cannot fit": 1000, "asks for no memory": 0}[blocking]
    world = World([node("n")], behave=lambda _: ServiceBehaviour(run_s=10.0))
    first = world.submit(application(component("c", 1, 1, memory_gib=memory_gib)))
    second = world.submit(application(component("c", 1, 1)))
    world.run(100.0, check_invariants)
    assert world.state(second) is S.SUCCEEDED
    assert world.state(first) is (S.SUCCEEDED if memory_gib == 0 else S.QUEUED)


def test_an_exact_fit_is_a_fit() -> None:
    world = World([Node("n", Resources(1000, GIB))], behave=lambda _: ServiceBehaviour(run_s=10.0))
    only = world.submit(application(component("c", 1, 1)))
    world.run(20.0, check_invariants)
    assert world.state(only) is S.SUCCEEDED


def test_cancelled_execution_gets_no_new_services() -> None:
    """A cancelled execution whose services still end gets no new ones, though its elastic ones wait for room."""
    world = World([node("n", cores=2)], behave=lambda _: ServiceBehaviour(run_s=1e6, stop_s=9.0))
    cancelled = world.submit(application(component("c", 1, 4)))
    world.run(1.0, check_invariants)
    before = starts_of(world)
    world.cancel(cancelled)
    world.run(1.0, check_invariants)
    assert world.state(cancelled) is S.STOPPING
    world.run(30.0, check_invariants)
    assert world.state(cancelled) is S.CANCELLED
    assert starts_of(world) == before


def test_a_dead_core_service_is_noticed_while_elastic_ones_wait() -> None:
    def behave(start: ServiceStart) -> ServiceBehaviour:
        return ServiceBehaviour(run_s=5.0, exit_code=3)

    world = World([node("n", cores=1)], behave=behave)
    execution = world.submit(application(component("c", 1, 8)))
    world.run(10.0, check_invariants)
    assert (world.state(execution), world.get(execution).exit_code) == (S.FAILED, 3)


def test_a_cancel_waits_for_no_timer() -> None:
    """It waited up to 60 s for the next trigger: here the very next tick asks the services to end."""
    world = World([node("n")], behave=lambda _: ServiceBehaviour(run_s=1e6))
    execution = world.submit(application(component("c", 1, 1)))
    world.tick()
    began_s = world.clock.now_s()
    world.cancel(execution)
    while world.state(execution) is not S.CANCELLED:
        world.tick()
    assert world.clock.now_s() == began_s
