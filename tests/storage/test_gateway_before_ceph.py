"""The same gateway before Ceph's object gateway, beside a Swift: clients find the same."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator

import pytest

from tests.storage.test_gateway import PART, multipart, steps, told
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
