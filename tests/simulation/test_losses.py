"""Losses of hours, and of two parts at once: what goes on afterwards is as before."""

from __future__ import annotations

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo
from storage_bridge.simulated import SimulatedController
from tests.simulation.world import World, application, check_invariants, component, node
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.use import DAY_S
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.state.crash_points import CrashPoint

MB = 1_000_000
HOUR_S = 3600.0
RUNS_S = {"short": 10.0, "day": DAY_S}


def behave(start: ServiceStart) -> ServiceBehaviour:
    return ServiceBehaviour(run_s=RUNS_S[start.component.name])


def world_of(*nodes: str, controller: SimulatedController | None = None) -> World:
    return World([node(name, cores=2) for name in nodes], behave, controller=controller)


def store() -> SimulatedController:
    return SimulatedController(Capacity(100 * MB, {"disk": 100 * MB}))


def runs(name: str, cores: int = 1) -> Application:
    return application(component(name, 1, 1, cores=cores))


def reads(megabytes: int) -> Application:
    demand = StorageDemand(bandwidth=Bandwidth(megabytes * MB, None, Guarantee.REQUIRED))
    return application(component("day", 1, 1), storage=demand)


def test_an_hour_without_the_database_costs_its_time_and_nothing_else() -> None:
    """Nobody reads or writes meanwhile: the master waits, and services go on."""
    world = world_of("n1")
    short, day, queued = (world.submit(runs(name)) for name in ("short", "day", "short"))
    world.run(2.0)
    assert [world.state(one) for one in (short, day, queued)] == ["running", "running", "queued"]
    world.clock.advance(HOUR_S)
    world.restart()
    world.run(30.0, check_invariants)
    (service,) = world.get(short).services
    assert service.started_at_s is not None
    assert service.ended_at_s == pytest.approx(service.started_at_s + 10.0), "its end is told as it was"
    assert [world.state(one) for one in (short, day, queued)] == ["succeeded", "running", "succeeded"]
    assert world.get(day).attempt == 1
    used = world.store.daily_use(0, 1, None)
    assert sum(use.core_s for use in used.values()) == pytest.approx(20.0), "no second of the hour is charged"
    assert world.store.counts()[ExecutionState.SUCCEEDED] == 2
    # Afterwards an admin goes on: sums, retention and new work are as before.
    while world.store.sum_up():
        pass
    before = world.store.daily_use(0, 1, None)
    later = world.submit(runs("short"))
    world.run(30.0, check_invariants)
    assert world.state(later) is ExecutionState.SUCCEEDED
    while world.store.prune(world.clock.now_s() + 365 * DAY_S):
        pass
    after = world.store.daily_use(0, 1, None)
    assert sum(use.core_s for use in after.values()) == pytest.approx(sum(u.core_s for u in before.values()) + 10.0)
    assert world.state(day) is ExecutionState.RUNNING


def test_a_node_that_is_lost_during_that_hour_costs_no_retries() -> None:
    world = world_of("n1", "n2")
    both = [world.submit(runs("day", cores=2)) for _ in range(2)]
    world.run(2.0)
    lost = next(one for one in both if world.get(one).services[0].node == "n2")
    world.clock.advance(HOUR_S)
    world.backend.lose_node("n2")
    world.restart()
    world.run(30.0, check_invariants)
    assert [world.state(one) for one in both if one != lost] == ["running"]
    assert world.state(lost) is ExecutionState.QUEUED
    world.backend.set_node(node("n2", cores=2))
    world.run(60.0, check_invariants)
    assert (world.state(lost), world.get(lost).attempt) == (ExecutionState.RUNNING, 2)


@pytest.mark.parametrize("alive", [True, False])
def test_master_and_store_at_once(alive: bool) -> None:
    """The controller is away, or says that the store moves nothing; the next master keeps what is in force."""
    controller = store()
    world = world_of("n1", controller=controller)
    running = world.submit(reads(60))
    world.run(2.0)
    controller.down, controller.store_away = not alive, "no proxy of the object store answers" * alive
    world.restart()
    waiting = world.submit(reads(10))
    world.run(30.0, check_invariants)
    reason = world.get(waiting).reason
    assert reason is not None
    assert reason.code is ReasonCode.STORAGE_BANDWIDTH
    assert world.state(running) is ExecutionState.RUNNING
    assert controller.in_force == {"default": BandwidthSlo(60 * MB)}
    controller.down, controller.store_away = False, ""
    world.run(30.0, check_invariants)
    assert world.state(waiting) is ExecutionState.RUNNING
    assert controller.in_force == {"default": BandwidthSlo(70 * MB)}


def test_node_and_storage_controller_at_once() -> None:
    """What the node ran waits for the controller, and needs no other help."""
    controller = store()
    world = world_of("n1", "n2", controller=controller)
    one = world.submit(reads(60))
    world.run(2.0)
    controller.down = True
    world.backend.lose_node(str(world.get(one).services[0].node))
    world.run(60.0, check_invariants)
    assert world.state(one) in (ExecutionState.QUEUED, ExecutionState.STARTING)
    controller.down = False
    world.run(60.0, check_invariants)
    assert (world.state(one), world.get(one).attempt) == (ExecutionState.RUNNING, 2)
    assert controller.in_force == {"default": BandwidthSlo(60 * MB)}


@pytest.mark.parametrize("step", [CrashPoint.OBSERVED, CrashPoint.OBSERVATIONS_KEPT, CrashPoint.ENDED])
def test_master_and_node_at_once(step: CrashPoint) -> None:
    world = world_of("n1", "n2")
    both = [world.submit(runs("day", cores=2)) for _ in range(2)]
    world.run(2.0)
    lost = next(one for one in both if world.get(one).services[0].node == "n2")
    world.backend.lose_node("n2")
    world.crash_once_at(step)
    world.run(30.0, check_invariants)
    world.backend.set_node(node("n2", cores=2))
    world.run(60.0, check_invariants)
    assert [world.state(one) for one in both] == ["running", "running"]
    assert world.get(lost).attempt == 2
