"""The storage controller's loop reads four times a second in one transaction, which sees the same as single calls."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa
import zmq

from storage_bridge.bandwidth.regulator import RateSettings
from storage_bridge.model import BandwidthSlo, StoreExecution
from storage_controller.answers import RequestRefusedError
from storage_controller.database.controller_ledger import BANDWIDTH_CONTROLLER, ControllerLedger
from storage_controller.database.guarantee_store import Ledger
from storage_controller.promises.filter_cores import CoresLedger
from storage_controller.promises.held_places import EnforcingServers
from storage_controller.regulation.regulation import Regulation
from storage_controller.regulation.server_sockets import Endpoints
from storage_controller.rules.rule_store import RuleLedger
from tests.support.installation import free_port
from tests.support.manual_clock import ManualClock
from tests.support.waiting import until

RUNS = StoreExecution("x1", "acme", BandwidthSlo(5, None), "zoe")


class Looked:
    """A ledger whose owners' leases end at 100 s; counts its transactions, and how often it asked for the lead."""

    def __init__(self, url: str) -> None:
        self.engine, self.clock, self.checks, self.transactions = sa.create_engine(url), ManualClock(0.0), 0, 0
        self.ledger = Ledger(self.engine, self.clock, self._check)
        sa.event.listen(self.engine, "begin", self._count)

    def _check(self, _connection: sa.Connection) -> None:
        self.checks += 1

    def _count(self, _connection: sa.Connection) -> None:
        self.transactions += 1

    def close(self) -> None:
        self.engine.dispose()


@pytest.fixture
def looked(postgres_url: str) -> Iterator[Looked]:
    with closing(Looked(postgres_url)) as made:
        made.ledger.renew("zoe", 100.0)
        made.ledger.keep_execution(RUNS)
        made.ledger.set_slo("acme", "zoe", {"get_bw": 7, "put_bw": 3}, owner="zoe")
        made.checks = made.transactions = 0
        yield made


def test_it_is_one_transaction_and_says_the_same(looked: Looked) -> None:
    ledger, rules = looked.ledger, RuleLedger(looked.ledger)
    controllers, cores = ControllerLedger(ledger), CoresLedger(ledger)
    with ledger.together(), ledger.together():
        together = (
            ledger.guarantees_by_tenant(),
            rules.books(),
            controllers.mode(BANDWIDTH_CONTROLLER),
            cores.cores(),
        )
    assert (looked.transactions, looked.checks) == (1, 1)
    assert together[0] == {"acme": BandwidthSlo(7, 3)}
    apart = ledger.guarantees_by_tenant(), rules.books(), controllers.mode(BANDWIDTH_CONTROLLER), cores.cores()
    assert together == apart
    assert looked.transactions == looked.checks == 1 + 5


def test_ended_guarantees_are_swept_each_time(looked: Looked) -> None:
    with looked.ledger.together():
        assert looked.ledger.guarantees_by_tenant()
    looked.clock.set(200.0)
    with looked.ledger.together():
        assert looked.ledger.guarantees_by_tenant() == {}
        assert [execution.slo for execution in looked.ledger.active_executions()[0]] == [BandwidthSlo()]


def half_done(ledger: Ledger) -> None:
    with ledger.together():
        ledger.set_slo("beta", "zoe", {"get_bw": 9}, owner="zoe")
        raise RequestRefusedError(503, "another one leads")


def test_a_failure_undoes_it_and_the_next_call_is_its_own(looked: Looked) -> None:
    with pytest.raises(RequestRefusedError):
        half_done(looked.ledger)
    assert "beta" not in looked.ledger.guarantees_by_tenant()
    looked.ledger.set_slo("beta", "zoe", {"get_bw": 9}, owner="zoe")
    assert "beta" in looked.ledger.guarantees_by_tenant()


def test_calls_of_other_threads_are_apart(looked: Looked) -> None:
    with looked.ledger.together():
        looked.ledger.guarantees_by_tenant()
        found: list[object] = []
        other = threading.Thread(target=lambda: found.append(looked.ledger.view("none")))
        other.start()
        until(lambda: found)
        other.join()
    assert looked.transactions == 2


@contextmanager
def regulating(ledger: Ledger) -> Iterator[Regulation]:
    addresses = [f"tcp://127.0.0.1:{free_port()}" for _ in range(2)]
    endpoints = Endpoints(addresses[0], addresses[1], *zmq.curve_keypair(), frozenset())
    places = EnforcingServers({"p1": 10**8})
    regulation = Regulation(ledger, places, endpoints, "AUTH_", RateSettings(), lambda: 1, executions=True)
    regulation.begin()
    try:
        yield regulation
    finally:
        regulation.close()


def test_giving_credentials_does_not_deadlock_with_the_loop(looked: Looked, caplog: pytest.LogCaptureFixture) -> None:
    """Each look changes the row that is given anew, since the lease of its owner has ended."""
    given: list[object] = []
    giving = threading.Thread(target=lambda: given.extend(looked.ledger.keep_execution(RUNS) for _ in range(100)))
    with regulating(looked.ledger) as regulation:
        giving.start()
        while giving.is_alive():
            looked.ledger.renew("zoe", -1.0)
            regulation._read_guarantees()
    giving.join()
    assert len(given) == 100
    assert [record.message for record in caplog.records if "cannot read the guarantees" in record.message] == []
