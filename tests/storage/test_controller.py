"""The storage controller as a process, with a real Swift and a real database: SLOs held, views made and removed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import httpx
import pytest

from storage_bridge.model import AchievedBandwidth, BandwidthSlo, StorageUnavailableError, View
from storage_controller.swift.views import SwiftAdmin, SwiftViews
from tests.storage.test_bandwidth import rate_of_gets
from tests.storage.test_views import HEADER, WANTED, meters
from tests.support.object_store import ADMIN, Person, logged_in, object_store
from tests.support.postgres import PostgresServer
from tests.support.waiting import DEADLINE_S, until
from tests.support.whole_storage import CAPACITY, MB, TOKEN, Whole, whole_storage


@pytest.fixture(scope="module")
def connected(postgres_server: PostgresServer) -> Iterator[Whole]:
    """One store and controller for all tests of this file."""
    url = postgres_server.create_database()
    with whole_storage(url) as made:
        yield made
    postgres_server.drop_database(url)


@pytest.fixture
def whole(connected: Whole) -> Iterator[Whole]:
    """Without SLOs and views before; what a test has left fails it."""
    yield connected
    for tenant in connected.controller.slos():
        connected.controller.clear_slo(tenant)
    assert list(connected.controller.views()) == []
    until(lambda: not any(moved.read_bytes_per_s for moved in connected.controller.achieved_bandwidth().values()))


def test_slos_are_held_and_the_spare_is_shared(whole: Whole) -> None:
    """Two tenants with three streams each: 8 of 12 MB/s are promised to one, which gets 10 with half of the spare."""
    with ExitStack() as stack:
        people: list[Person] = []
        for login in ("acme:ann", "beta:bob"):
            person = stack.enter_context(logged_in(whole.store, login))
            person.put("data")
            person.put("data/object", os.urandom(20 * MB))
            people.append(person)
        whole.controller.set_slo("acme", BandwidthSlo(8 * MB))
        rates = [0.0, 0.0]

        def read(number: int) -> None:
            rate_of_gets(people[number], 3, 4.0)  # until limits are there
            rates[number] = rate_of_gets(people[number], 3, 8.0)

        threads = [threading.Thread(target=read, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(8.0)
        achieved = whole.controller.achieved_bandwidth()
        for thread in threads:
            thread.join()
    assert rates[0] > 8 * MB
    assert 1 * MB < rates[1] < 4 * MB
    assert sum(rates) < 1.15 * CAPACITY
    assert achieved["acme"].read_bytes_per_s > 7 * MB


def test_new_reader_is_limited_from_the_first_second(whole: Whole) -> None:
    """Promised or not, alone or beside others: a burst of half a second is within."""
    with ExitStack() as stack:
        ann, bob = (stack.enter_context(logged_in(whole.store, login)) for login in ("acme:ann", "beta:bob"))
        for person in (ann, bob):
            person.put("data")
            person.put("data/object", os.urandom(10 * MB))
        whole.controller.set_slo("acme", BandwidthSlo(8 * MB))
        time.sleep(3.0)  # until the uploads are forgotten
        assert rate_of_gets(bob, 3, 1.0) < 1.6 * CAPACITY
        goes_on = threading.Thread(target=rate_of_gets, args=(bob, 3, 4.0))
        goes_on.start()
        time.sleep(2.0)
        assert rate_of_gets(ann, 3, 1.0) < 1.6 * CAPACITY
        goes_on.join()


def test_a_view_is_made_in_swift_and_goes_again(whole: Whole) -> None:
    content, wanted = meters(1, 5000)
    view = View("e1", "acme", "swift2d://meters.zoe/2015", tuple(WANTED["columns"]), str(WANTED["where"]))
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", content)
        view = replace(view, token=ann.token)
        for _ in range(2):
            whole.controller.create_view(view)
        assert ann.view("zoe-view-e1") == wanted
        sample = whole.controller.sample("e1", ann.token)
        assert (sample.source_bytes, sample.sampled_bytes, sample.selected_bytes) == (
            len(content),
            len(content),
            len(wanted),
        )
        assert 0 < sample.delivered_bytes < len(wanted)
        assert sample.columns == tuple(WANTED["columns"])
        # Once the readers of the test before are forgotten.
        until(lambda: whole.controller.sample("e1", ann.token).rate_bytes_per_s == CAPACITY, deadline_s=30.0)
        everything = View("e4", "acme", "swift2d://meters.zoe/2015", where="kwh < 0", token=ann.token)
        whole.controller.create_view(everything)
        assert whole.controller.sample("e4", ann.token).columns == tuple(HEADER.decode().strip().split(","))
        whole.controller.drop_view("e4")
        with pytest.raises(StorageUnavailableError, match="there is no column price"):
            whole.controller.create_view(View("e2", "acme", "swift2d://meters.zoe/2015", ("price",), token=ann.token))
        with pytest.raises(StorageUnavailableError, match="404"):
            whole.controller.create_view(View("e3", "acme", "swift2d://nothing.zoe/2015", token=ann.token))
        assert list(whole.controller.views()) == [view]
        for _ in range(2):
            whole.controller.drop_view("e1")
        assert ann.call("GET", "zoe-view-e1").status_code == 404


def test_a_view_of_compressed_objects_shows_the_same_and_its_sample_tells_how_they_are_stored(whole: Whole) -> None:
    content, wanted = meters(1, 5000)
    headers = {"X-Auth-Token": TOKEN}
    with logged_in(whole.store, "acme:ann") as ann, httpx.Client(base_url=whole.url, headers=headers) as http:
        rule = {"text": "FOR CONTAINER acme/packed DO SET COMPRESSION"}
        assert http.post("/v1/rules", json=rule).status_code == 201
        ann.put("packed")

        def packed() -> bool:
            ann.put("packed/2015/a.csv", content)
            return "X-Zoe-Why" in ann.call("HEAD", "packed/2015/a.csv", headers={"X-Zoe-Why": "yes"}).headers

        until(packed)  # the proxy hears of the rule
        view = View("p1", "acme", "swift2d://packed.zoe/2015", tuple(WANTED["columns"]), str(WANTED["where"]))
        whole.controller.create_view(replace(view, token=ann.token))
        assert ann.view("zoe-view-p1") == wanted
        sample = whole.controller.sample("p1", ann.token)
        assert (sample.sampled_bytes, sample.selected_bytes) == (len(content), len(wanted))
        assert sample.filters == ("compression",)
        stored = int(ann.call("HEAD", "packed/2015/a.csv", headers={"X-Zoe-Why": "yes"}).headers["X-Zoe-Stored-Bytes"])
        assert 0 < stored < len(content) / 2
        assert sample.stored_share == pytest.approx(stored / len(content))
        whole.controller.drop_view("p1")


def test_moved_bytes_are_reported_by_client_address(whole: Whole) -> None:
    """Two clients of one tenant: one reads, one writes; over both workers of the proxy."""
    size = 3 * MB
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("data")
        ann.put("data/object", os.urandom(size))

        def client(address: str) -> httpx.Client:
            headers = {"X-Auth-Token": ann.token}
            return httpx.Client(transport=httpx.HTTPTransport(local_address=address), headers=headers, timeout=60)

        with client("127.0.0.7") as reader, client("127.0.0.8") as writer:
            most: dict[str, AchievedBandwidth] = {}
            until(lambda: not whole.controller.clients())
            for _ in range(6):
                assert len(reader.get(f"{ann.account_url}/data/object").content) == size
                assert writer.put(f"{ann.account_url}/data/other", content=os.urandom(size)).is_success
                for address, bandwidth in (whole.controller.clients() or {}).items():
                    before = most.get(address, AchievedBandwidth(0.0, 0.0))
                    read, write = before.read_bytes_per_s, before.write_bytes_per_s
                    most[address] = AchievedBandwidth(
                        max(read, bandwidth.read_bytes_per_s), max(write, bandwidth.write_bytes_per_s)
                    )
        achieved = whole.controller.achieved_bandwidth()
    assert "acme" in achieved
    assert most["127.0.0.7"].read_bytes_per_s > MB
    assert most["127.0.0.8"].write_bytes_per_s > MB
    assert most["127.0.0.7"].write_bytes_per_s == most["127.0.0.8"].read_bytes_per_s == 0
    until(lambda: not any(moved.read_bytes_per_s for moved in (whole.controller.clients() or {}).values()))


def test_a_sample_tells_the_rate_that_its_tenant_would_get(whole: Whole) -> None:
    """Beside a reader without a limit, half of the capacity; alone all of it."""
    content, _ = meters(1, 5000)
    view = View("e1", "acme", "swift2d://meters.zoe/2015", tuple(WANTED["columns"]), str(WANTED["where"]))
    with logged_in(whole.store, "acme:ann") as ann, logged_in(whole.store, "beta:bob") as bob:
        ann.put("meters")
        ann.put("meters/2015/a.csv", content)
        bob.put("data")
        bob.put("data/object", os.urandom(10 * MB))
        whole.controller.create_view(replace(view, token=ann.token))
        until(lambda: whole.controller.sample("e1", ann.token).rate_bytes_per_s == CAPACITY, deadline_s=30.0)
        enough = threading.Event()
        reads = threading.Thread(target=rate_of_gets, args=(bob, 3, DEADLINE_S, enough))
        reads.start()
        try:
            until(lambda: whole.controller.sample("e1", ann.token).rate_bytes_per_s <= 0.6 * CAPACITY)
        finally:
            enough.set()
            reads.join()
        whole.controller.drop_view("e1")


def test_a_store_that_does_not_make_accounts_by_itself_tells_which_tenants_there_are() -> None:
    with object_store(nodes=1, replicas=1, autocreate=False) as store:
        swift = SwiftViews(SwiftAdmin(store.auth_url, ADMIN.login, ADMIN.key))
        assert not swift.has_account("acme")
        with logged_in(store, ADMIN.login) as admin:
            root = admin.account_url.rpartition("/")[0]
            assert admin.http.put(f"{root}/AUTH_acme").is_success
            assert swift.has_account("acme")
            assert admin.http.delete(f"{root}/AUTH_acme").is_success
            assert not swift.has_account("acme")
    assert swift.has_account("acme")  # no request is refused because Swift is away
