"""What proxies report, over ZeroMQ: nothing that somebody sends ends the loop."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
import zmq

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.bandwidth.regulator import Settings
from storage_bridge.controller.ledger import Ledger
from storage_bridge.controller.regulation import Endpoints, Regulation
from tests.support.installation import free_port
from tests.support.waiting import until


@pytest.fixture
def usage() -> Iterator[tuple[Regulation, zmq.SyncSocket]]:
    """A loop whose database is away, and a proxy's line to it."""
    server, client = zmq.curve_keypair(), zmq.curve_keypair()
    limits, told = (f"tcp://127.0.0.1:{free_port()}" for _ in range(2))
    ledger = Ledger(sa.create_engine("postgresql+psycopg2://nobody@127.0.0.1:1/nothing"))
    regulation = Regulation(
        ledger, Capacity(10**8, {"p1": 10**8}), Endpoints(limits, told, *server), "AUTH_", Settings()
    )
    regulation.begin()
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.curve_serverkey = server[0]
        socket.curve_publickey, socket.curve_secretkey = client
        socket.connect(told)
        yield regulation, socket
        socket.linger = 0
    regulation.close()


def report(number: int, **changes: object) -> bytes:
    told = {"proxy": "p1", "epoch": 1, "seq": number, "seconds": 0.25, "accounts": {"AUTH_acme": {"get": 10**6}}}
    return json.dumps({**told, **changes}).encode()


def test_reports_that_make_no_sense_are_told_and_the_next_one_counts(
    usage: tuple[Regulation, zmq.SyncSocket], caplog: pytest.LogCaptureFixture
) -> None:
    regulation, proxy = usage
    nonsense = [
        b"",
        b"\xff",
        b"[]",
        report(1, epoch=float("inf")),
        report(1, seq=float("nan")),
        report(1, proxy="p2"),
        report(1, seconds=0),
        report(1, accounts={"AUTH_acme": {"delete": 1}}),
        report(1, accounts={"AUTH_acme": {"get": float("inf")}}),
        report(1, accounts=[]),
    ]
    for message in nonsense:
        proxy.send(message)
    until(lambda: caplog.text.count("a report that makes no sense") == len(nonsense), lambda: caplog.text)
    number = 1

    def counted() -> bool:
        nonlocal number
        number += 1
        proxy.send(report(number))
        time.sleep(0.1)
        return "acme" in regulation.achieved()

    until(counted)
