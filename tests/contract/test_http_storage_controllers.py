"""Controllers over HTTP: the contract on our own, and the parts that each of Crystal's dialects supports."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from storage_bridge.base import StorageController
from storage_bridge.connect import connect
from storage_bridge.crystal_controller import CrystalController
from storage_bridge.crystal_dialects import AppendixDialect, LaterDialect
from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.model import AchievedBandwidth, BandwidthDemand, BandwidthSlo, StorageUnavailableError, View
from storage_bridge.zoe_controller import ZoeController
from storage_controller.answers import RequestRefusedError
from tests.simulation.test_storage import of_kind, wants
from tests.simulation.world import World, node
from tests.support.faulty_controller import faulty_controller
from tests.support.promises import required_by
from tests.support.storage_contract import StorageContract
from tests.support.storage_controller import MB, PATIENCE_S, SAMPLE, Served, served_controller
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.promises import Rates, StoreCapacity, refusal_reason
from zoe_lib.domain.values.storage import Guarantee
from zoe_master.storage.reconciler import InlineReconciler


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url) as controller:
        yield controller


def crystal(served: Served, dialect: type[AppendixDialect | LaterDialect], owner: str = "zoe") -> CrystalController:
    line = ControllerHttp(served.settings(owner))
    return CrystalController(line, served.settings(owner), dialect(line, owner))


class TestOwn(StorageContract):
    @pytest.fixture
    def controller(self, served: Served) -> StorageController:
        return connect(served.settings())


class TestLater(StorageContract):
    @pytest.fixture
    def controller(self, served: Served) -> StorageController:
        return crystal(served, LaterDialect)

    def test_tenants_and_objects_that_nobody_knows_have_nothing(self, controller: StorageController) -> None:
        """It reports no tenant's objects."""
        controller.set_slo("a", BandwidthSlo(10 * MB))
        assert (controller.achieved_bandwidth(), controller.missed_bandwidth()) == (None, None)
        assert controller.locality("a", "swift2d://nothing.zoe/here") is None

    def test_views_come_and_go_and_both_may_be_repeated(self, controller: StorageController) -> None:
        """It makes none, and says so."""
        with pytest.raises(StorageUnavailableError, match="does not support views"):
            controller.create_view(View("v1", "a", "swift2d://meters.zoe/2015"))
        controller.drop_view("v1")
        assert list(controller.views()) == []


def test_the_appendix_dialect_has_one_value_for_both_directions(served: Served) -> None:
    controller = crystal(served, AppendixDialect)
    controller.set_slo("a", BandwidthSlo(10 * MB, 5 * MB))
    controller.set_slo("b", BandwidthSlo(1))
    assert dict(controller.slos()) == {"a": BandwidthSlo(10 * MB, 10 * MB), "b": BandwidthSlo(MB, MB)}
    assert controller.capacity().promised_read_bytes_per_s == 11 * MB
    assert controller.feasible(BandwidthDemand("c", BandwidthSlo(89 * MB))).feasible
    assert not controller.feasible(BandwidthDemand("c", BandwidthSlo(90 * MB))).feasible
    controller.clear_slo("a")
    controller.clear_slo("b")
    assert dict(controller.slos()) == {}


@pytest.mark.parametrize("dialect", [AppendixDialect, LaterDialect])
def test_ours_are_told_from_others_by_the_policy_and_both_are_counted(
    served: Served, dialect: type[AppendixDialect | LaterDialect]
) -> None:
    ours, others = crystal(served, dialect), crystal(served, dialect, "somebody")
    ours.set_slo("a", BandwidthSlo(10 * MB, 10 * MB))
    others.set_slo("a", BandwidthSlo(20 * MB, 20 * MB))
    assert dict(ours.slos()) == {"a": BandwidthSlo(10 * MB, 10 * MB)}
    assert ours.capacity().promised_write_bytes_per_s == 30 * MB
    ours.clear_slo("a")
    assert dict(others.slos()) == {"a": BandwidthSlo(20 * MB, 20 * MB)}


