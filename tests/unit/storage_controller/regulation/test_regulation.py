"""Reports of proxies, over ZeroMQ: no message ends the loop."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa
import zmq

from storage_bridge.bandwidth.assignment import TransferKind
from storage_bridge.bandwidth.regulator import RateSettings
from storage_controller.database.guarantee_store import Ledger
from storage_controller.promises.held_places import EnforcingServers
from storage_controller.regulation.regulation import Regulation
from storage_controller.regulation.server_sockets import Endpoints
from storage_filters.filter_host.records import KINDS
from storage_filters.rules.placing import AT_OBJECT_SERVERS
from storage_filters.rules.rules import CACHING
from tests.support.installation import free_port
from tests.support.waiting import DEADLINE_S, until

Keys = tuple[bytes, bytes]


@dataclass
class Loop:
    """A loop with an absent database; its endpoints and public key, and a proxy's connection to it."""

    regulation: Regulation
    limits: str
    told: str
    public_key: bytes
    proxy: zmq.SyncSocket
    keys: Keys


@contextmanager
def looping(places: EnforcingServers) -> Iterator[Loop]:
    server, client = zmq.curve_keypair(), zmq.curve_keypair()
    limits, told = (f"tcp://127.0.0.1:{free_port()}" for _ in range(2))
    ledger = Ledger(sa.create_engine("postgresql+psycopg2://nobody@127.0.0.1:1/nothing"))
    endpoints = Endpoints(limits, told, *server, frozenset({client[0]}))
    regulation = Regulation(ledger, places, endpoints, "AUTH_", RateSettings(), lambda: 1)
    regulation.begin()
    try:
        with line(told, server[0], client) as proxy:
            yield Loop(regulation, limits, told, server[0], proxy, client)
    finally:
        regulation.close()


@pytest.fixture
def loop() -> Iterator[Loop]:
    with looping(EnforcingServers({"p1": 10**8})) as made:
        yield made


@contextmanager
def line(told: str, server: bytes, own: Keys) -> Iterator[zmq.SyncSocket]:
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.curve_serverkey = server
        socket.curve_publickey, socket.curve_secretkey = own
        socket.linger = 0
        socket.connect(told)
        yield socket


def counts(loop: Loop) -> bool:
    """Send one more, and look whether the tenant is known."""
    loop.proxy.send(report(time.monotonic_ns()))
    time.sleep(0.1)
    return "acme" in loop.regulation.achieved_by_tenant()


def report(number: int, **changes: object) -> bytes:
    told = {"proxy": "p1", "epoch": 1, "seq": number, "seconds": 0.25, "accounts": {"AUTH_acme": {"get": 10**6}}}
    return json.dumps({**told, **changes}).encode()


def test_client_with_an_unknown_key_is_not_heard(loop: Loop) -> None:
    with (
        line(loop.told, loop.public_key, zmq.curve_keypair()) as stranger,
        stranger.get_monitor_socket(zmq.Event.HANDSHAKE_FAILED_AUTH) as failures,
    ):
        assert failures.poll(round(DEADLINE_S * 1000)), "it was let in"
        stranger.disable_monitor()
    until(lambda: counts(loop))


def test_reports_that_make_no_sense_are_told_and_the_next_one_counts(
    loop: Loop, caplog: pytest.LogCaptureFixture
) -> None:
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
        report(1, operations={"account/7": {"get": 1}}),
        report(1, operations={"rule/7": {"get": "many"}}),
    ]
    for message in nonsense:
        loop.proxy.send(message)
    until(lambda: caplog.text.count("invalid report of a server") == len(nonsense), lambda: caplog.text)
    until(lambda: counts(loop))


def test_hosted_filters_follow_the_reports_of_proxies(loop: Loop) -> None:
    """Until one reports, all is taken to be there; a proxy of an older version says nothing, and has no host."""
    assert loop.regulation.hosted_filters() == {*KINDS, CACHING, AT_OBJECT_SERVERS}
    assert loop.regulation.hosted_by() == {}
    loop.proxy.send(report(time.monotonic_ns(), filters=["NOOP", "COMPRESSION"]))
    until(lambda: loop.regulation.hosted_filters() == {"NOOP", "COMPRESSION"})
    assert set(loop.regulation.hosted_by().values()) == {frozenset({"NOOP", "COMPRESSION"})}
    loop.proxy.send(report(time.monotonic_ns()))
    until(lambda: loop.regulation.hosted_filters() == set())


def told_limits(loop: Loop) -> Iterator[dict[str, Any]]:
    """Yield the limits pushed from now on, while reports continue."""
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.curve_serverkey = loop.public_key
        socket.curve_publickey, socket.curve_secretkey = loop.keys
        socket.setsockopt(zmq.SUBSCRIBE, b"")
        socket.linger = 0
        socket.connect(loop.limits)
        while True:
            for server in ("p1", "o1"):
                loop.proxy.send(report(time.monotonic_ns(), proxy=server))
            if socket.poll(300):
                yield json.loads(socket.recv())


def test_where_object_servers_hold_bandwidth_proxies_have_no_limits_and_are_counted_alone() -> None:
    places = EnforcingServers({"p1": 10**9}, {"o1": 10**7, "o2": 10**7}, 2, frozenset({"o3"}))
    with looping(places) as loop:
        give_up_s = time.monotonic() + DEADLINE_S
        for message in told_limits(loop):
            assert time.monotonic() < give_up_s, message
            of_servers = message["proxies"]
            if "AUTH_acme" in of_servers.get("o1", {}) and "o1" in message["heard"]:
                break
        assert (of_servers["p1"], of_servers["o3"]) == ({}, {})
        assert 0 < of_servers["o1"]["AUTH_acme"]["get"] <= 10**7
        assert "o2" not in of_servers, "it has not reported, and keeps its former limits"
        assert set(message["others"]) == {"o1"}
        assert set(loop.regulation.silent_s()) == {"p1"}
        assert loop.regulation.silent_nodes_s()["o1"] < loop.regulation.silent_nodes_s()["o2"] == math.inf
        [moved] = [
            bandwidth.read_bytes_per_s
            for name, bandwidth in loop.regulation.achieved_by_tenant().items()
            if name == "acme"
        ]
        assert moved == pytest.approx(4 * 10**6, rel=0.5), "what proxies count, and not twice"


def test_writes_count_for_each_replica_where_object_servers_hold_bandwidth() -> None:
    slos = {("acme", TransferKind.READ): 100, ("acme", TransferKind.WRITE): 100}
    at_nodes, at_proxies = EnforcingServers({"p1": 1}, {"o1": 1}, 3), EnforcingServers({"p1": 1}, {}, 3)
    assert at_nodes.server_rates(slos) == {("acme", TransferKind.READ): 100, ("acme", TransferKind.WRITE): 300}
    assert (at_nodes.client_bytes(300, TransferKind.WRITE), at_nodes.client_bytes(300, TransferKind.READ)) == (100, 300)
    assert at_proxies.server_rates(slos) == slos
    assert at_proxies.client_bytes(300, TransferKind.WRITE) == 300
