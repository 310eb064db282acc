"""Quotas of bytes and objects at gateways before several stores: what clients put counts, however it comes."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from tests.storage.test_filter_host_at_swift import pushed
from tests.support import long
from tests.support.gateway import gateway_before_ceph, gateway_before_seaweedfs, gateway_before_swift
from tests.support.object_store import USERS, Person, logged_in
from tests.support.pusher import pushed_store
from tests.support.s3 import s3_client
from tests.support.waiting import until
from zoe_embedded.swift.configuration import StoreUser
from zoe_embedded.swift.store import ObjectStore

RULE = "FOR TENANT acme DO SET COMPRESSION WITH TYPE=ZSTD"


def compressing(store: ObjectStore, pusher: object) -> ObjectStore:
    pushed(pusher, book_document(RuleBook((replace(parse_rule(RULE), id=1),))))  # type: ignore[arg-type]
    return store


@contextmanager
def before_swift(protocol: str = "swift", users: Sequence[StoreUser] = USERS) -> Iterator[ObjectStore]:
    with gateway_before_swift(make=pushed_store, protocol=protocol, users=users) as (pair, pusher):
        yield compressing(pair.gateway, pusher)


@contextmanager
def before_s3(users: Sequence[StoreUser] = USERS) -> Iterator[ObjectStore]:
    with before_swift("s3", users) as gateway:
        yield gateway


@contextmanager
def before_seaweedfs(users: Sequence[StoreUser] = USERS) -> Iterator[ObjectStore]:
    with gateway_before_seaweedfs(make=pushed_store, users=users) as (gateway, pusher):
        yield compressing(gateway, pusher)


STORES = [
    pytest.param(before_swift, id="swift"),
    pytest.param(before_s3, id="s3"),
    pytest.param(before_seaweedfs, id="seaweedfs", marks=long.of_storage),
    pytest.param(gateway_before_ceph, id="ceph", marks=long.of_storage),
]


@pytest.fixture(scope="module", params=STORES)
def gateway(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with request.param() as made:
        yield made


@pytest.fixture
def ann(gateway: ObjectStore) -> Iterator[Person]:
    with logged_in(gateway, "acme:ann") as person:
        yield person


@pytest.fixture
def name() -> str:
    return f"c-{os.urandom(4).hex()}"


def status(person: Person, path: str, content: object, **headers: str) -> int:
    return person.call("PUT", path, content=content, headers=headers).status_code


def test_quota_counts_original_bytes_of_compressed_objects(
    request: pytest.FixtureRequest, ann: Person, name: str
) -> None:
    ann.put(name, **{"X-Container-Meta-Quota-Bytes": "100000"})
    text = b"the same words again\n" * 2000  # 42,000 bytes, a few hundred when they are compressed
    assert [status(ann, f"{name}/{number}", text) for number in range(3)] == [201, 201, 413]
    if "ceph" not in request.node.name:  # there are no rules before it
        assert int(ann.call("HEAD", name).headers["x-container-bytes-used"]) < len(text)
    answer = ann.call("PUT", f"{name}/3", content=text)
    assert (answer.status_code, answer.text) == (413, "Upload exceeds quota.")
    assert {entry["name"] for entry in ann.listing(name)} == {"0", "1"}
    assert ann.call("DELETE", f"{name}/0").status_code == 204
    until(lambda: status(ann, f"{name}/3", text) == 201)
    assert status(ann, f"{name}/4", b"x" * 16_000) == 201
    assert status(ann, f"{name}/5", b"x") == 413
    assert ann.call("POST", name, headers={"X-Container-Meta-Quota-Bytes": "much"}).status_code == 400
    assert ann.call("POST", name, headers={"X-Remove-Container-Meta-Quota-Bytes": "x"}).status_code == 204
    assert status(ann, f"{name}/5", b"x") == 201


def test_uploads_that_do_not_say_their_length(ann: Person, name: str) -> None:
    ann.put(name, **{"X-Container-Meta-Quota-Bytes": "300000"})
    pieces = [os.urandom(50_000)] * 5
    assert status(ann, f"{name}/a", iter(pieces)) == 201
    assert status(ann, f"{name}/b", iter(pieces)) == 413
    assert status(ann, f"{name}/c", iter(pieces[:1])) == 201
    assert status(ann, f"{name}/d", iter([b"x"])) == 413
    assert [entry["name"] for entry in ann.listing(name)] == ["a", "c"]


def test_beside_one_that_does_not_say_its_length_others_have_the_room_that_it_has_not_used(
    ann: Person, name: str
) -> None:
    ann.put(name, **{"X-Container-Meta-Quota-Bytes": "1000000"})
    beside = []

    def pieces() -> Iterator[bytes]:
        yield b"12345"
        beside.append(status(ann, f"{name}/beside", bytes(999_000)))
        yield bytes(1000)

    assert status(ann, f"{name}/open", pieces()) == 413, "all of it would be more than the quota"
    assert beside == [201]
    assert [entry["name"] for entry in ann.listing(name)] == ["beside"]


def test_copies_and_archives(ann: Person, name: str) -> None:
    ann.put(name, **{"X-Container-Meta-Quota-Bytes": "250"})
    ann.put(f"{name}-2")
    ann.put(f"{name}-2/a", b"x" * 100)
    copied = [
        ann.call("COPY", f"{name}-2/a", headers={"Destination": f"{name}/{number}"}).status_code for number in range(3)
    ]
    assert copied == [201, 201, 413]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for member in ("one", "two"):
            entry = tarfile.TarInfo(member)
            entry.size = 40
            archive.addfile(entry, io.BytesIO(b"y" * 40))
    answer = ann.call(
        "PUT", f"{name}?extract-archive=tar", content=packed.getvalue(), headers={"Accept": "application/json"}
    )
    told = answer.json()
    assert (told["Number Files Created"], [error[1] for error in told["Errors"]]) == (
        1,
        ["413 Request Entity Too Large"],
    )


def test_objects_count_and_large_ones_by_their_parts(ann: Person, name: str) -> None:
    ann.put(name, **{"X-Container-Meta-Quota-Count": "3", "X-Container-Meta-Quota-Bytes": "2500"})
    parts = [os.urandom(1000), os.urandom(700)]
    for number, part in enumerate(parts):
        ann.put(f"{name}/part-{number}", part)
    manifest = json.dumps([{"path": f"{name}/part-{number}"} for number in range(2)]).encode()
    assert status(ann, f"{name}/whole?multipart-manifest=put", manifest) == 201
    assert ann.call("GET", f"{name}/whole").content == b"".join(parts)
    assert status(ann, f"{name}/more", b"") == 413
    assert ann.call("POST", name, headers={"X-Container-Meta-Quota-Count": "4"}).status_code == 204
    assert status(ann, f"{name}/more", b"x" * 500) == 201


def test_many_at_once_do_not_exceed_it(ann: Person, name: str) -> None:
    ann.put(name, **{"X-Container-Meta-Quota-Bytes": "5000"})
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: status(ann, f"{name}/{number}", os.urandom(1000)), range(16)))
    assert set(found) == {201, 413}
    assert sum(entry["bytes"] for entry in ann.listing(name)) <= 5000


def test_the_quota_of_an_account_is_its_resellers(gateway: ObjectStore, name: str) -> None:
    with logged_in(gateway, "beta:bob") as bob, logged_in(gateway, "controller:controller", bob.account_url) as admin:
        bob.put(name)
        bob.put(f"{name}-2")
        assert bob.call("POST", headers={"X-Account-Quota-Bytes": "5"}).status_code == 403
        assert admin.call("POST", headers={"X-Account-Quota-Bytes": "1500"}).status_code == 204
        try:
            assert bob.call("HEAD").headers["x-account-quota-bytes"] == "1500"
            assert status(bob, f"{name}/a", os.urandom(900)) == 201
            assert status(bob, f"{name}-2/b", os.urandom(900)) == 413
            assert status(bob, f"{name}-2/b", os.urandom(500)) == 201
            with logged_in(gateway, "acme:ann", bob.account_url) as stranger:
                assert status(stranger, f"{name}/c", os.urandom(900)) == 403, "of quotas, strangers learn nothing"
            assert status(admin, f"{name}/c", os.urandom(900)) == 201, "as in Swift, the reseller may exceed it"
        finally:
            assert admin.call("POST", headers={"X-Remove-Account-Quota-Bytes": "x"}).status_code == 204
        assert status(bob, f"{name}-2/d", os.urandom(900)) == 201


def test_clients_of_s3_are_told_in_their_words(gateway: ObjectStore, ann: Person, name: str) -> None:
    ann.put(name, **{"X-Container-Meta-Quota-Bytes": "10"})
    with s3_client(gateway, "acme:ann") as client:
        assert client.call("PUT", f"{name}/a", content=b"12345").status_code == 200
        answer = client.call("PUT", f"{name}/b", content=b"123456")
        assert (answer.status_code, "<Code>EntityTooLarge</Code>" in answer.text) == (400, True)
