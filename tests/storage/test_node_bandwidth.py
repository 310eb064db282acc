"""Bandwidth, and CPU time of filters, held at the object servers of a real Swift with a copy of each object on two."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import httpx
import pytest

from storage_bridge.model import BandwidthSlo, StoreExecution
from storage_filters.counting.rate_table import RateTable
from tests.storage.test_bandwidth import account_of, rate_of_gets
from tests.storage.test_cpu_bounds import CORES, counted_s, text
from tests.storage.test_rules import applied
from tests.support.object_store import Person, logged_in
from tests.support.postgres import PostgresServer
from tests.support.pusher import Pusher, pushed_store
from tests.support.store_executions import sign_in
from tests.support.waiting import until
from tests.support.whole_storage import CAPACITY, MB, TOKEN, Whole, whole_storage
from zoe_embedded.swift.store import ObjectStore

NODES = ("object-1", "object-2")
RATE, OBJECT_BYTES = 2 * MB, 6 * MB
HELD_S = 2.0
"""Three seconds at that rate, of which half a second is a burst, and as much may be under way."""
TWO = {"nodes": 2, "replicas": 2, "bandwidth_at_nodes": True}


class Nodes:
    """Messages for the object servers, and their reports."""

    def __init__(self, store: ObjectStore, pusher: Pusher) -> None:
        self._store = store
        self._pusher = pusher
        self.moved: dict[tuple[str, str, str], int] = {}

    def push(self, **accounts: Mapping[str, float]) -> None:
        """Limit these accounts alone; returns when both have heard it."""
        self._pusher.number += 1
        proxies = {"proxy": {}, **dict.fromkeys(NODES, accounts)}
        told = {"epoch": 1, "seq": self._pusher.number, "proxies": proxies}
        for number in (1, 2):
            with closing(RateTable(self._store.directory / f"node-rates-{number}")) as table:
                until(lambda: self._told(told) or self._has(table, accounts))

    def _told(self, message: Mapping[str, Any]) -> bool:
        self._pusher.limits.send_json(message)
        return False

    @staticmethod
    def _has(table: RateTable, accounts: Mapping[str, Mapping[str, float]]) -> bool:
        wanted = [(account, way, rate) for account, rates in accounts.items() for way, rate in rates.items()]
        now_s = time.monotonic()
        if not wanted:
            return not any(table.turn(name, way, 0, now_s).rate for name, way in table.uses_by_account(now_s))
        return all(table.turn(account, way, 0, now_s).rate == rate for account, way, rate in wanted)  # type: ignore[arg-type]

    def listen(self, seconds: float = 1.0) -> None:
        """Add up what both report in that time."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            if not self._pusher.usage.poll(50):
                continue
            told = json.loads(self._pusher.usage.recv())
            if told["proxy"] in NODES:
                for account, directions in told["accounts"].items():
                    for way, moved in directions.items():
                        place = told["proxy"], account, way
                        self.moved[place] = self.moved.get(place, 0) + moved


@pytest.fixture(scope="module")
def pushed() -> Iterator[tuple[ObjectStore, Nodes]]:
    with pushed_store(**TWO) as (store, pusher):
        yield store, Nodes(store, pusher)


@pytest.fixture
def ann(pushed: tuple[ObjectStore, Nodes]) -> Iterator[Person]:
    with logged_in(pushed[0], "acme:ann") as person:
        person.put("data")
        person.put("data/object", os.urandom(OBJECT_BYTES))
        yield person


def took_s(person: Person, method: str, path: str, content: bytes = b"") -> float:
    began_s = time.monotonic()
    answer = person.call(method, path, content=content)
    assert answer.is_success
    assert method != "GET" or len(answer.content) == OBJECT_BYTES
    return time.monotonic() - began_s


def test_reads_and_writes_are_held_at_each_server_which_counts_its_copy(
    pushed: tuple[ObjectStore, Nodes], ann: Person
) -> None:
    store, nodes = pushed
    nodes.push(**{account_of(ann): {"get": RATE, "put": RATE}})
    nodes.listen()
    nodes.moved.clear()
    assert took_s(ann, "GET", "data/object") > HELD_S
    assert took_s(ann, "PUT", "data/written", os.urandom(OBJECT_BYTES)) > HELD_S
    nodes.listen()
    account = account_of(ann)
    assert [nodes.moved[node, account, "put"] for node in NODES] == [OBJECT_BYTES] * 2
    assert sum(nodes.moved.get((node, account, "get"), 0) for node in NODES) == OBJECT_BYTES
    with logged_in(store, "beta:bob") as bob:
        bob.put("data")
        assert took_s(bob, "PUT", "data/other", os.urandom(OBJECT_BYTES)) < HELD_S
    nodes.push()
    assert took_s(ann, "GET", "data/object") < HELD_S


def test_copies_that_servers_send_each_other_are_not_counted(pushed: tuple[ObjectStore, Nodes], ann: Person) -> None:
    store, nodes = pushed
    assert ann.call("GET", "data").is_success
    nodes.push(**{account_of(ann): {"get": MB / 10, "put": MB / 10}})
    nodes.listen()
    nodes.moved.clear()
    place = store.directory / "devices" / "node2" / "d2" / "objects"

    def bytes_there() -> int:
        return sum(path.stat().st_size for path in place.rglob("*.data"))

    before = bytes_there()
    assert before >= OBJECT_BYTES
    shutil.rmtree(place)
    began_s = time.monotonic()
    store.replicate(1)
    assert bytes_there() == before
    assert time.monotonic() - began_s < before / MB, "ten times as fast as the account"
    nodes.listen()
    assert nodes.moved == {}


