"""The same gateway before Ceph's object gateway, beside a Swift: clients find the same."""

from __future__ import annotations

import itertools
import json
import os
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from storage_bridge.model import REWRITE, REWRITE_HEADER, WHY_HEADER
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.file import RuleFile
from tests.storage.test_gateway import PART, multipart, steps, told
from tests.storage.test_rules import TEXT
from tests.storage.test_views import WANTED, meters
from tests.support import long
from tests.support.gateway import gateway_before_ceph
from tests.support.object_store import Person, definition, logged_in
from tests.support.s3 import s3_client
from zoe_embedded.swift.store import ObjectStore

pytestmark = long.of_storage


@pytest.fixture(scope="module")
def gateway() -> Iterator[ObjectStore]:
    with gateway_before_ceph() as made:
        yield made


@pytest.fixture
def here(gateway: ObjectStore) -> Iterator[Person]:
    with logged_in(gateway, "acme:ann") as person:
        yield person


@pytest.fixture
def name() -> str:
    return f"c-{os.urandom(4).hex()}"


@pytest.mark.parametrize("seed", range(2))
def test_it_answers_as_swift_does(here: Person, bob: Person, ann: Person, name: str, seed: int) -> None:
    for person in (here, ann):
        person.put(name)
    for number, (method, path, content, headers) in enumerate(steps(random.Random(seed))):
        quoted = f"{name}/{path}".replace("%", "%25").replace("?", "%3F")
        one, other = (person.call(method, quoted, content=content, headers=headers) for person in (here, ann))
        if one.status_code == 200 and "," in headers.get("Range", ""):  # Ceph sends one range, so all of it is sent
            continue
        assert told(one) == told(other), (number, method, path, headers, one.text[:99], other.text[:99])
    lists = [[(e["name"], e["bytes"], e["hash"]) for e in person.listing(name)] for person in (here, ann)]
    assert lists[0] == lists[1]


def test_large_objects_have_their_size_in_listings(here: Person, name: str) -> None:
    here.put(name)
    parts = [os.urandom(1000), os.urandom(700)]
    for number, part in enumerate(parts):
        here.put(f"{name}/part-{number}", part)
    manifest = json.dumps([{"path": f"{name}/part-{number}"} for number in range(2)]).encode()
    made = here.call("PUT", f"{name}/whole?multipart-manifest=put", content=manifest)
    assert made.status_code == 201, made.text
    assert here.call("GET", f"{name}/whole").content == b"".join(parts)
    assert {entry["name"]: entry["bytes"] for entry in here.listing(name)} == {
        "part-0": 1000,
        "part-1": 700,
        "whole": 1700,
    }
    assert here.call("DELETE", f"{name}/whole?multipart-manifest=delete").status_code == 200
    assert here.listing(name) == []


def test_views_of_what_ceph_keeps(gateway: ObjectStore, here: Person, name: str) -> None:
    here.put(name)
    content, wanted = meters(1, 3000)
    here.put(f"{name}/part.csv", content)
    view = f"zoe-view-{os.urandom(4).hex()}"
    with logged_in(gateway, "controller:controller", here.account_url) as admin:
        admin.put(view, **definition(name, split_bytes=2**16, **WANTED))
    assert here.view(view) == wanted


def test_parts_by_s3_are_one_object(gateway: ObjectStore, name: str) -> None:
    with s3_client(gateway, "acme:ann") as client:
        parts = [os.urandom(PART), os.urandom(1000)]
        assert client.call("PUT", name).status_code == 200
        etag = multipart(client, f"{name}/whole", parts)
        assert client.call("GET", f"{name}/whole").content == b"".join(parts)
        listing = client.call("GET", name).text
        assert f"<Size>{PART + 1000}</Size>" in listing
        assert etag in listing


def test_objects_are_stored_again_and_no_write_is_lost(gateway: ObjectStore, here: Person, name: str) -> None:
    file = RuleFile(gateway.directory / "rates.rules")
    with logged_in(gateway, "controller:controller", here.account_url) as admin:
        here.put(name)
        here.put(f"{name}/a", TEXT, **{"X-Object-Meta-Colour": "red"})
        before = _seen(here, f"{name}/a")
        file.write(book_document(RuleBook((replace(parse_rule("FOR TENANT acme DO SET COMPRESSION"), id=1),))))
        try:
            over = threading.Event()

            def again() -> int:
                changed = 0
                for number in itertools.count():
                    if over.is_set():
                        break
                    how = {REWRITE_HEADER: ("rules", "plain")[number % 2]}
                    changed += admin.call(REWRITE, f"{name}/x", headers=how).json()["outcome"] == "changed"
                return changed

            for how, filters in (("rules", 1), ("plain", 0)):
                answer = admin.call(REWRITE, f"{name}/a", headers={REWRITE_HEADER: how})
                assert answer.json()["outcome"] == "changed", answer.text
                done = here.call("HEAD", f"{name}/a", headers={WHY_HEADER: "yes"}).headers.get(WHY_HEADER, "[]")
                assert (len(json.loads(done)), _seen(here, f"{name}/a")) == (filters, before)
            with ThreadPoolExecutor(1) as pool:
                counted = pool.submit(again)
                try:
                    for number in range(60):
                        here.put(f"{name}/x", f"{number:04}".encode() * 5000)
                        here.call("POST", f"{name}/x", headers={"X-Object-Meta-Number": str(number)})
                        for _ in range(3):
                            answer = here.call("GET", f"{name}/x")
                            assert answer.content == f"{number:04}".encode() * 5000
                            assert answer.headers["X-Object-Meta-Number"] == str(number)
                finally:
                    over.set()
                assert counted.result() > 5
        finally:
            file.write(book_document(RuleBook()))


def _seen(person: Person, path: str) -> tuple[object, ...]:
    answer = person.call("GET", path)
    [entry] = [entry for entry in person.listing(path.partition("/")[0]) if entry["name"] == path.partition("/")[2]]
    headers = ("Etag", "Content-Length", "Content-Type", "X-Object-Meta-Colour")
    return answer.content, *map(answer.headers.get, headers), entry["bytes"], entry["hash"]
