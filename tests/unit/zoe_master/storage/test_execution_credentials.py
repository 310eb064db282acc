"""Credentials of executions: requests, services, and waiting times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo, StorageRefusedError, StoreExecution
from storage_bridge.simulated import SimulatedController
from tests.support.scheduling import component, queued
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.promises import BandwidthGuarantee, Rates
from zoe_lib.domain.values.storage import Credential, StorageDemand, StorageObject
from zoe_master.storage.execution_credentials import ExecutionCredentials
from zoe_master.storage.reconciler import InlineReconciler
from zoe_master.storage.slo_reconciler import DesiredSlos
from zoe_master.storage.spark_config import Place, SparkConfig

PATIENCE_S = 30.0
PLACES = {
    "zoe": Place("http://swift/auth", "R", own_credentials=True),
    "s3a": Place("http://s3", own_credentials=True),
    "other": Place("http://other", "R"),
}
STORED = Credential("default:ann", "key-of-the-tenant")
OWN = Credential("default:execution_x1_1", "key-of-x1")
GIVEN = ExecutionCredentials(True, {"x1": OWN})


def controller() -> SimulatedController:
    made = SimulatedController(Capacity(100, {"disk": 100}))
    made.with_credentials = True
    return made


def guarantee(execution_id: str, read: int) -> BandwidthGuarantee:
    return BandwidthGuarantee(execution_id, "acme", Rates(read), required=True)


def using(uri: str) -> Execution:
    execution = replace(queued(component("c")), id="x1", tenant="default")
    storage = StorageDemand((StorageObject("i", uri),))
    return replace(execution, application=replace(execution.application, storage=storage))


def config(stored: Credential = STORED) -> SparkConfig:
    return SparkConfig(PLACES, [], lambda _: dict.fromkeys(PLACES, stored))


def test_the_controller_has_exactly_the_active_executions_with_their_guarantees() -> None:
    there = controller()
    there.set_execution(StoreExecution("ended", "acme", BandwidthSlo(5)))
    reconciler = InlineReconciler(there)
    users = {"x1": "acme", "x2": "acme"}
    state = reconciler.set_desired(DesiredSlos((guarantee("x1", 60),), users=users))
    assert {text: found.slo for text, found in (there.executions() or {}).items()} == {
        "x1": BandwidthSlo(60),
        "x2": BandwidthSlo(),
    }
    assert set(state.credentials.known) == {"x1", "x2"}
    state = reconciler.set_desired(DesiredSlos((), users={"x1": "acme"}))
    assert {text: found.slo for text, found in (there.executions() or {}).items()} == {"x1": BandwidthSlo()}
    assert set(state.credentials.known) == {"x1"}
    assert reconciler.set_desired(DesiredSlos(users={})).credentials.known == {}
    assert there.executions() == {}


def test_a_master_that_starts_again_gets_the_same_credentials() -> None:
    there = controller()
    before = InlineReconciler(there).set_desired(DesiredSlos(users={"x1": "acme"}))
    assert InlineReconciler(there).set_desired(DesiredSlos(users={"x1": "acme"})).credentials == before.credentials


def test_a_controller_without_them_is_asked_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    there = SimulatedController(Capacity(100, {"disk": 100}))
    monkeypatch.setattr(there, "set_execution", lambda _: pytest.fail("it offers none"))
    assert InlineReconciler(there).set_desired(DesiredSlos(users={"x1": "acme"})).credentials.offered is False


def test_a_guarantee_that_is_refused_leaves_the_credential() -> None:
    class Full(SimulatedController):
        def set_execution(self, execution: StoreExecution) -> Credential:
            if execution.slo != BandwidthSlo():
                raise StorageRefusedError("PUT", "too much")
            return super().set_execution(execution)

    there = Full(Capacity(100, {"disk": 100}))
    there.with_credentials = True
    state = InlineReconciler(there).set_desired(DesiredSlos((guarantee("x1", 60),), users={"x1": "acme"}))
    assert set(state.credentials.known) == {"x1"}
    assert state.held == {"x1"}, "the tenant's SLO covers it"


@pytest.mark.parametrize("uri", ["swift2d://meters.zoe/2015", "s3a://meters/2015"])
def test_services_get_the_credential_of_their_execution(uri: str) -> None:
    made, execution = config(), using(uri)
    assert made.own.wanted_credentials([execution]) == {"x1": "default"}
    made.own.take(GIVEN)
    keys = made.access(execution).files["core-site.xml"]
    assert OWN.key in keys
    assert OWN.user in keys
    assert STORED.key not in keys


@pytest.mark.parametrize(
    ("uri", "stored"),
    [
        ("swift2d://meters.other/2015", STORED),
        ("swift2d://meters.zoe/2015", Credential("beta:bob", "of-another-account")),
        ("file:///data", STORED),
    ],
)
def test_other_services_and_credentials_of_other_accounts_stay(uri: str, stored: Credential) -> None:
    made, execution = config(stored), using(uri)
    assert made.own.wanted_credentials([execution]) == {}
    made.own.take(GIVEN)
    assert OWN.key not in str(made.access(execution).files)
    assert not made.own.is_awaited(execution, 0.0, PATIENCE_S)


def test_without_a_service_that_accepts_them_nothing_is_asked() -> None:
    made = SparkConfig({"zoe": Place("http://swift", "R")}, [], lambda _: {"zoe": STORED})
    assert made.own.wanted_credentials([using("swift2d://meters.zoe/2015")]) is None
    assert not made.own.is_awaited(using("swift2d://meters.zoe/2015"), 0.0, PATIENCE_S)


def test_an_execution_waits_for_its_credential_but_not_for_ever() -> None:
    made, execution = config(), using("swift2d://meters.zoe/2015")
    assert made.own.is_awaited(execution, 100.0, PATIENCE_S)
    assert made.own.is_awaited(execution, 100.0 + PATIENCE_S - 1, PATIENCE_S)
    assert not made.own.is_awaited(execution, 100.0 + PATIENCE_S, PATIENCE_S)
    assert STORED.key in made.access(execution).files["core-site.xml"]
    made.own.take(GIVEN)
    assert not made.own.is_awaited(execution, 100.0, PATIENCE_S)
    another = config()
    another.own.take(ExecutionCredentials(offered=False))
    assert not another.own.is_awaited(execution, 100.0, PATIENCE_S)


def test_waiting_reason_tells_how_long_a_credential_is_awaited() -> None:
    made, execution = config(), using("swift2d://meters.zoe/2015")
    assert made.own.waiting_reason("x1", 100.0, PATIENCE_S) is None, "nobody wanted to start it yet"
    assert made.own.is_awaited(execution, 100.0, PATIENCE_S)
    told = made.own.waiting_reason("x1", 107.0, PATIENCE_S)
    assert told is not None
    assert "its tenant's in 23 s" in told.sentence
    assert made.own.waiting_reason("x1", 100.0 + PATIENCE_S, PATIENCE_S) is None, "it has that of its tenant"
    made.own.take(GIVEN)
    assert made.own.waiting_reason("x1", 107.0, PATIENCE_S) is None
