"""Several executions of one tenant want bandwidth: the preference of one costs another nothing of its requirement."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lab.faults.late import Lateness, LateStorage
from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.base import StorageController
from storage_bridge.model import BandwidthSlo
from tests.simulation.test_storage import kinds, of_kind, slos, wants
from tests.simulation.world import World, node
from tests.support.limited_controller import SAYS, Limited
from zoe_lib.domain.executions.execution import ExecutionState, Mark
from zoe_lib.domain.executions.promises import refusal_reason
from zoe_lib.domain.values.storage import Guarantee
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.storage.reconciler import StorageReconciler

MB = 1_000_000
CAPACITY = Capacity(500 * MB, {"disk": 500 * MB})
PREFERRED = Guarantee.PREFERRED


def limited(most: int, silent: bool = False, run_s: float = 100.0) -> tuple[World, Limited]:
    controller = Limited(CAPACITY, most * MB, silent)
    return World([node("n1")], behave=lambda _: ServiceBehaviour(run_s=run_s), controller=controller), controller


def in_force(one: World) -> int:
    return (slos(one).get("default", BandwidthSlo()).read_bytes_per_s or 0) // MB


@pytest.mark.parametrize("silent", [False, True], ids=["refused", "unanswered"])
@pytest.mark.parametrize("preferred_first", [False, True])
def test_failed_preference_costs_no_required_bandwidth(silent: bool, preferred_first: bool) -> None:
    one, _ = limited(100, silent)
    wishes = [wants(60), wants(50, PREFERRED)]
    ids = [one.submit(wish) for wish in (reversed(wishes) if preferred_first else wishes)]
    requires, prefers = reversed(ids) if preferred_first else ids
    one.tick()
    assert Mark.STORAGE_GRANTED in one.get(requires).marks
    assert in_force(one) == 60
    one.run(5.0)
    assert {one.state(requires), one.state(prefers)} == {ExecutionState.RUNNING}
    assert one.get(requires).storage_problem == ""
    [told] = of_kind(one, prefers, "storage_declined")
    assert told["why"] == ("the storage controller does not answer" if silent else SAYS)
    one.run(200.0)
    assert {one.state(requires), one.state(prefers)} == {ExecutionState.SUCCEEDED}
    assert "storage_refused" not in kinds(one, requires)
    assert slos(one) == {}


def test_granted_bandwidth_survives_declined_wishes_and_restarts() -> None:
    one, controller = limited(100)
    ids = [one.submit(wish) for wish in (wants(40), wants(70, PREFERRED), wants(30, PREFERRED), wants(31, PREFERRED))]
    one.tick()
    assert [Mark.STORAGE_GRANTED in one.get(e).marks for e in ids] == [True, False, True, False]
    assert [one.get(e).storage_problem for e in ids] == ["", SAYS, "", SAYS]
    assert in_force(one) == 70
    controller.most = 110 * MB  # for what came first and was declined, if nothing were granted
    for _ in range(3):
        one.restart()
        one.run(5.0)
    assert in_force(one) == 101, "granted ones come first, then all that fit beside them"
    assert controller.lowered == 0


def test_one_that_requires_too_much_holds_up_no_other_that_requires_some() -> None:
    one, controller = limited(100)
    large, small = one.submit(wants(120)), one.submit(wants(60))
    one.tick()
    assert one.get(small).services[0].state.value != "created"
    waiting = refusal_reason(one.get(large))
    assert waiting is not None
    assert waiting.sentence.endswith(SAYS)
    assert refusal_reason(one.get(small)) is None
    controller.most = 200 * MB
    one.run(300.0)
    assert {one.state(large), one.state(small)} == {ExecutionState.SUCCEEDED}


def test_one_that_requires_bandwidth_comes_before_what_others_of_its_tenant_prefer_and_have() -> None:
    one, _ = limited(100)
    prefers = one.submit(wants(70, PREFERRED))
    one.run(5.0)
    assert in_force(one) == 70
    requires = one.submit(wants(60))
    one.tick()
    assert Mark.STORAGE_GRANTED in one.get(requires).marks
    assert in_force(one) == 60
    assert one.state(prefers) is ExecutionState.RUNNING


def test_of_equal_wishes_that_are_refused_one_is_asked_for() -> None:
    one, controller = limited(100)
    one.submit(wants(60))
    for _ in range(5):
        one.submit(wants(50, PREFERRED))
    one.tick()
    controller.asked.clear()
    one.master.tick()
    looks = controller.asked.count(310 * MB)
    assert controller.asked == [310 * MB, 110 * MB] * looks


class Slow(World):
    """Every look at the controller takes two seconds."""

    def keeper_of(self, controller: StorageController) -> StorageReconciler:
        self.answers: list[Callable[[], None]] = []
        lateness = Lateness(self.clock, lambda _, do: self.answers.append(do))
        lateness.takes_s = 2.0
        return LateStorage(controller, lateness, self.waker)

    def answer(self) -> None:
        self.clock.advance(2.0)
        answers, self.answers = self.answers, []
        for do in answers:
            do()
        self.tick()


def test_a_new_master_that_knows_nothing_yet_takes_nothing_back() -> None:
    controller = Limited(CAPACITY, 100 * MB)
    one = Slow([node("n1")], behave=lambda _: ServiceBehaviour(ready_s=600.0, run_s=600.0), controller=controller)
    one.tick()
    one.answer()  # the supply is known
    requires, prefers = one.submit(wants(40)), one.submit(wants(30, PREFERRED))
    one.tick()
    for _ in range(3):
        one.answer()
    assert all(Mark.STORAGE_GRANTED in one.get(e).marks for e in (requires, prefers))
    one.restart()
    one.tick()
    for _ in range(3):
        one.answer()
    assert (in_force(one), controller.lowered) == (70, 0)
