"""The rate of replication that is pushed to nodes, by the mode of its controller."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
import sqlalchemy as sa
import zmq

from storage_bridge.bandwidth.regulator import RateSettings
from storage_controller.database.controller_ledger import ControllerLedger
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.promises.held_places import EnforcingServers
from storage_controller.regulation.regulation import Regulation
from storage_controller.regulation.replication import NO_LIMIT, ReplicationPace
from storage_controller.regulation.server_sockets import Endpoints
from tests.support.installation import free_port

RATE = 5_000_000


class Modes:
    """What an admin set."""

    mode = Mode.ON

    def __init__(self) -> None:
        self.away = False

    def __call__(self, name: str) -> Mode:
        assert name == "replication"
        if self.away:
            raise ConnectionError("the database is away")
        return self.mode


def test_a_rate_is_pushed_while_its_controller_is_on() -> None:
    ledger, modes, supervisor = ControllerLedger.__new__(ControllerLedger), Modes(), Supervisor()
    ledger.mode = modes  # type: ignore[method-assign]
    pace = ReplicationPace(ledger, supervisor, RATE)
    told = []
    for mode in (Mode.ON, Mode.DRY, Mode.OFF):
        modes.mode = mode
        pace.look()
        told.append((pace.rate([]), supervisor.states()[0].last))
    held = "replication to each object server at 5 MB/s"
    assert told == [(RATE, f"holds {held}"), (NO_LIMIT, f"would hold {held}"), (NO_LIMIT, f"would hold {held}")]
    modes.mode = Mode.ON
    pace.look()
    modes.away = True
    with pytest.raises(ConnectionError):
        pace.look()
    assert pace.rate([]) == RATE
    assert ReplicationPace(ledger, supervisor, None).rate([]) == NO_LIMIT


def test_nodes_hear_it_with_the_limits_of_proxies_while_the_database_is_away() -> None:
    server, node = zmq.curve_keypair(), zmq.curve_keypair()
    limits, usage = (f"tcp://127.0.0.1:{free_port()}" for _ in range(2))
    ledger = Ledger(sa.create_engine("postgresql+psycopg2://nobody@127.0.0.1:1/nothing"))
    endpoints = Endpoints(limits, usage, *server, frozenset({node[0]}))
    places = EnforcingServers({"p1": 10**8})
    regulation = Regulation(ledger, places, endpoints, "AUTH_", RateSettings(), lambda: 1, replication=RATE)
    with closing(regulation), zmq.Context() as context, context.socket(zmq.SUB) as heard:
        heard.curve_serverkey, (heard.curve_publickey, heard.curve_secretkey) = server[0], node
        heard.setsockopt(zmq.SUBSCRIBE, b"")
        heard.linger = 0
        heard.connect(limits)
        regulation.begin()
        assert heard.poll(60_000)
        assert json.loads(heard.recv())["replication"] == RATE