@pytest.mark.parametrize("dialect", [AppendixDialect, LaterDialect])
def test_an_answer_that_makes_no_sense_is_as_none(
    served: Served, dialect: type[AppendixDialect | LaterDialect]
) -> None:
    with faulty_controller(served.url) as between:
        between.fault = "garbage"
        settings = replace(served.settings(), url=between.url)
        line = ControllerHttp(settings)
        controller = CrystalController(line, settings, dialect(line, "zoe"))
        for call in (controller.slos, controller.capacity):
            with pytest.raises(StorageUnavailableError, match="cannot parse the storage controller's answer"):
                call()
        if dialect is LaterDialect:  # which first looks for an existing one
            with pytest.raises(StorageUnavailableError, match="cannot parse the storage controller's answer"):
                controller.set_slo("a", BandwidthSlo(10 * MB))
        controller.clear_slo("a")


def test_unrenewed_slo_and_view_end_with_their_lease(served: Served) -> None:
    ours, others = connect(served.settings(lease_s=60.0)), connect(served.settings("other", lease_s=600.0))
    view = View("v1", "a", "swift2d://meters.zoe/2015")
    ours.set_slo("a", BandwidthSlo(10 * MB))
    ours.create_view(view)
    others.set_slo("b", BandwidthSlo(20 * MB))
    served.clock.advance(59)
    assert dict(ours.slos()) == {"a": BandwidthSlo(10 * MB)}  # the look has renewed it
    served.clock.advance(59)
    assert list(ours.views()) == [view]
    served.clock.advance(2)
    assert others.capacity().promised_read_bytes_per_s == 20 * MB
    assert list(ours.views()) == []
    assert dict(others.slos()) == {"b": BandwidthSlo(20 * MB)}
    assert served.removed == []
    served.views.sweep()
    assert served.removed == [view]
    served.views.sweep()
    assert served.removed == [view]


def test_an_owner_sees_and_removes_its_own_views_only(served: Served) -> None:
    ours, others = connect(served.settings()), connect(served.settings("other"))
    view = View("v1", "a", "swift2d://meters.zoe/2015")
    ours.create_view(view)
    assert list(others.views()) == []
    others.drop_view("v1")
    assert list(ours.views()) == [view]
    assert served.removed == []


def test_a_view_that_the_store_refuses_is_not_there_and_one_that_nothing_is_known_of_is(served: Served) -> None:
    """So that the keeper of views removes it, made or not."""
    ours = connect(served.settings(attempts=1))
    view = View("v1", "a", "swift2d://meters.zoe/2015", ("price",))
    for status, left in ((422, []), (503, [view])):
        served.refuses = RequestRefusedError(status, "there is no column price")
        with pytest.raises(StorageUnavailableError, match="there is no column price"):
            ours.create_view(view)
        assert list(ours.views()) == left


def test_one_that_was_made_before_is_not_lost_when_its_store_refuses_it_now(served: Served) -> None:
    ours = connect(served.settings(attempts=1))
    view = View("v1", "a", "swift2d://meters.zoe/2015")
    ours.create_view(view)
    served.refuses = RequestRefusedError(422, "there is no column price")
    with pytest.raises(StorageUnavailableError, match="there is no column price"):
        ours.create_view(view)
    ours.drop_view("v1")
    assert served.removed == [view]
    assert list(ours.views()) == []


def test_a_removal_waits_for_the_making_that_it_undoes(served: Served) -> None:
    """The client that stopped waiting removes a view that is made only then: nothing unknown is left in the store."""
    view = View("v1", "a", "swift2d://meters.zoe/2015")
    served.making = threading.Event()
    settings = served.settings(attempts=1, timeout_s=1.0)
    with pytest.raises(StorageUnavailableError):
        ZoeController(ControllerHttp(settings), settings).create_view(view)
    assert served.begun.wait(PATIENCE_S)
    with ThreadPoolExecutor(1) as pool:
        dropped = pool.submit(connect(served.settings()).drop_view, "v1")
        with pytest.raises(TimeoutError):
            dropped.result(0.3)
        assert served.removed == []
        served.making.set()
        dropped.result(PATIENCE_S)
    assert (served.made, served.removed) == ([view], [view])
    assert served.ledger.views("zoe") == []


