"""A storage controller that answers late, in simulated time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from lab.faults.late import Lateness, LateStorage
from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.simulated import SimulatedController
from tests.support.promises import required_by
from zoe_lib.domain.executions.promises import BandwidthGuarantee, Rates
from zoe_master.backends.simulated import SimulatedClock
from zoe_master.storage.slo_reconciler import DesiredSlos
from zoe_master.waker import TickWaker

FIRST, SECOND = required_by({"a": Rates(10)}), required_by({"a": Rates(20)})


class Setting:
    def __init__(self) -> None:
        self.clock = SimulatedClock(100.0)
        self.order = itertools.count()
        self.due: list[tuple[float, int, Callable[[], None]]] = []
        self.controller = SimulatedController(Capacity(100, {"disk": 100}))
        self.lateness = Lateness(self.clock, self.after)
        self.waker = TickWaker()
        self.keeper = LateStorage(self.controller, self.lateness, self.waker)

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        heapq.heappush(self.due, (self.clock.now_s() + seconds, next(self.order), do))

    def never_crash(self, seconds: float) -> None:
        until_s = self.clock.now_s() + seconds
        while self.due and self.due[0][0] <= until_s:
            at_s, _, do = heapq.heappop(self.due)
            self.clock.advance(at_s - self.clock.now_s())
            do()
        self.clock.advance(until_s - self.clock.now_s())


def test_a_controller_that_is_quick_is_as_wanted_at_once() -> None:
    setting = Setting()
    setting.keeper.set_desired(FIRST)
    assert setting.keeper.last_state().held == {"a"}
    assert not setting.due


def test_late_answer_counts_only_for_the_wish_it_was_asked_for() -> None:
    setting = Setting()
    setting.lateness.takes_s = 3.0
    setting.keeper.set_desired(FIRST)
    assert not setting.keeper.last_state().was_polled
    setting.never_crash(2.0)
    setting.keeper.set_desired(SECOND)
    assert not setting.keeper.last_state().held
    setting.never_crash(1.0)
    assert setting.waker.wait(0), "an answer wakes the master"
    assert setting.keeper.last_state().was_polled
    assert not setting.keeper.last_state().held, "of one for whom something else is wanted by now, nothing counts"
    setting.never_crash(3.0)
    assert setting.keeper.last_state().held == {"a"}


def test_a_missing_slo_counts_only_after_a_poll_with_the_new_request() -> None:
    setting = Setting()
    setting.lateness.takes_s = 3.0
    setting.keeper.set_desired(FIRST)
    setting.never_crash(1.0)
    without = DesiredSlos(withheld=frozenset({"a"}))
    setting.keeper.set_desired(without)
    setting.never_crash(2.0)
    assert setting.keeper.last_state().was_polled
    assert not setting.keeper.last_state().missing, "the look that ended was begun before"
    setting.never_crash(3.0)
    assert setting.keeper.last_state().missing == {"a"}
    setting.keeper.set_desired(FIRST)
    assert not setting.keeper.last_state().missing, "something else is wanted by now"


def test_required_bandwidth_does_not_wait_for_a_look_of_preferred_wishes() -> None:
    setting = Setting()
    setting.lateness.takes_s = 3.0
    others = tuple(BandwidthGuarantee(f"p{number}", "a", Rates(5), False) for number in range(4))
    for number in range(1, 5):
        setting.keeper.set_desired(DesiredSlos(FIRST.promises + others[: number - 1]))
        setting.never_crash(1.0)
    assert setting.keeper.last_state().held == {"a"}, "as the look found that was begun when it was alone"
    setting.never_crash(2.0)
    assert setting.keeper.last_state().held == {"a", "p0", "p1"}
    setting.never_crash(3.0)
    assert setting.keeper.last_state().held == {"a", "p0", "p1", "p2"}


def test_an_answer_that_comes_too_late_is_none_and_the_question_is_put_again() -> None:
    setting = Setting()
    setting.lateness.takes_s = Lateness.timeout_s + 1
    setting.keeper.set_desired(FIRST)
    setting.never_crash(Lateness.timeout_s)
    assert setting.keeper.last_state().supply.problem
    assert not setting.keeper.last_state().held
    assert setting.controller.in_force, "it was done all the same"
    setting.lateness.takes_s = 1.0
    setting.never_crash(10.0)
    assert setting.keeper.last_state().held == {"a"}


def test_of_a_master_that_died_nothing_comes_any_more() -> None:
    setting = Setting()
    setting.lateness.takes_s = 1.0
    setting.keeper.set_desired(FIRST)
    setting.keeper.close()
    setting.never_crash(5.0)
    assert not setting.controller.in_force