@pytest.fixture(scope="module")
def whole(postgres_server: PostgresServer) -> Iterator[Whole]:
    """Its store moves three times as much as it promises, since each of the two servers does."""
    url = postgres_server.create_database()
    with whole_storage(url, further={"filter_cores_of": {"beta": CORES}}, **TWO) as made:
        yield made
    postgres_server.drop_database(url)


@pytest.fixture
def controller(whole: Whole) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=whole.url, headers={"X-Auth-Token": TOKEN}, timeout=60) as http:
        yield http


def test_the_controller_hears_from_the_servers_where_it_holds_bandwidth(controller: httpx.Client) -> None:
    def reports() -> dict[str, float | None]:
        return dict(controller.get("/v1/reports").json())

    until(lambda: None not in reports().values())
    assert set(reports()) == {"proxy", *NODES}
    assert set(controller.get("/v1/hosting").json()) == {"proxy"}


def test_slos_are_held_at_object_servers_and_the_spare_is_shared(whole: Whole) -> None:
    """Both servers move 12 MB/s. Of 24 to read, one of two tenants is promised 12, and half of the rest is its own."""
    rates = [0.0, 0.0]
    with ExitStack() as stack:
        people = [stack.enter_context(logged_in(whole.store, login)) for login in ("acme:ann", "beta:bob")]
        for person in people:
            person.put("data")
            person.put("data/object", os.urandom(20 * MB))
        whole.controller.set_slo("acme", BandwidthSlo(CAPACITY))

        def read(number: int) -> None:
            rate_of_gets(people[number], 8, 5.0)  # until limits are there
            rates[number] = rate_of_gets(people[number], 8, 8.0)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(read, (0, 1)))
        whole.controller.clear_slo("acme")
    print([round(rate / MB, 1) for rate in rates])
    # Which server a stream meets is drawn for each object, so that a second's rates vary more than at proxies.
    assert rates[0] > 0.85 * CAPACITY
    assert rates[1] < 0.85 * rates[0]
    assert sum(rates) < 1.15 * 2 * CAPACITY


def test_writes_are_promised_as_their_clients_see_them(whole: Whole) -> None:
    """Each byte is written twice: 8 of 12 MB/s of a client are 16 of 24 at the servers."""
    with ExitStack() as stack:
        people = [stack.enter_context(logged_in(whole.store, login)) for login in ("acme:ann", "beta:bob")]
        for person in people:
            person.put("written")
        whole.controller.set_slo("acme", BandwidthSlo(None, 8 * MB))
        moved, over = [0, 0], threading.Event()

        def write(number: int, stream: int) -> None:
            person, content = people[number % 2], os.urandom(2 * MB)
            with httpx.Client(timeout=60, headers=person.http.headers) as http:
                while not over.is_set():
                    http.put(f"{person.account_url}/written/{stream}", content=content).raise_for_status()
                    moved[number % 2] += len(content)

        threads = [threading.Thread(target=write, args=(number, number)) for number in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(6.0)
        before, began_s = list(moved), time.monotonic()
        time.sleep(8.0)
        rates = [(after - first) / (time.monotonic() - began_s) for after, first in zip(moved, before, strict=True)]
        over.set()
        for thread in threads:
            thread.join()
        whole.controller.clear_slo("acme")
    print([round(rate / MB, 1) for rate in rates])
    assert rates[0] > 7 * MB
    assert rates[1] < 4.5 * MB
    assert sum(rates) < 1.2 * CAPACITY


def test_an_execution_is_held_apart_from_its_tenant_also_for_segments(whole: Whole) -> None:
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("parts")
        ann.put("data")
        for number in range(3):
            ann.put(f"parts/{number}", os.urandom(MB))
        manifest = json.dumps([{"path": f"/parts/{number}"} for number in range(3)])
        assert ann.call("PUT", "data/large?multipart-manifest=put", content=manifest).status_code == 201
        credential = whole.controller.set_execution(StoreExecution("x1", "acme", BandwidthSlo(4 * MB)))
        token = sign_in(whole.store, credential.user, credential.key).headers["X-Auth-Token"]
        tables = [RateTable(whole.store.directory / f"node-rates-{number}") for number in (1, 2)]

        def counted(name: str) -> int:
            uses = [table.uses_by_account(time.monotonic()).get((name, "get")) for table in tables]
            return sum(use.total for use in uses if use is not None)

        account = account_of(ann)
        before = counted(account)
        answer = httpx.get(f"{ann.account_url}/data/large", headers={"X-Auth-Token": token}, timeout=60)
        assert len(answer.content) == 3 * MB
        of_execution = counted(f"{account}/x1")
        assert 3 * MB < of_execution < 3 * MB + 10_000, "and the manifest"
        assert counted(account) == before
        forged = {"X-Backend-Zoe-Execution": "x1"}
        assert ann.call("GET", "parts/0", headers=forged).is_success
        assert (counted(f"{account}/x1"), counted(account)) == (of_execution, before + MB)
        whole.controller.drop_execution("x1")
        for table in tables:
            table.close()


def test_filters_at_object_servers_are_counted_and_bounded(whole: Whole, controller: httpx.Client) -> None:
    content = text(2 * 2**20)
    rule = "FOR TENANT beta DO SET COMPRESSION WITH TYPE=GZIP, LEVEL=9 ON OBJECT"
    with applied(controller, whole, rule), logged_in(whole.store, "beta:bob") as bob:
        bob.put("packed")
        began_s = time.monotonic()
        bob.put("packed/object", content)
        wrote_s = time.monotonic() - began_s
        for node in NODES:
            took = counted_s(controller, tenant="beta", proxy=node)
            assert 0.02 < took < 3.0
            assert wrote_s > 0.5 * took / CORES
        assert bob.call("GET", "packed/object").content == content
        assert counted_s(controller, tenant="beta", proxy="proxy") < 0.05, "except a checksum of the original"