def test_one_that_cannot_be_removed_is_left_and_the_others_are_swept(served: Served) -> None:
    ours = connect(served.settings(lease_s=60.0))
    stuck, other = (View(name, "a", "swift2d://meters.zoe/2015") for name in ("a-stuck", "b"))
    for view in (stuck, other):
        ours.create_view(view)
    served.clock.advance(61)
    served.keeps.add("a-stuck")
    served.views.sweep()
    assert served.removed == [other]
    served.keeps.clear()
    served.views.sweep()
    assert served.removed == [other, stuck]


def test_a_sample_is_measured_where_the_store_is(served: Served) -> None:
    ours = connect(served.settings())
    with pytest.raises(StorageUnavailableError, match="view v1 does not exist"):
        ours.sample("v1")
    ours.create_view(View("v1", "a", "swift2d://meters.zoe/2015", ("id", "kwh")))
    assert ours.sample("v1") == SAMPLE


def test_a_tenant_is_promised_the_greatest_of_its_policies(served: Served) -> None:
    ours = connect(served.settings())
    ours.set_slo("a", BandwidthSlo(10 * MB))
    with served.http() as http:
        [rule] = http.post("/policies/static", content="FOR TENANT:a DO SET BANDWIDTH WITH MIN_BW=30MBps").json()
        assert ours.capacity().promised_read_bytes_per_s == 30 * MB
        assert dict(ours.slos()) == {"a": BandwidthSlo(10 * MB)}
        assert http.delete(f"/policies/static/{rule}").status_code == 204
    assert ours.capacity().promised_read_bytes_per_s == 10 * MB


def test_bandwidth_is_reported_and_views_are_made_in_swift(served: Served) -> None:
    controller = connect(served.settings())
    served.achieved["a"] = AchievedBandwidth(5.5, 0.0)
    assert controller.achieved_bandwidth() == {"a": AchievedBandwidth(5.5, 0.0)}
    view = View("v1", "a", "swift2d://meters.zoe/2015", ("city",), "city = 'Nice'")
    controller.create_view(view)
    assert served.made == [view]
    controller.drop_view("v1")
    assert served.removed == [view]
    controller.create_view(View("v2", "a", "swift2d://meters.zoe/2015"))
    with pytest.raises(StorageUnavailableError, match="view v2 already exists with another definition"):
        controller.create_view(View("v2", "b", "swift2d://meters.zoe/2015"))


@pytest.mark.parametrize("dialect", [None, AppendixDialect, LaterDialect])
def test_refusal_of_an_slo_is_the_only_text_taken_from_an_answer(
    served: Served, dialect: type[AppendixDialect | LaterDialect] | None
) -> None:
    served.strangers.add("nobody")
    keeper = InlineReconciler(connect(served.settings()) if dialect is None else crystal(served, dialect))
    keeper.set_desired(required_by({"a": Rates(10 * MB), "nobody": Rates(5 * MB), "much": Rates(200 * MB)}))
    observed = keeper.last_state()
    assert observed.refused == {
        "nobody": "unknown tenant: the store has no account for nobody",
        "much": "200 MB/s to read is more than the 100 MB/s that the store can move",
    }
    assert observed.held == {"a"}


