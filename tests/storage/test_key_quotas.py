"""Quotas of keys at gateways before several stores: each object counts for the key that wrote it last."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.storage.test_quotas import STORES, status
from tests.support.object_store import USERS, Person, empty, logged_in
from tests.support.s3 import s3_client
from tests.support.waiting import until
from zoe_embedded.swift.configuration import StoreUser
from zoe_embedded.swift.store import ObjectStore

PEOPLE = (*USERS, StoreUser("acme", "amy", "amy-key"))


@pytest.fixture(scope="module", params=STORES)
def gateway(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with request.param(users=PEOPLE) as made:
        yield made


@pytest.fixture
def fresh(gateway: ObjectStore) -> ObjectStore:
    """The gateway, which knows no counts of a test before, and no tokens."""
    forget(gateway)
    return gateway


@pytest.fixture
def ann(fresh: ObjectStore) -> Iterator[Person]:
    with logged_in(fresh, "acme:ann") as person:
        yield person


@pytest.fixture
def amy(fresh: ObjectStore) -> Iterator[Person]:
    with logged_in(fresh, "acme:amy") as person:
        yield person


@pytest.fixture
def admin(fresh: ObjectStore, ann: Person) -> Iterator[Person]:
    """A reseller admin at the account of acme, which is empty and has no quotas of keys before and after."""
    with logged_in(fresh, "controller:controller", ann.account_url) as person:
        empty(person)
        yield person
    with logged_in(fresh, "controller:controller", ann.account_url) as person:
        for key in ("acme:ann", "acme:amy", "*"):
            for kind in ("Bytes", "Count"):
                assert limit(person, **{f"X-Remove-Account-Key-Quota-{kind}": key}) == 204
        empty(person)


def forget(gateway: ObjectStore) -> None:
    """As memcached does when it begins anew."""
    with socket.create_connection(("127.0.0.1", gateway.memcached_port)) as connection:
        connection.sendall(b"flush_all\r\n")
        assert connection.recv(64) == b"OK\r\n"


def limit(admin: Person, **headers: str) -> int:
    return admin.call("POST", headers=headers).status_code


def told(person: Person) -> list[str | None]:
    found = person.call("HEAD").headers
    return [found.get(f"x-account-key-quota-{kind}") for kind in ("bytes", "count")]


def test_each_key_has_its_own(admin: Person, ann: Person, amy: Person) -> None:
    assert (
        limit(admin, **{"X-Account-Key-Quota-Bytes": "acme:ann=1000", "X-Account-Key-Quota-Count": "acme:ann=3"}) == 204
    )
    assert limit(admin, **{"X-Account-Key-Quota-Bytes": "acme:amy=500"}) == 204
    assert told(ann) == ["acme:amy=500, acme:ann=1000", "acme:ann=3"]
    ann.put("kept")
    ann.put("other")
    assert status(ann, "kept/1", os.urandom(400)) == 201
    assert [status(ann, name, os.urandom(400)) for name in ("other/2", "kept/3")] == [201, 413]
    assert status(amy, "kept/4", os.urandom(400)) == 201
    assert status(amy, "kept/5", os.urandom(400)) == 413, "other keys' objects do not count"
    assert [status(ann, name, os.urandom(5)) for name in ("kept/6", "kept/7")] == [201, 413], "three objects are all"
    answer = ann.call("PUT", "kept/7", content=b"")
    assert (answer.status_code, answer.text) == (413, "Upload exceeds quota.")
    assert amy.call("DELETE", "kept/1").status_code == 204, "after any deletion, it counts for the key that wrote it"
    until(lambda: status(ann, "kept/8", os.urandom(300)) == 201)
    assert status(admin, "kept/9", os.urandom(5000)) == 201, "a reseller admin has no quota, and charges no key"
    assert {"name", "hash", "bytes", "content_type", "last_modified"} >= set(ann.listing("kept")[0])


def test_an_object_is_the_key_s_that_wrote_it_last(admin: Person, ann: Person, amy: Person) -> None:
    assert limit(admin, **{"X-Account-Key-Quota-Bytes": "*=1000"}) == 204
    ann.put("kept")
    assert status(ann, "kept/1", os.urandom(900)) == 201
    assert status(ann, "kept/2", os.urandom(200)) == 413
    assert status(amy, "kept/1", os.urandom(900)) == 201
    until(lambda: status(ann, "kept/2", os.urandom(200)) == 201)
    assert status(amy, "kept/3", os.urandom(200)) == 413
    assert ann.call("POST", "kept/1", headers={"Content-Type": "text/x", "X-Object-Meta-A": "b"}).status_code == 202
    assert ann.call("HEAD", "kept/1").headers["content-type"].startswith("text/x")
    assert status(amy, "kept/3", os.urandom(200)) == 413, "metadata alone do not change the owner"
    copied = ann.call("COPY", "kept/1", headers={"Destination": "kept/4"}).status_code
    assert copied == 413, "a copy is its writer's"
    assert ann.call("COPY", "kept/2", headers={"Destination": "kept/4"}).status_code == 201
    assert limit(admin, **{"X-Account-Key-Quota-Bytes": "acme:amy=5000"}) == 204
    assert status(amy, "kept/3", os.urandom(4000)) == 201, "its own goes before that of every key"


def test_uploads_at_once_do_not_exceed_it(admin: Person, ann: Person, amy: Person) -> None:
    assert limit(admin, **{"X-Account-Key-Quota-Bytes": "acme:ann=1500"}) == 204
    ann.put("kept")
    assert status(ann, "kept/small", os.urandom(400)) == 201
    with ThreadPoolExecutor(5) as pool:
        hers = [pool.submit(status, ann, f"kept/{number}", os.urandom(1000)) for number in range(4)]
        another = pool.submit(status, amy, "kept/amy", os.urandom(1000))
    assert sorted(her.result() for her in hers) == [201, 413, 413, 413]
    assert another.result() == 201
    [stored] = [entry["name"] for entry in ann.listing("kept") if entry["name"] not in ("small", "amy")]
    assert amy.call("DELETE", f"kept/{stored}").status_code == 204
    until(lambda: status(ann, "kept/after", os.urandom(1000)) == 201)


def test_it_is_counted_anew_after_all_counts_are_lost(
    gateway: ObjectStore, admin: Person, ann: Person, amy: Person
) -> None:
    assert limit(admin, **{"X-Account-Key-Quota-Bytes": "acme:ann=1000"}) == 204
    ann.put("kept")
    assert status(ann, "kept/1", os.urandom(900)) == 201
    assert status(amy, "kept/2", os.urandom(900)) == 201
    forget(gateway)
    with logged_in(gateway, "acme:ann") as again:
        assert [status(again, f"kept/{name}", os.urandom(size)) for name, size in (("3", 200), ("4", 100))] == [
            413,
            201,
        ]


@contextmanager
def begun(person: Person, path: str, size: int, sent: int) -> Iterator[socket.socket]:
    """An upload of which only the begin was sent."""
    url = urlsplit(f"{person.account_url}/{path}")
    with socket.create_connection((url.hostname or "", url.port or 0)) as connection:
        head = f"PUT {url.path} HTTP/1.1\r\nHost: x\r\nX-Auth-Token: {person.token}\r\nContent-Length: {size}\r\n"
        connection.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 100"), "it reads the body, so it has taken the room"
        connection.sendall(bytes(sent))
        yield connection


def test_killed_gateway_forgets_uploads_in_progress_but_keeps_usage(
    request: pytest.FixtureRequest, gateway: ObjectStore, admin: Person, ann: Person, amy: Person
) -> None:
    if "[swift]" not in request.node.name:
        pytest.skip("it takes a minute, and the store behind makes no difference")
    assert limit(admin, **{"X-Account-Key-Quota-Bytes": "*=1000"}) == 204
    ann.put("kept")
    with begun(ann, "kept/half", 900, 300):
        assert status(ann, "kept/all", bytes(1000)) == 413
        gateway.signal("proxy", signal.SIGKILL)
        gateway.restart("proxy")
    with begun(amy, "kept/slow", 900, 300) as slow:
        began_s = time.monotonic()
        until(lambda: status(ann, "kept/all", bytes(1000)) == 201, deadline_s=65)
        slow.sendall(bytes(1))  # an upload without progress for a minute ends
        until(lambda: time.monotonic() > began_s + 65, deadline_s=70)
        assert status(amy, "kept/more", bytes(101)) == 413
        assert status(amy, "kept/fits", bytes(100)) == 201
        slow.sendall(bytes(599))
        assert slow.recv(12) == b"HTTP/1.1 201"


def test_keys_of_s3_are_the_same(gateway: ObjectStore, admin: Person, ann: Person) -> None:
    assert limit(admin, **{"X-Account-Key-Quota-Bytes": "acme:ann=10"}) == 204
    ann.put("keys")  # S3 takes no name of one letter
    with s3_client(gateway, "acme:ann") as client, s3_client(gateway, "acme:amy") as other:
        assert client.call("PUT", "keys/a", content=b"12345").status_code == 200
        assert other.call("PUT", "keys/b", content=b"123456").status_code == 200
        answer = client.call("PUT", "keys/c", content=b"123456")
        assert (answer.status_code, "<Code>EntityTooLarge</Code>" in answer.text) == (400, True)
    assert status(ann, "keys/c", b"123456") == 413


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"X-Account-Key-Quota-Bytes": "acme:ann"}, "KEY=NUMBER"),
        ({"X-Account-Key-Quota-Bytes": "acme:ann=much"}, "KEY=NUMBER"),
        ({"X-Account-Key-Quota-Count": "=5"}, "a key has"),
        ({"X-Account-Key-Quota-Count": "a,b=5"}, "a key has"),
    ],
)
def test_invalid_quota_is_refused(admin: Person, asked: dict[str, str], why: str) -> None:
    answer = admin.call("POST", headers=asked)
    assert answer.status_code == 400
    assert why in answer.text


def test_only_resellers_set_it(admin: Person, ann: Person) -> None:
    assert limit(ann, **{"X-Account-Key-Quota-Bytes": "acme:ann=1000000"}) == 403
    assert limit(ann, **{"X-Remove-Account-Key-Quota-Bytes": "acme:ann"}) == 403
    assert told(admin) == [None, None]
