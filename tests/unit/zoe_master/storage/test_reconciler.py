"""The reconciler's thread: a controller that hangs delays nothing else, and news wake the master."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.connect import connect_lazily
from storage_bridge.http import ControllerSettings
from storage_bridge.model import BandwidthSlo, StorageRefusedError
from storage_bridge.simulated import SimulatedController
from tests.support.limited_controller import Limited
from tests.support.promises import required_by
from tests.support.waiting import until
from zoe_lib.domain.executions.promises import BandwidthGuarantee, Rates
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.storage import object_of
from zoe_master.storage.reconciler import InlineReconciler, ThreadedReconciler
from zoe_master.storage.slo_reconciler import DesiredSlos
from zoe_master.waker import TickWaker

RATES = {"a": Rates(60, 10), "b": Rates(write=5)}
WANTED = required_by(RATES)
SLOS = {"a": BandwidthSlo(60, 10), "b": BandwidthSlo(None, 5)}
PATIENCE_S = 60.0


class Hanging(SimulatedController):
    """Accepts no SLO before its release."""

    def __init__(self) -> None:
        super().__init__(Capacity(100, {"disk": 100}))
        self.let_go = threading.Event()

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        assert self.let_go.wait(PATIENCE_S)
        super().set_slo(tenant, slo)


class Reluctant(SimulatedController):
    """Removes no SLO before its release."""

    def __init__(self) -> None:
        super().__init__(Capacity(100, {"disk": 100}))
        self.asked, self.let_go = threading.Event(), threading.Event()

    def clear_slo(self, tenant: str) -> None:
        self.asked.set()
        assert self.let_go.wait(PATIENCE_S)
        super().clear_slo(tenant)


class Broken(SimulatedController):
    """Fails once with an unexpected exception."""

    failures = 1

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        if self.failures:
            self.failures -= 1
            raise ZeroDivisionError
        super().set_slo(tenant, slo)


class Choosy(SimulatedController):
    """Does not know one of the tenants."""

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        if tenant == "nobody":
            raise StorageRefusedError("PUT /somewhere answers 404", "unknown tenant")
        super().set_slo(tenant, slo)


def wait_for_slos(reconciler: ThreadedReconciler, waker: TickWaker) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while reconciler.last_state().held != RATES.keys():
        waker.wait(0.1)
        assert time.monotonic() < end_s, reconciler.last_state()


def test_a_controller_that_hangs_holds_up_nobody_and_what_was_wanted_meanwhile_counts() -> None:
    controller, waker = Hanging(), TickWaker()
    reconciler = ThreadedReconciler(controller, controller, waker, interval_s=60.0)
    try:
        reconciler.set_desired(required_by({"stale": Rates(1, 1)}))
        reconciler.set_desired(WANTED)
        assert not reconciler.last_state().held
        controller.let_go.set()
        wait_for_slos(reconciler, waker)
        assert controller.in_force == SLOS
        assert reconciler.last_state().supply.rates == Rates(100, 100)
    finally:
        controller.let_go.set()
        reconciler.close()


def test_slos_and_ticks_do_not_wait_for_one_that_does_not_tell_where_inputs_lie() -> None:
    """Over HTTP, like a controller that hangs: SLOs continue, and places are unknown."""
    controller, waker = SimulatedController(Capacity(100, {"disk": 100})), TickWaker()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        hangs = connect_lazily(ControllerSettings(url, "token", "zoe", timeout_s=1.0, attempts=1))
        reconciler = ThreadedReconciler(controller, controller, waker, interval_s=60.0, for_places=hangs)
        one = object_of("acme", "swift2d://meters.zoe/2015")
        try:
            began_s = time.monotonic()
            reconciler.locate(frozenset({one}))
            assert reconciler.places() == {}
            reconciler.set_desired(WANTED)
            wait_for_slos(reconciler, waker)
            assert time.monotonic() < began_s + 1.0
            until(lambda: reconciler.places() == {one: None})
        finally:
            reconciler.close()


def test_an_input_that_is_answered_is_known_while_others_are_not() -> None:
    class Partly(SimulatedController):
        def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
            assert uri.endswith("/1") or let_go.wait(PATIENCE_S)
            return super().locality(tenant, uri, token)

    let_go, waker = threading.Event(), TickWaker()
    controller = Partly(Capacity(100, {"disk": 100}))
    reconciler = ThreadedReconciler(controller, controller, waker, interval_s=60.0)
    first, second = (object_of("acme", f"swift2d://meters.zoe/{n}") for n in (1, 2))
    try:
        reconciler.locate(frozenset({first, second}))
        until(lambda: reconciler.places() == {first: None})
        assert waker.wait(PATIENCE_S), "the master is told"
        let_go.set()
        until(lambda: reconciler.places() == {first: None, second: None})
    finally:
        let_go.set()
        reconciler.close()


def test_a_defect_is_told_as_a_problem_and_tried_again() -> None:
    controller, waker = Broken(Capacity(100, {"disk": 100})), TickWaker()
    reconciler = ThreadedReconciler(controller, controller, waker, interval_s=0.05)
    try:
        reconciler.set_desired(WANTED)
        wait_for_slos(reconciler, waker)
        assert controller.failures == 0
    finally:
        reconciler.close()


def test_before_anything_is_wanted_nothing_of_what_is_there_is_touched() -> None:
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    controller.set_slo("a", BandwidthSlo(30))
    reconciler = InlineReconciler(controller)
    assert not reconciler.last_state().held
    assert not reconciler.last_state().missing
    assert controller.in_force == {"a": BandwidthSlo(30)}
    assert reconciler.last_state().supply.rates == Rates(100, 100), "what is ours can be promised anew"
    reconciler.set_desired(DesiredSlos())
    assert dict(controller.slos()) == {}


@pytest.mark.parametrize("down", [True, False])
def test_a_controller_that_is_away_is_a_problem_and_no_supply(down: bool) -> None:
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    controller.down = down
    assert bool(InlineReconciler(controller).last_state().supply.problem) is down


def test_a_promise_on_its_way_out_counts_for_nobody_though_the_same_is_wanted_again() -> None:
    controller, waker = Reluctant(), TickWaker()
    reconciler = ThreadedReconciler(controller, controller, waker, interval_s=60.0)
    try:
        reconciler.set_desired(WANTED)
        wait_for_slos(reconciler, waker)
        reconciler.set_desired(required_by({"b": RATES["b"]}))
        assert controller.asked.wait(PATIENCE_S)
        reconciler.set_desired(WANTED)
        assert reconciler.last_state().held == {"b"}
        controller.let_go.set()
        wait_for_slos(reconciler, waker)
    finally:
        controller.let_go.set()
        reconciler.close()


def test_an_slo_that_is_refused_holds_up_its_own_tenant_only() -> None:
    controller = Choosy(Capacity(100, {"disk": 100}))
    reconciler = InlineReconciler(controller)
    reconciler.set_desired(required_by({**RATES, "nobody": Rates(1, 1), "z": Rates(2, 2)}))
    assert reconciler.last_state().held == {"a", "b", "z"}
    assert controller.in_force == {**SLOS, "z": BandwidthSlo(2, 2)}
    assert reconciler.last_state().refused == {"nobody": "unknown tenant"}
    assert not reconciler.last_state().supply.problem
    reconciler.set_desired(WANTED)
    assert reconciler.last_state().refused == {}


def test_refusal_of_an_earlier_wish_does_not_count() -> None:
    class Pausing(Choosy):
        def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
            assert let_go.wait(PATIENCE_S)
            super().set_slo(tenant, slo)

    let_go, waker = threading.Event(), TickWaker()
    let_go.set()
    controller = Pausing(Capacity(100, {"disk": 100}))
    reconciler = ThreadedReconciler(controller, controller, waker, interval_s=60.0)

    def wait_for_refusal() -> None:
        end_s = time.monotonic() + PATIENCE_S
        while reconciler.last_state().refused != {"nobody": "unknown tenant"}:
            waker.wait(0.1)
            assert time.monotonic() < end_s, reconciler.last_state()

    try:
        reconciler.set_desired(required_by({"nobody": Rates(1, 1)}))
        wait_for_refusal()
        let_go.clear()
        reconciler.set_desired(required_by({"nobody": Rates(2, 2)}))
        assert reconciler.last_state().refused == {}
        let_go.set()
        wait_for_refusal()
    finally:
        let_go.set()
        reconciler.close()


def promise(name: str, read: int, required: bool = True) -> BandwidthGuarantee:
    return BandwidthGuarantee(name, "a", Rates(read), required)


def test_others_of_a_tenant_that_come_or_go_take_nothing_from_what_is_in_force() -> None:
    """The poll began before the other execution came: its result for the first still counts."""

    class Second(SimulatedController):
        def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
            super().set_slo(tenant, slo)
            if slo.read_bytes_per_s == 90:
                asked.set()
                assert let_go.wait(PATIENCE_S)

    asked, let_go, waker = threading.Event(), threading.Event(), TickWaker()
    controller = Second(Capacity(100, {"disk": 100}))
    reconciler = ThreadedReconciler(controller, controller, waker, interval_s=60.0)
    try:
        reconciler.set_desired(DesiredSlos((promise("first", 60),)))
        end_s = time.monotonic() + PATIENCE_S
        while reconciler.last_state().held != {"first"}:
            waker.wait(0.1)
            assert time.monotonic() < end_s, reconciler.last_state()
        reconciler.set_desired(DesiredSlos((promise("first", 60), promise("other", 30, required=False))))
        assert asked.wait(PATIENCE_S)
        assert reconciler.last_state().held == {"first"}
        reconciler.set_desired(DesiredSlos((promise("first", 60),)))
        assert reconciler.last_state().held == {"first"}
    finally:
        let_go.set()
        reconciler.close()


def test_missing_guarantees_are_known_only_from_a_reachable_controller() -> None:
    controller = Limited(Capacity(100, {"disk": 100}), 70)
    reconciler = InlineReconciler(controller)
    reconciler.set_desired(DesiredSlos((promise("r", 60), promise("p", 20, required=False)), withheld=frozenset({"w"})))
    assert reconciler.last_state().held == {"r"}
    assert reconciler.last_state().missing == {"p", "w"}
    controller.down = True
    assert reconciler.last_state().missing == frozenset()


def test_guarantee_in_force_is_held_beside_an_unanswered_wish() -> None:
    controller = Limited(Capacity(200, {"disk": 200}), 100, silent=True)
    had, more = promise("had", 60, required=False), promise("more", 50, required=False)
    reconciler = InlineReconciler(controller)
    reconciler.set_desired(DesiredSlos((had,)))
    reconciler.set_desired(DesiredSlos((had, more)))
    assert reconciler.last_state().held == {"had"}
    assert reconciler.last_state().missing == {"more"}


def test_unwanted_slo_is_removed_before_new_ones_are_set() -> None:
    controller = Limited(Capacity(100, {"disk": 100}), 100)
    controller.set_slo("z", BandwidthSlo(80, 70))
    controller.set_slo("gone", BandwidthSlo(9))
    controller.asked.clear()
    reconciler = InlineReconciler(controller)
    reconciler.set_desired(DesiredSlos((BandwidthGuarantee("e", "z", Rates(30, 90), True), promise("f", 50))))
    assert controller.asked == [30, 30, 50], "lowered, then raised the other way, then another tenant's"
    assert controller.in_force == {"a": BandwidthSlo(50), "z": BandwidthSlo(30, 90)}
