"""Unused interactive executions get a warning, then are ended, in simulated time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulation.test_history_replay import Recorded
from tests.simulation.world import World, application, component, node
from zoe_lib.domain.applications.application import Application, ApplicationKind, Port, PortProtocol
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_simulator.history_replay.recording import read_recording
from zoe_simulator.history_replay.rerun import Rerun

LAB = (Port("lab", 8888, PortProtocol.HTTP, proxied=True),)
POLICY = Policy(idle_after_s=3600.0, idle_warning_s=600.0)


def world_with(policy: Policy = POLICY) -> World:
    world = World([node("n1")], lambda _: ServiceBehaviour())
    world.store.set_policy(policy, 0, 1.0, "test")
    return world


def notebook(**more: object) -> Application:
    return application(
        component("lab", 1, 1, ports=more.pop("ports", LAB)), kind=more.pop("kind", ApplicationKind.INTERACTIVE)
    )


def kinds(world: World, execution: str) -> list[str]:
    return [entry.kind for entry in world.store.journal(0, 1000, execution_id=execution)]


def test_idle_execution_is_warned_then_ended_with_the_reason() -> None:
    world = world_with()
    execution = world.submit(notebook())
    world.run(3590.0)
    assert "idle_warned" not in kinds(world, execution)
    world.run(20.0)
    warned = world.get(execution).marks[Mark.IDLE_WARNED]
    assert warned == world.get(execution).marks[Mark.READY] + 3600.0
    assert world.state(execution) is ExecutionState.RUNNING
    world.run(600.0)
    ended = world.get(execution)
    assert (ended.state, ended.cause) == (ExecutionState.SUCCEEDED, Cause.IDLE)
    assert ended.marks[Mark.ENDED] >= warned + 600.0
    assert "unused for 4200 s" in ended.message
    assert kinds(world, execution).count("idle_warned") == 1


def test_a_use_counts_from_then_and_takes_a_warning_back() -> None:
    world = world_with()
    execution = world.submit(notebook())
    world.run(3000.0)
    world.store.add_use_of(execution, world.clock.now_s())
    world.run(3000.0)
    assert kinds(world, execution).count("idle_warned") == 0
    world.run(700.0)
    first = world.get(execution).marks[Mark.IDLE_WARNED]
    world.store.add_use_of(execution, world.clock.now_s())
    world.run(3500.0)
    assert world.state(execution) is ExecutionState.RUNNING
    world.run(200.0)
    assert world.get(execution).marks[Mark.IDLE_WARNED] > first
    world.restart()
    world.run(600.0)
    assert world.get(execution).cause is Cause.IDLE


def test_time_before_the_limit_was_switched_on_is_not_idle() -> None:
    """Nobody knows whether it computed before: that was not measured."""
    world = world_with(replace(POLICY, idle_after_s=0.0))
    execution = world.submit(notebook())
    world.run(50_000.0)
    world.store.set_policy(POLICY, 1, world.clock.now_s(), "test")
    world.run(100.0)
    world.restart()
    world.run(3400.0)
    assert "idle_warned" not in kinds(world, execution)
    world.run(800.0)
    assert world.get(execution).cause is Cause.IDLE


@pytest.mark.parametrize("change", ["no policy", "batch", "not proxied"])
def test_others_are_never_ended(change: str) -> None:
    world = world_with(replace(POLICY, idle_after_s=0.0) if change == "no policy" else POLICY)
    ports = (Port("lab", 8888),) if change == "not proxied" else LAB
    kind = ApplicationKind.BATCH if change == "batch" else ApplicationKind.INTERACTIVE
    execution = world.submit(notebook(ports=ports, kind=kind))
    world.run(100_000.0)
    assert world.state(execution) is ExecutionState.RUNNING
    assert "idle_warned" not in kinds(world, execution)


def test_the_policy_may_end_those_whose_use_is_not_seen() -> None:
    world = world_with(replace(POLICY, idle_without_ports=True))
    execution = world.submit(notebook(ports=()))
    world.run(4300.0)
    assert world.get(execution).cause is Cause.IDLE


def test_a_replay_warns_and_ends_as_it_was() -> None:
    world = Recorded([node("n1"), node("n2")], lambda _: ServiceBehaviour())
    world.store.set_policy(POLICY, 0, 1.0, "test")
    first, second, third = (world.submit(notebook()) for _ in range(3))
    for turn in range(8):
        world.run(1000.0)
        if turn == 3:
            world.store.add_use_of(first, world.clock.now_s())
        if turn < 6:
            world.store.add_use_of(second, world.clock.now_s() - 5.0)
    world.run(9000.0)
    assert {world.get(text).cause for text in (first, second, third)} == {Cause.IDLE}
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    again = [(execution, event.kind, event.at_s) for execution, event in Rerun(recording).run()]
    entries = sorted(
        (e for text in (first, second, third) for e in world.store.journal(0, 1000, execution_id=text)),
        key=lambda e: e.id,
    )
    kept = [(e.execution_id, e.kind, e.at_s) for e in entries]
    assert sorted(again, key=str) == sorted(kept, key=str)
    assert sum(kind == "idle_warned" for _, kind, _ in kept) >= 4
