"""The storage controller is asked before anything is launched, and is kept equal to the running executions, with
crashes at any point.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo, StorageCapacity, StorageRefusedError, StorageUnavailableError
from storage_bridge.simulated import SimulatedController
from tests.simulation.world import World, application, check_invariants, component, node
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution, ExecutionState, Mark, ServiceState
from zoe_lib.domain.executions.promises import refusal_reason, requested_rates, required_rates
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.state.crash_points import CrashPoint

MB = 1_000_000
CAPACITY = Capacity(100 * MB, {"disk": 100 * MB})


def world(**more: object) -> World:
    controller = SimulatedController(CAPACITY)
    return World([node("n1"), node("n2")], controller=controller, **more)  # type: ignore[arg-type]


def wants(megabytes: int, guarantee: Guarantee = Guarantee.REQUIRED, **more: object) -> Application:
    demand = StorageDemand(bandwidth=Bandwidth(megabytes * MB, None, guarantee))
    return application(component("c", 1, 1), storage=demand, **more)


def slos(one: World) -> dict[str, BandwidthSlo]:
    assert isinstance(one.controller, SimulatedController)
    down, one.controller.down = one.controller.down, False
    found = dict(one.controller.slos())
    one.controller.down = down
    return found


def kinds(one: World, execution_id: str) -> list[str]:
    return [entry.kind for entry in one.store.journal(0, 1000, execution_id=execution_id)]


def of_kind(one: World, execution_id: str, kind: str) -> list[Mapping[str, Any]]:
    return [entry.data for entry in one.store.journal(0, 1000, execution_id=execution_id) if entry.kind == kind]


def test_the_promise_is_in_force_before_anything_starts_and_is_gone_at_the_end() -> None:
    one = world()
    execution_id = one.submit(wants(60))
    one.tick()
    assert slos(one) == {"default": BandwidthSlo(60 * MB)}
    told = kinds(one, execution_id)
    assert told.index("start_planned") < told.index("storage_granted") < told.index("service_starting")
    assert Mark.STORAGE_GRANTED in one.get(execution_id).marks
    one.run(60.0)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED
    assert slos(one) == {}


def test_the_second_waits_for_the_first_and_a_third_without_a_wish_does_not() -> None:
    one = world()
    first, second, third = one.submit(wants(60)), one.submit(wants(50)), one.submit(application(component("c", 1, 1)))
    one.tick()
    assert one.state(second) is ExecutionState.QUEUED
    reason = one.get(second).reason
    assert reason is not None
    assert reason.code is ReasonCode.STORAGE_BANDWIDTH
    assert one.state(third) is not ExecutionState.QUEUED
    one.run(60.0)
    assert {one.state(e) for e in (first, second, third)} == {ExecutionState.SUCCEEDED}


def test_a_dead_store_keeps_its_guarantees_takes_no_new_ones_and_goes_on_when_it_is_back() -> None:
    """Its controller answers, and says that the store moves nothing."""
    one = World([node("n1")], behave=lambda _: ServiceBehaviour(run_s=60.0), controller=SimulatedController(CAPACITY))
    assert isinstance(one.controller, SimulatedController)
    running = one.submit(wants(60))
    one.run(5.0)
    one.controller.store_away = "no proxy of the object store answers"
    waiting = one.submit(wants(10))
    one.run(5.0)
    reason = one.get(waiting).reason
    assert reason is not None
    assert (reason.code, one.state(waiting)) == (ReasonCode.STORAGE_BANDWIDTH, ExecutionState.QUEUED)
    assert "no proxy of the object store answers" in reason.sentence
    assert "storage_withdrawn" not in kinds(one, running)
    assert slos(one) == {"default": BandwidthSlo(60 * MB)}
    one.controller.store_away = ""
    one.run(5.0)
    assert one.state(waiting) is ExecutionState.RUNNING
    one.run(120.0)
    assert {one.state(running), one.state(waiting)} == {ExecutionState.SUCCEEDED}


def test_elastic_services_take_spare_bandwidth_only() -> None:
    """They come while nothing is left to promise, add nothing to the promises, and go without changing them."""
    controller = Counted(CAPACITY)
    one = World([node("n1", cores=4)], behave=lambda _: ServiceBehaviour(run_s=600.0), controller=controller)
    demand = StorageDemand(bandwidth=Bandwidth(100 * MB, None, Guarantee.REQUIRED))
    first = one.submit(application(component("c", 1, 4), storage=demand))
    one.run(5.0)
    assert len([s for s in one.get(first).services if s.state is ServiceState.READY]) == 4
    assert slos(one) == {"default": BandwidthSlo(100 * MB)}
    core = one.submit(application(component("c", 2, 2)))  # two elastic ones make room
    one.run(30.0)
    assert one.state(core) is ExecutionState.RUNNING
    assert sum(not s.core and s.alive and s.node is not None for s in one.get(first).services) == 1
    one.cancel(core)
    one.run(30.0)
    assert sum(not s.core and s.alive and s.node is not None for s in one.get(first).services) == 3
    assert controller.asked == [BandwidthSlo(100 * MB)]
    waits = one.submit(application(component("c", 1, 1), storage=demand))
    one.run(5.0)
    reason = one.get(waits).reason
    assert reason is not None
    assert reason.code is ReasonCode.STORAGE_BANDWIDTH


def test_preferred_bandwidth_is_granted_or_declined_at_the_start() -> None:
    one = world()
    one.submit(wants(60))
    lucky, unlucky = one.submit(wants(40, Guarantee.PREFERRED)), one.submit(wants(10, Guarantee.PREFERRED))
    one.tick()
    assert slos(one) == {"default": BandwidthSlo(100 * MB)}
    assert "storage_granted" in kinds(one, lucky)
    assert "storage_declined" in kinds(one, unlucky)
    assert one.state(unlucky) is not ExecutionState.QUEUED
    one.run(5.0)
    assert kinds(one, unlucky).count("storage_declined") == 1


def test_a_controller_that_is_away_lets_nothing_start_that_requires_it_and_holds_up_nobody_else() -> None:
    one = world()
    assert isinstance(one.controller, SimulatedController)
    one.controller.down = True
    waits, other = one.submit(wants(1)), one.submit(wants(1, Guarantee.PREFERRED))
    one.run(60.0)
    reason = one.get(waits).reason
    assert reason is not None
    assert "cannot be reached" in reason.sentence
    assert one.state(other) is ExecutionState.SUCCEEDED
    one.controller.down = False
    one.run(60.0)
    assert one.state(waits) is ExecutionState.SUCCEEDED


def test_one_whose_controller_goes_away_after_the_plan_starts_nothing_until_it_is_back() -> None:
    one = world()
    controller = Fading(CAPACITY)
    one.controller = controller
    one.restart()
    execution_id = one.submit(wants(50))
    controller.refuse_slos = True
    one.tick()
    one.run(5.0)
    execution = one.get(execution_id)
    assert execution.state is ExecutionState.STARTING
    assert {s.state for s in execution.services} == {ServiceState.CREATED}
    controller.refuse_slos = False
    one.run(60.0)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED


def test_one_that_requires_what_the_controller_refuses_waits_with_its_sentence() -> None:
    one, controller = refusing()
    execution_id = one.submit(wants(50))
    one.tick()
    one.run(5.0)
    execution = one.get(execution_id)
    assert {s.state for s in execution.services} == {ServiceState.CREATED}
    reason = refusal_reason(execution)
    assert reason is not None
    assert reason.sentence.endswith("unknown tenant")
    one.run(25.5)  # until its patience is over and it pauses
    execution = one.get(execution_id)
    assert (execution.state, execution.reason) == (ExecutionState.QUEUED, reason)
    [told] = of_kind(one, execution_id, "storage_refused")
    assert told["why"] == "unknown tenant"
    [stopping] = of_kind(one, execution_id, "stopping")
    assert stopping["message"].endswith("required bandwidth within 30 s: unknown tenant")
    one.run(60.0)
    assert len(of_kind(one, execution_id, "storage_refused")) == one.get(execution_id).attempt > 1
    controller.says = ""
    one.run(120.0)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED
    assert one.get(execution_id).storage_problem == ""


def test_one_that_started_without_what_it_prefers_gets_it_when_the_controller_answers() -> None:
    """So that starting at once decides nothing for the rest of its time."""
    one = world(behave=lambda _: ServiceBehaviour(run_s=60.0))
    assert isinstance(one.controller, SimulatedController)
    one.controller.down = True
    execution_id = one.submit(wants(50, Guarantee.PREFERRED))
    one.run(3.0)
    assert one.get(execution_id).storage_problem == "the storage controller cannot be reached"
    one.controller.down = False
    one.run(3.0)
    assert one.get(execution_id).storage_problem == ""
    assert slos(one) == {"default": BandwidthSlo(50 * MB)}


@pytest.mark.parametrize("ready_s", [0.0, 3.0])
def test_one_that_prefers_what_the_controller_refuses_starts_without_and_has_its_sentence(ready_s: float) -> None:
    one, _ = refusing(behave=lambda _: ServiceBehaviour(ready_s=ready_s, run_s=10.0))
    execution_id = one.submit(wants(50, Guarantee.PREFERRED))
    one.run(5.0)
    execution = one.get(execution_id)
    assert execution.state is ExecutionState.RUNNING
    assert execution.storage_problem == "unknown tenant"
    one.run(60.0)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED
    [told] = of_kind(one, execution_id, "storage_declined")
    assert (told["why"], told["read_bytes_per_s"]) == ("unknown tenant", 50 * MB)


def test_one_that_prefers_what_others_have_or_nobody_can_promise_is_told_that() -> None:
    one = world(behave=lambda _: ServiceBehaviour(run_s=100.0))
    one.submit(wants(60))
    unlucky = one.submit(wants(50, Guarantee.PREFERRED))
    one.tick()
    assert one.get(unlucky).storage_problem == "the store cannot guarantee that much at present"
    assert isinstance(one.controller, SimulatedController)
    one.controller.down = True
    late = one.submit(wants(10, Guarantee.PREFERRED))
    one.tick()
    assert one.get(late).storage_problem == "the storage controller cannot be reached"


def test_a_controller_that_was_away_is_not_told_to_take_back_what_goes_on() -> None:
    one = world(behave=lambda _: ServiceBehaviour(run_s=100.0))
    controller = Faithful(CAPACITY)
    one.controller = controller
    one.restart()
    one.submit(wants(40, Guarantee.PREFERRED))
    one.run(5.0)
    controller.down = True
    late = one.submit(wants(10, Guarantee.PREFERRED))
    one.run(5.0)
    assert "storage_declined" in kinds(one, late)
    controller.down = False
    one.run(5.0)
    assert controller.lowered == []
    assert slos(one) == {"default": BandwidthSlo(50 * MB)}


def test_bandwidth_promised_by_others_is_not_promised_again() -> None:
    one = world()
    controller = Shared(CAPACITY)
    one.controller = controller
    one.restart()
    execution_id = one.submit(wants(60))
    one.tick()
    assert one.state(execution_id) is ExecutionState.QUEUED
    controller.others = 40 * MB
    one.tick()
    assert one.state(execution_id) is not ExecutionState.QUEUED


@pytest.mark.parametrize(
    "step", [CrashPoint.PLANNED, CrashPoint.START_PLANNED, CrashPoint.STORAGE_SYNCED, CrashPoint.SERVICE_STARTING]
)
def test_a_master_that_dies_anywhere_leaves_no_promise_behind(step: CrashPoint) -> None:
    one = world()
    execution_id = one.submit(wants(60))
    one.crash_once_at(step)
    one.tick()
    assert slos(one) == {"default": BandwidthSlo(60 * MB)}
    one.cancel(execution_id)
    one.run(30.0)
    assert slos(one) == {}
    one.restart()
    one.tick()
    assert slos(one) == {}


@pytest.mark.parametrize("seed", range(20))
def test_never_more_is_promised_than_there_is_and_nothing_runs_without_its_promise(seed: int) -> None:
    chance = random.Random(seed)
    one = world(behave=lambda _: ServiceBehaviour(run_s=chance.choice([1.0, 10.0, 30.0])))
    assert isinstance(one.controller, SimulatedController)
    for _ in range(15):
        for _ in range(chance.randint(0, 3)):
            one.submit(wants(chance.randint(1, 80), chance.choice(list(Guarantee)), time_limit_s=60.0))
        if chance.random() < 0.3:
            one.crash_once_at(chance.choice(list(CrashPoint)), chance.randint(1, 3))
        one.controller.down = chance.random() < 0.15
        one.run(chance.choice([0.0, 5.0, 20.0]), check_promises)
    one.controller.down = False
    one.run(3600.0, check_promises)
    assert not one.store.active()
    assert slos(one) == {}


def check_promises(one: World) -> None:
    check_invariants(one)
    active = [e for e in one.store.active() if e.state in ACTIVE_STATES]
    guaranteed = [wish.read for e in active if (wish := required_rates(e.application)) is not None]
    assert sum(guaranteed) <= 100 * MB, "over-committed"
    in_force = slos(one).get("default", BandwidthSlo()).read_bytes_per_s or 0
    assert in_force <= 100 * MB
    assert in_force >= sum(guaranteed_of(e) for e in active), "something runs without its promise"
    assert in_force >= sum(granted_of(e) for e in active), "something is said to be granted that is not"


def guaranteed_of(execution: Execution) -> int:
    wish = required_rates(execution.application)
    runs = any(s.alive and s.state is not ServiceState.CREATED for s in execution.services)
    return wish.read if wish is not None and runs else 0


def granted_of(execution: Execution) -> int:
    wish = requested_rates(execution.application)
    return wish.read if wish is not None and Mark.STORAGE_GRANTED in execution.marks else 0


class Fading(SimulatedController):
    """Answers every question, but takes no SLO while `refuse_slos` is set."""

    refuse_slos = False

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        if self.refuse_slos:
            raise StorageUnavailableError("it was restarted")
        super().set_slo(tenant, slo)


class Refusing(SimulatedController):
    """Refuses every SLO as long as it has something to say."""

    says = "unknown tenant"

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        if self.says:
            raise StorageRefusedError("PUT /somewhere answers 404", self.says)
        super().set_slo(tenant, slo)


def refusing(**more: object) -> tuple[World, Refusing]:
    one, controller = world(**more), Refusing(CAPACITY)
    one.controller = controller
    one.restart()
    return one, controller


class Faithful(SimulatedController):
    """Remembers every promise that was lowered or taken back."""

    def __init__(self, capacity: Capacity) -> None:
        super().__init__(capacity)
        self.lowered: list[str] = []

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        before = self.slos().get(tenant, BandwidthSlo(0)).read_bytes_per_s or 0
        if (slo.read_bytes_per_s or 0) < before:
            self.lowered.append(tenant)
        super().set_slo(tenant, slo)

    def clear_slo(self, tenant: str) -> None:
        self.lowered.append(tenant)
        super().clear_slo(tenant)


class Shared(SimulatedController):
    """Promises something to others, too."""

    others = 50 * MB

    def capacity(self) -> StorageCapacity:
        mine = super().capacity()
        return replace(mine, promised_read_bytes_per_s=mine.promised_read_bytes_per_s + self.others)


class Counted(SimulatedController):
    """Records the requested promises."""

    def __init__(self, capacity: Capacity) -> None:
        super().__init__(capacity)
        self.asked: list[BandwidthSlo] = []

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        self.asked.append(slo)
        super().set_slo(tenant, slo)
