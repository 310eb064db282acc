"""Credentials and guarantees of executions, as the storage controller keeps them in a real database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from storage_bridge.bandwidth.assignment import TransferKind, claimant
from storage_bridge.connect import connect
from storage_bridge.model import (
    AchievedBandwidth,
    BandwidthSlo,
    ExecutionBandwidth,
    StorageRefusedError,
    StoreExecution,
)
from storage_bridge.zoe_controller import ZoeController
from storage_controller.database.tables import executions
from storage_controller.regulation.regulation import guarantees_by_claim
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_filters.execution_auth.names import key_of, user_of
from tests.support.storage_controller import MB, PATIENCE_S, Served, served_controller
from tests.support.waiting import until
from zoe_lib.domain.values.storage import Credential

SECRET = b"s" * 32
READ, WRITE = TransferKind.READ, TransferKind.WRITE
NOTHING = AchievedBandwidth(0.0, 0.0)


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url, ExecutionKeys(SECRET, "AUTH_")) as controller:
        yield controller


@pytest.fixture
def zoe(served: Served) -> ZoeController:
    return client(served, "zoe")


def client(served: Served, owner: str) -> ZoeController:
    found = connect(served.settings(owner))
    assert isinstance(found, ZoeController)
    return found


def test_a_credential_stays_the_same_until_it_is_ended_and_is_another_one_then(zoe: ZoeController) -> None:
    assert zoe.executions() == {}
    first = zoe.set_execution(StoreExecution("a1_12r3", "acme", BandwidthSlo()))
    user = user_of(first.user)
    assert user is not None
    assert (user.tenant, user.execution) == ("acme", "a1_12r3")
    assert first.key == key_of(SECRET, "AUTH_acme", user)
    assert zoe.set_execution(StoreExecution("a1_12r3", "acme", BandwidthSlo(5 * MB))) == first
    assert zoe.executions() == {"a1_12r3": ExecutionBandwidth("acme", BandwidthSlo(5 * MB), NOTHING, user.generation)}
    zoe.drop_execution("a1_12r3")
    zoe.drop_execution("a1_12r3")
    assert zoe.executions() == {}
    again = zoe.set_execution(StoreExecution("a1_12r3", "acme", BandwidthSlo()))
    assert again.user != first.user
    assert again.key != first.key


def test_owners_see_and_end_their_own_executions_only(served: Served, zoe: ZoeController) -> None:
    other = client(served, "other")
    user = user_of(zoe.set_execution(StoreExecution("x1", "acme", BandwidthSlo(MB))).user)
    assert user is not None
    assert other.executions() == {}
    other.drop_execution("x1")
    for taken, by in (
        (StoreExecution("x1", "acme", BandwidthSlo()), other),
        (StoreExecution("x1", "b", BandwidthSlo()), zoe),
    ):
        with pytest.raises(StorageRefusedError, match="belongs to another"):
            by.set_execution(taken)
    assert zoe.executions() == {"x1": ExecutionBandwidth("acme", BandwidthSlo(MB), NOTHING, user.generation)}


def test_the_promise_of_a_tenant_covers_its_executions(served: Served, zoe: ZoeController) -> None:
    zoe.set_execution(StoreExecution("x1", "acme", BandwidthSlo(10 * MB)))
    zoe.set_execution(StoreExecution("x2", "acme", BandwidthSlo(5 * MB, MB)))
    zoe.set_execution(StoreExecution("x3", "acme", BandwidthSlo()))
    assert served.ledger.guarantees_by_tenant() == {"acme": BandwidthSlo(15 * MB, MB)}
    assert zoe.capacity().promised_read_bytes_per_s == 15 * MB
    zoe.set_slo("acme", BandwidthSlo(15 * MB, MB))
    assert served.ledger.guarantees_by_tenant() == {"acme": BandwidthSlo(15 * MB, MB)}, "it is the same promise"
    served.ledger.set_slo("acme", "of-an-admin", {"get_bw": 40 * MB})
    promised = served.ledger.guarantees_by_tenant()
    assert promised == {"acme": BandwidthSlo(40 * MB, MB)}
    assert guarantees_by_claim(promised, served.ledger.executions()) == {
        (claimant("acme", "x1"), READ): 10 * MB,
        (claimant("acme", "x2"), READ): 5 * MB,
        (claimant("acme", "x2"), WRITE): MB,
        ("acme", READ): 25 * MB,
    }


def test_guarantees_end_with_the_lease_and_credentials_do_not(served: Served, zoe: ZoeController) -> None:
    before = zoe.set_execution(StoreExecution("x1", "acme", BandwidthSlo(10 * MB)))
    served.clock.advance(10_000)
    assert served.ledger.guarantees_by_tenant() == {}
    assert [(execution.id, execution.slo) for execution in served.ledger.executions()] == [("x1", BandwidthSlo())]
    assert zoe.set_execution(StoreExecution("x1", "acme", BandwidthSlo(10 * MB))) == before


def generation(credential: Credential) -> int:
    user = user_of(credential.user)
    assert user is not None
    return user.generation


def test_a_list_has_all_credentials_up_to_the_newest_that_was_given(served: Served, zoe: ZoeController) -> None:
    assert served.ledger.active_executions() == ([], 0)
    first, last = (
        generation(zoe.set_execution(StoreExecution(entry, "acme", BandwidthSlo()))) for entry in ("x1", "x2")
    )
    alive, newest = served.ledger.active_executions()
    assert ([execution.generation for execution in alive], newest) == ([first, last], last)
    zoe.drop_execution("x2")
    alive, newest = served.ledger.active_executions()
    assert [execution.generation for execution in alive] == [first]
    assert newest >= last, "so the credential of x2 has ended"


def test_no_list_is_made_while_a_credential_is_being_given(served: Served, zoe: ZoeController) -> None:
    """Else one that was begun first and is given last would be older than a list that does not have it."""
    row = {"id": "x1", "tenant": "acme", "owner": "zoe"}
    with served.engine.connect() as blocker, ThreadPoolExecutor(2) as threads:
        blocker.execute(sa.insert(executions), row)
        giving = threads.submit(zoe.set_execution, StoreExecution("x1", "acme", BandwidthSlo()))
        until(lambda: waiting(served, "transactionid"))
        zoe.set_execution(StoreExecution("x2", "acme", BandwidthSlo()))
        listing = threads.submit(served.ledger.active_executions)
        until(lambda: listing.done() or waiting(served, "advisory"))
        blocker.rollback()
        given = generation(giving.result(PATIENCE_S))
        alive, newest = listing.result(PATIENCE_S)
    assert given > newest or given in [execution.generation for execution in alive]


def waiting(served: Served, locktype: str) -> bool:
    """Return whether a session waits for such a lock in this database."""
    found = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND locktype = :kind"
    with served.engine.connect() as connection:
        counted = connection.execute(sa.text(found + " AND datname = current_database()"), {"kind": locktype})
        return bool(counted.scalar_one())


def test_more_than_the_store_can_move_and_strangers_are_refused(served: Served, zoe: ZoeController) -> None:
    served.strangers.add("nobody")
    for wanted in (
        StoreExecution("x1", "acme", BandwidthSlo(101 * MB)),
        StoreExecution("x1", "nobody", BandwidthSlo(1)),
    ):
        with pytest.raises(StorageRefusedError):
            zoe.set_execution(wanted)
    assert zoe.executions() == {}


@pytest.mark.parametrize("execution", ["a b", "x" * 65, "x;y", "x.1", "%00", "%C3%A4"])
def test_names_that_proxies_would_not_understand_are_refused(served: Served, execution: str) -> None:
    with served.http() as http:
        answer = http.put(f"/v1/owners/zoe/executions/{execution}", json={"tenant": "acme", "lease_s": 60})
        assert answer.status_code == 400, answer.text


def test_execution_shows_its_bandwidth_but_not_its_key(served: Served, zoe: ZoeController) -> None:
    credential = zoe.set_execution(StoreExecution("x1", "acme", BandwidthSlo(MB)))
    served.achieved["x1"] = AchievedBandwidth(3.0, 4.0)
    with served.http() as http:
        answer = http.get("/v1/owners/zoe/executions/x1")
        assert answer.json()["achieved_read_bytes_per_s"] == 3.0
        listed = http.get("/v1/owners/zoe/executions")
        assert credential.key not in answer.text + listed.text
        assert http.get("/v1/owners/zoe/executions/x2").status_code == 404


def test_a_controller_without_the_secret_offers_none(postgres_url: str) -> None:
    with served_controller(postgres_url) as served:
        assert client(served, "zoe").executions() is None