def test_users_are_told_what_the_controller_says_to_their_slo(served: Served) -> None:
    said = "unknown tenant: the store has no account for default"
    served.strangers.add("default")
    one = World([node("n1")], controller=connect(served.settings()))
    requires, prefers = one.submit(wants(20)), one.submit(wants(10, Guarantee.PREFERRED))
    one.run(5.0)
    waiting = refusal_reason(one.get(requires))
    assert waiting is not None
    assert waiting.sentence.endswith(said)
    assert one.get(prefers).storage_problem == said
    assert [event["why"] for event in of_kind(one, requires, "storage_refused")] == [said]
    assert [event["why"] for event in of_kind(one, prefers, "storage_declined")] == [said]
    served.strangers.clear()
    one.run(60.0)
    assert {one.state(requires), one.state(prefers)} == {ExecutionState.SUCCEEDED}


def test_a_master_keeps_what_the_store_can_promise_in_all_also_while_it_is_away(served: Served) -> None:
    served.proxies |= {"p": 80 * MB, "q": 60 * MB}
    others = connect(served.settings("other"))
    others.set_slo("b", BandwidthSlo(30 * MB))  # which takes nothing from the total
    with faulty_controller(served.url) as between:
        one = World([node("n1")], controller=connect(replace(served.settings(attempts=1), url=between.url)))
        one.tick()
        assert one.store.whole_platform().storage == StoreCapacity(100 * MB, 100 * MB, 80 * MB, 140 * MB)
        between.fault = "down"
        one.tick()
        assert one.store.whole_platform().storage == StoreCapacity(100 * MB, 100 * MB, 80 * MB, 140 * MB)


def test_the_dialect_is_found_by_asking(served: Served) -> None:
    assert isinstance(connect(served.settings()), ZoeController)


def test_one_that_is_away_costs_one_time_out_and_is_then_left_alone() -> None:
    now_s = [0.0]
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        settings = ControllerSettings(url, "t", "zoe", timeout_s=0.05, attempts=2, failures_max=2, rest_s=5.0)
        line = ControllerHttp(settings, lambda: now_s[0])
        for _ in range(2):
            with pytest.raises(StorageUnavailableError, match=r"^the storage controller does not answer: "):
                line.ask("GET", "/v1/capacity")
        with pytest.raises(StorageUnavailableError, match="requests are paused"):
            line.ask("GET", "/v1/capacity")
        now_s[0] = 1.1
        with pytest.raises(StorageUnavailableError, match=r"^the storage controller does not answer: "):
            line.ask("GET", "/v1/capacity")


def test_one_that_has_never_answered_is_asked_again_soon(served: Served) -> None:
    """It may be about to start; its first answer ends the pause."""
    now_s = [0.0]
    with faulty_controller(served.url) as between:
        between.fault = "down"
        settings = replace(served.settings(), url=between.url, attempts=1, failures_max=2, rest_s=5.0)
        line = ControllerHttp(settings, lambda: now_s[0])
        for wait_s, paused in ((0.0, False), (0.0, True), (1.1, True)):
            now_s[0] += wait_s
            with pytest.raises(StorageUnavailableError):
                line.ask("GET", "/v1/capacity")
            assert line.circuit_open is paused
        now_s[0] += 1.1
        between.fault = None
        assert line.ask("GET", "/v1/capacity")
        between.fault = "down"
        for _ in range(2):
            with pytest.raises(StorageUnavailableError):
                line.ask("GET", "/v1/capacity")
        now_s[0] += 4.9
        assert line.circuit_open


@pytest.mark.parametrize("fault", ["endless", "endless headers", "slow"])
def test_an_answer_that_does_not_come_to_an_end_is_none(served: Served, fault: str) -> None:
    with faulty_controller(served.url) as between:
        between.fault = fault
        line = ControllerHttp(replace(served.settings(), url=between.url, timeout_s=0.2, attempts=1))
        with pytest.raises(StorageUnavailableError, match=r"takes too long|timed out|not answer in time"):
            line.ask("GET", "/v1/capacity")


def test_a_wrong_token_is_told(served: Served) -> None:
    wrong = ControllerSettings(served.url, "wrong", "zoe")
    with pytest.raises(StorageUnavailableError, match="401"):
        connect(wrong)
