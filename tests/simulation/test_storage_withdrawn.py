"""Withdrawn bandwidth: its user is notified once, and it counts for the time of the grant."""

from __future__ import annotations

import pytest

from lab.invariants.journal import Journal
from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.simulated import SimulatedController
from tests.simulation.test_storage import MB, check_promises, kinds, of_kind, wants, world
from tests.simulation.test_storage_of_a_tenant import PREFERRED, Slow, in_force, limited
from tests.simulation.world import World, node
from tests.support.limited_controller import SAYS, Limited
from zoe_lib.domain.executions.execution import ExecutionState, Mark
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.state.crash_points import CrashPoint

TO_OTHERS = "the store cannot guarantee that much at present"
GRANTED, WITHDRAWN = "storage_granted", "storage_withdrawn"


def busy() -> World:
    """Everything runs for long."""
    return world(behave=lambda _: ServiceBehaviour(run_s=1000.0))


def told(one: World, execution_id: str) -> list[str]:
    """Return its messages about bandwidth, in sequence."""
    return [kind for kind in kinds(one, execution_id) if kind.startswith("storage_")]


def metered(one: World) -> float:
    """Bytes that the store was bound to move for all together."""
    return sum(use.store_bytes for use in one.store.daily_use(0, 0, one.clock.now_s()).values())


def test_one_that_prefers_bandwidth_is_told_when_it_gives_way_and_when_it_has_it_again() -> None:
    one = busy()
    journal = Journal(one.store)
    prefers = one.submit(wants(70, PREFERRED))
    one.run(10.0)
    requires = one.submit(wants(60))
    one.run(20.0, check_promises)
    [withdrawn] = of_kind(one, prefers, WITHDRAWN)
    assert (withdrawn["read_bytes_per_s"], withdrawn["why"]) == (70 * MB, TO_OTHERS)
    execution = one.get(prefers)
    assert execution.state is ExecutionState.RUNNING
    assert Mark.STORAGE_GRANTED not in execution.marks
    assert execution.storage_problem == TO_OTHERS
    assert metered(one) == 70 * MB * 10 + 60 * MB * 20
    one.cancel(requires)
    one.run(30.0, check_promises)
    assert told(one, prefers) == [GRANTED, WITHDRAWN, GRANTED]
    assert one.get(prefers).storage_problem == ""
    assert metered(one) == 70 * MB * (10 + 30) + 60 * MB * 20
    one.cancel(prefers)
    one.run(50.0)
    assert one.get(prefers).terminal
    assert metered(one) == 70 * MB * (10 + 30) + 60 * MB * 20
    one.store.prune(one.clock.now_s() + 1.0)
    assert metered(one) == 70 * MB * (10 + 30) + 60 * MB * 20, "removed executions count, too"
    assert list(journal.problems(one.store.active())) == []


def test_one_whose_tenant_gets_no_more_is_told_what_the_controller_says() -> None:
    one, _ = limited(100)
    prefers = one.submit(wants(70, PREFERRED))
    one.run(5.0)
    requires = one.submit(wants(60))
    one.run(20.0)
    assert told(one, requires) == [GRANTED]
    assert told(one, prefers) == [GRANTED, WITHDRAWN]
    assert one.get(prefers).storage_problem == SAYS
    one.cancel(requires)
    one.run(5.0)
    assert told(one, prefers) == [GRANTED, WITHDRAWN, GRANTED]
    assert in_force(one) == 70


def test_on_an_unchanged_situation_nobody_is_told_twice() -> None:
    """Also where the rest is enough for another that prefers some, and waited for it."""
    one = busy()
    large, small, least = (one.submit(wants(read, PREFERRED)) for read in (70, 30, 10))
    one.run(5.0)
    one.submit(wants(65))
    for _ in range(3):
        one.run(30.0, check_promises)
        one.restart()
    assert [told(one, e) for e in (large, small)] == [[GRANTED, WITHDRAWN], [GRANTED]]
    assert told(one, least) == ["storage_declined"]
    assert in_force(one) == 95


def test_a_controller_that_is_away_takes_nothing_back() -> None:
    one = busy()
    assert isinstance(one.controller, SimulatedController)
    granted = [one.submit(wants(50)), one.submit(wants(40, PREFERRED))]
    one.run(5.0)
    one.controller.down = True
    one.submit(wants(60))
    one.run(10.0)
    one.restart()
    one.run(10.0)
    one.controller.down = False
    one.run(10.0)
    assert [told(one, e) for e in granted] == [[GRANTED], [GRANTED]]
    assert metered(one) == 90 * MB * 35


def test_no_withdrawal_before_the_first_look_or_after_the_wish() -> None:
    controller = SimulatedController(Capacity(100 * MB, {"disk": 100 * MB}))
    one = Slow([node("n1")], behave=lambda _: ServiceBehaviour(ready_s=1.0, run_s=600.0), controller=controller)
    one.tick()
    one.answer()  # the supply is known
    prefers = one.submit(wants(70, PREFERRED))
    for _ in range(3):
        one.tick()
        one.answer()
    assert told(one, prefers) == [GRANTED]
    fickle = one.submit(wants(60))
    one.tick()
    one.cancel(fickle)
    for _ in range(3):
        one.tick()
        one.answer()
    assert told(one, prefers) == [GRANTED]
    requires = one.submit(wants(60))
    one.tick()
    one.tick()
    assert told(one, prefers) == [GRANTED]
    for _ in range(3):
        one.answer()
    assert told(one, prefers) == [GRANTED, WITHDRAWN]
    assert told(one, requires) == [GRANTED]


@pytest.mark.parametrize(
    "step", [CrashPoint.START_PLANNED, CrashPoint.SLO_SET, CrashPoint.STORAGE_SYNCED, CrashPoint.SERVICE_STARTING]
)
def test_a_master_that_dies_anywhere_tells_it_once(step: CrashPoint) -> None:
    one = busy()
    prefers = one.submit(wants(70, PREFERRED))
    one.run(5.0)
    one.submit(wants(60))
    one.crash_once_at(step)
    one.tick()
    one.restart()
    one.run(5.0, check_promises)
    assert told(one, prefers) == [GRANTED, WITHDRAWN]
    assert in_force(one) == 60


def test_grant_is_not_withdrawn_for_an_unanswered_preference() -> None:
    one, controller = limited(100, silent=True)
    prefers = one.submit(wants(40, PREFERRED))
    one.run(5.0)
    late = one.submit(wants(70, PREFERRED))
    one.run(5.0)
    assert told(one, prefers) == [GRANTED]
    assert told(one, late) == ["storage_declined"]
    controller.most = 200 * MB
    one.run(5.0)
    assert told(one, late) == ["storage_declined", GRANTED]


def test_one_that_requires_what_its_controller_loses_and_refuses_is_told_and_goes_on() -> None:
    one, controller = limited(100)
    requires = one.submit(wants(60))
    one.run(5.0)
    forget(controller)
    one.run(50.0)
    execution = one.get(requires)
    assert execution.state is ExecutionState.RUNNING
    assert execution.storage_problem == SAYS
    assert told(one, requires) == [GRANTED, WITHDRAWN]
    controller.most = 100 * MB
    one.run(5.0)
    assert told(one, requires) == [GRANTED, WITHDRAWN, GRANTED]
    one.run(100.0)
    assert one.state(requires) is ExecutionState.SUCCEEDED
    assert metered(one) == 60 * MB * (5 + 45)


def forget(controller: Limited) -> None:
    """As one that was restarted with another limit and none of its SLOs."""
    controller.clear_slo("default")
    controller.most = 0
