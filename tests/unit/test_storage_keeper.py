"""The keeper's thread: a controller that hangs holds up nobody, and news wake the master."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.promises import Rates
from zoe_master.storage import InlineKeeper, KeeperThread, Wanted
from zoe_master.waker import Waker

WANTED = {"a": Rates(60, 10), "b": Rates(write=5)}
PATIENCE_S = 10.0


class Hanging(SimulatedController):
    """Takes no SLO before it is let go."""

    def __init__(self) -> None:
        super().__init__(Capacity(100, {"disk": 100}))
        self.let_go = threading.Event()

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        assert self.let_go.wait(PATIENCE_S)
        super().set_slo(tenant, slo)


class Reluctant(SimulatedController):
    """Takes no SLO back before it is let go."""

    def __init__(self) -> None:
        super().__init__(Capacity(100, {"disk": 100}))
        self.asked, self.let_go = threading.Event(), threading.Event()

    def clear_slo(self, tenant: str) -> None:
        self.asked.set()
        assert self.let_go.wait(PATIENCE_S)
        super().clear_slo(tenant)


class Broken(SimulatedController):
    """Fails once as only a defect does."""

    failures = 1

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        if self.failures:
            self.failures -= 1
            raise ZeroDivisionError
        super().set_slo(tenant, slo)


def wait_for_slos(keeper: KeeperThread, waker: Waker) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while keeper.seen().slos != WANTED:
        waker.wait(0.1)
        assert time.monotonic() < end_s, keeper.seen()


def test_a_controller_that_hangs_holds_up_nobody_and_what_was_wanted_meanwhile_counts() -> None:
    controller, waker = Hanging(), Waker()
    keeper = KeeperThread(controller, controller, waker, interval_s=60.0)
    try:
        keeper.want(Wanted({"stale": Rates(1, 1)}))
        keeper.want(Wanted(WANTED))
        assert keeper.seen().slos != WANTED
        controller.let_go.set()
        wait_for_slos(keeper, waker)
        assert keeper.seen().supply.rates == Rates(100, 100)
    finally:
        controller.let_go.set()
        keeper.close()


def test_a_defect_is_told_as_a_problem_and_tried_again() -> None:
    controller, waker = Broken(Capacity(100, {"disk": 100})), Waker()
    keeper = KeeperThread(controller, controller, waker, interval_s=0.05)
    try:
        keeper.want(Wanted(WANTED))
        wait_for_slos(keeper, waker)
        assert controller.failures == 0
    finally:
        keeper.close()


def test_before_anything_is_wanted_nothing_of_what_is_there_is_touched() -> None:
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    controller.set_slo("a", BandwidthSlo(30))
    keeper = InlineKeeper(controller)
    assert keeper.seen().slos == {"a": Rates(30)}
    assert keeper.seen().supply.rates == Rates(100, 100), "what is ours can be promised anew"
    keeper.want(Wanted({}))
    assert dict(controller.slos()) == {}


@pytest.mark.parametrize("down", [True, False])
def test_a_controller_that_is_away_is_a_problem_and_no_supply(down: bool) -> None:
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    controller.down = down
    assert bool(InlineKeeper(controller).seen().supply.problem) is down


def test_places_are_asked_for_once_and_forgotten_when_nobody_wants_to_know() -> None:
    asked: list[str] = []

    class Told(SimulatedController):
        def locality(self, uri: str) -> Sequence[str]:
            asked.append(uri)
            return super().locality(uri)

    keeper = InlineKeeper(Told(Capacity(100, {"disk": 100}), places={"swift2d://c.s/x": ["n1", "n2"]}))
    uris = frozenset({"swift2d://c.s/x", "swift2d://c.s/unknown"})
    keeper.want(Wanted({}, uris))
    assert keeper.seen().locality == {"swift2d://c.s/x": {"n1", "n2"}, "swift2d://c.s/unknown": frozenset()}
    assert sorted(asked) == sorted(uris)
    keeper.want(Wanted({}))
    assert keeper.seen().locality == {}


def test_a_promise_on_its_way_out_counts_for_nobody_though_the_same_is_wanted_again() -> None:
    controller, waker = Reluctant(), Waker()
    keeper = KeeperThread(controller, controller, waker, interval_s=60.0)
    try:
        keeper.want(Wanted(WANTED))
        wait_for_slos(keeper, waker)
        keeper.want(Wanted({"b": WANTED["b"]}))
        assert controller.asked.wait(PATIENCE_S)
        keeper.want(Wanted(WANTED))
        assert keeper.seen().slos == {"b": WANTED["b"]}
        controller.let_go.set()
        wait_for_slos(keeper, waker)
    finally:
        controller.let_go.set()
        keeper.close()
