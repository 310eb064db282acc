"""Replication at a real Swift is held: an emptied device is filled again by ssync, no faster than nodes were told."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from storage_controller.nodes.questions import ask
from storage_controller.settings import NodeKind
from storage_filters.counting.rate_table import RateTable
from tests.support.counting_relay import CountingRelay, counting_relay
from tests.support.object_store import logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.waiting import until
from zoe_embedded.swift.store import ObjectStore

MB = 10**6
RATE = 2 * MB
OBJECTS, OBJECT_BYTES = 10, 1_200_000
TOTAL = OBJECTS * OBJECT_BYTES
WINDOW_S = 1.0
AHEAD_BYTES = 256 * 1024
"""What the server's kernel holds, twice what the filter asks for, and a piece of the filter and of the relay."""


@pytest.fixture
def filled() -> Iterator[tuple[ObjectStore, Pusher, CountingRelay]]:
    """Two nodes, with a copy of each object on both; replicators reach the second one through a relay."""
    with pushed_store(nodes=2, replicas=2) as (store, pusher), logged_in(store, "acme:ann") as ann:
        assert ann.call("PUT", "docs").is_success
        for number in range(OBJECTS):
            assert ann.call("PUT", f"docs/{number}", content=os.urandom(OBJECT_BYTES)).is_success
        address = urlsplit(store.servers["object-2"][1])
        with counting_relay((address.hostname or "", address.port or 0)) as relay:
            plan = store.directory / "rings.json"
            rings = json.loads(plan.read_text())
            rings["devices"]["object"][1]["replication_port"] = relay.port
            plan.write_text(json.dumps(rings))
            store.build_rings()
            yield store, pusher, relay


def bytes_of(store: ObjectStore) -> int:
    """Return the bytes of objects on the second node."""
    place = store.directory / "devices" / "node2" / "d2" / "objects"
    return sum(path.stat().st_size for path in place.rglob("*.data"))


def refilled(store: ObjectStore, relay: CountingRelay) -> list[tuple[float, int]]:
    """Empty the second device and have the first node's replicator fill it; return what went there when."""
    assert bytes_of(store) == TOTAL
    shutil.rmtree(store.directory / "devices" / "node2" / "d2" / "objects")
    relay.sent.clear()
    store.replicate(1)
    assert bytes_of(store) == TOTAL
    sent = sorted(relay.sent)
    assert sum(length for _, length in sent) >= TOTAL
    return sent


def fastest_window(sent: list[tuple[float, int]]) -> int:
    """Return the most bytes that went on within a second."""
    return max(sum(length for at_s, length in sent if begin_s <= at_s < begin_s + WINDOW_S) for begin_s, _ in sent)


def push(pusher: Pusher, store: ObjectStore, rate: int) -> None:
    """Tell the nodes this rate, until the second one has it."""
    table = RateTable(store.directory / "replication-2", 0.0)

    def told() -> bool:
        pusher.number += 1
        pusher.limits.send_json({"epoch": 1, "seq": pusher.number, "proxies": {}, "replication": rate})
        return table.turn("replication", "put", 0, time.monotonic()).rate == rate

    try:
        until(told)
    finally:
        table.close()


def test_an_emptied_device_is_filled_no_faster_than_the_nodes_were_told(
    filled: tuple[ObjectStore, Pusher, CountingRelay],
) -> None:
    store, pusher, relay = filled
    free = refilled(store, relay)
    push(pusher, store, RATE)
    held = refilled(store, relay)
    took_s = held[-1][0] - held[0][0]
    print(f"free: {fastest_window(free)} bytes in its fastest second")
    print(f"held at {RATE}: {fastest_window(held)} bytes in its fastest second, {took_s:.2f} s in all")
    assert fastest_window(free) > 1.5 * RATE  # else the limit would show nothing
    assert fastest_window(held) <= RATE * WINDOW_S + AHEAD_BYTES
    assert took_s >= (TOTAL - AHEAD_BYTES) / RATE
    with httpx.Client(trust_env=False) as http:
        last_s = ask(http, NodeKind.OBJECT, store.servers["object-1"][1], 60.0).replicated_s
    assert last_s is not None
    assert abs(time.time() - last_s) < 600
    push(pusher, store, 0)
    assert fastest_window(refilled(store, relay)) > 1.5 * RATE
