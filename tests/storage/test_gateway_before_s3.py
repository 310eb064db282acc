"""A gateway before a store that speaks S3, beside a Swift: clients find the same."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.storage import test_gateway as before_swift
from tests.storage.test_gateway import steps, told
from tests.support import long
from tests.support.gateway import gateway_before_seaweedfs, gateway_before_swift
from tests.support.object_store import Person, logged_in
from tests.support.s3 import s3_client
from tests.support.s3_calls import check_checksums, check_checksums_of_parts, check_conditions, writers_that_succeed
from zoe_embedded.swift.store import ObjectStore


@contextmanager
def before_swifts_s3() -> Iterator[ObjectStore]:
    with gateway_before_swift(protocol="s3") as pair:
        yield pair.gateway


@contextmanager
def before_seaweedfs() -> Iterator[ObjectStore]:
    with gateway_before_seaweedfs() as gateway:
        yield gateway


STORES = [
    pytest.param(before_swifts_s3, id="swifts-s3"),
    pytest.param(before_seaweedfs, id="seaweedfs", marks=long.of_storage),
]


@pytest.fixture(scope="module", params=STORES)
def gateway(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with request.param() as made:
        yield made


@pytest.fixture
def here(gateway: ObjectStore) -> Iterator[Person]:
    with logged_in(gateway, "acme:ann") as person:
        yield person


@pytest.fixture
def name() -> str:
    return f"c-{os.urandom(4).hex()}"


@pytest.mark.parametrize("seed", long.SEEDS_OF_STORAGE)
def test_it_answers_as_swift_does(here: Person, ann: Person, name: str, seed: int) -> None:
    for person in (here, ann):
        person.put(name)
    for number, (method, path, content, headers) in enumerate(steps(random.Random(seed))):
        quoted = f"{name}/{path}".replace("%", "%25").replace("?", "%3F")
        one, other = (person.call(method, quoted, content=content, headers=headers) for person in (here, ann))
        if one.status_code == 200 and "," in headers.get("Range", ""):  # S3 sends one range, so all of it is sent
            continue
        assert told(one) == told(other), (number, method, path, headers, one.text[:99], other.text[:99])
        if method in ("GET", "HEAD"):
            continue
        lists = [[{**e, "last_modified": ""} for e in person.listing(name)] for person in (here, ann)]
        assert lists[0] == lists[1]
    for query in ("prefix=b", "delimiter=/", "limit=1", "marker=b", "reverse=true", "prefix=b/&delimiter=/"):
        lists = [person.call("GET", f"{name}?format=plain&{query}").text for person in (here, ann)]
        assert lists[0] == lists[1]


QUERIES = (
    "", "limit=2", "marker=b", "marker=b/", "marker=b/1&delimiter=/", "marker=b/&delimiter=/", "end_marker=c",
    "end_marker=b/2&delimiter=/", "prefix=b/&delimiter=/", "delimiter=/&limit=2", "reverse=on",
    "reverse=true&delimiter=/", "reverse=true&marker=c&end_marker=a", "reverse=true&marker=b/&delimiter=/", "path=b",
    "path=", "prefix=zz", "delimiter=x/", "limit=0", "prefix=%C3%A4", "reverse=true&limit=3",
)  # fmt: skip


def test_listings_are_swifts(here: Person, ann: Person, name: str) -> None:
    for person in (here, ann):
        person.put(name)
        for path in ("a", "b/1", "b/2", "b/x/3", "c", "ä ö/x+y", "ä&<", "dx/e", "~", "b", "b-", "Z"):
            person.put(f"{name}/{path.replace('&', '%26').replace('+', '%2B')}", path.encode())
    for query in QUERIES:
        lists = [
            [{**entry, "last_modified": ""} for entry in person.call("GET", f"{name}?format=json&{query}").json()]
            for person in (here, ann)
        ]
        assert lists[0] == lists[1], query


FORMATS: list[tuple[str, dict[str, str]]] = [
    ("?format=json", {}),
    ("?format=json&prefix=none", {}),
    ("?format=plain", {}),
    ("?format=xml", {}),
    ("", {"Accept": "application/json"}),
    ("", {"Accept": "text/xml, application/json;q=0.5"}),
    ("", {"Accept": "image/png"}),
    ("", {}),
]


@pytest.mark.parametrize("large", [False, True])
def test_listings_are_swifts_in_each_format(here: Person, ann: Person, name: str, large: bool) -> None:
    """Without a large object, middleware leaves listings in JSON alone; with one, it has something to say."""
    for person in (here, ann):
        person.put(name)
        person.put(f"{name}/one", b"1")
        if large:
            part = {"path": f"/{name}/one", "etag": hashlib.md5(b"1", usedforsecurity=False).hexdigest()}
            person.put(f"{name}/large?multipart-manifest=put", json.dumps([part]).encode())
    for query, headers in FORMATS:
        seen = []
        for person in (here, ann):
            answer = person.call("GET", f"{name}{query}", headers=headers)
            # Times and hashes differ, also of the list of parts, since the PUTs have other times.
            text = re.sub(r"20\d\d-[-0-9T:.]*|[0-9a-f]{32}", "", answer.text)
            told = json.loads(text) if "json" in answer.headers["content-type"] else text
            seen.append((answer.status_code, answer.headers["content-type"], answer.headers.get("vary"), told))
        assert seen[0] == seen[1], query
    assert ("slo_etag" in here.call("GET", f"{name}?format=json").text) == large


def test_containers_are_listed_with_their_counts(here: Person, ann: Person) -> None:
    mark = os.urandom(4).hex()
    for person in (here, ann):
        for container in (f"{mark}-Zä ö", f"{mark}-.", f"{mark}/..".replace("/", "."), f"{mark}-a"):
            made = person.call("PUT", container, headers={"X-Container-Meta-Colour": "blå".encode()})
            assert (made.status_code, made.headers["content-length"]) == (201, "0"), made.text
            assert person.call("HEAD", container).headers["x-container-meta-colour"] == "blå"
            assert person.call("PUT", container).status_code == 202
        person.put(f"{mark}-a/one", b"12345")
        person.put(f"{mark}-a/two", b"123")
        told = person.call("HEAD", f"{mark}-a").headers
        assert (told["x-container-object-count"], told["x-container-bytes-used"]) == ("2", "8")
        assert person.call("DELETE", f"{mark}-a").status_code == 409
        assert person.call("DELETE", f"{mark}-none").status_code == 404
        assert person.call("GET", f"{mark}-none").status_code == 404
        assert person.call("PUT", f"{mark}-none/x", content=b"").status_code == 404
    lists = [person.call("GET", f"?format=json&prefix={mark}").json() for person in (here, ann)]
    assert [(entry["count"], entry["bytes"]) for entry in lists[0]] == [(0, 0), (0, 0), (2, 8), (0, 0)]
    names = [[entry["name"] for entry in found] for found in lists]
    assert names[0] == names[1]  # Swift counts later
    for person in (here, ann):
        assert person.call("DELETE", f"{mark}-.").status_code == 204
        assert f"{mark}-." not in [entry["name"] for entry in person.call("GET", "?format=json").json()]


def test_metadata_is_what_was_put(here: Person, ann: Person, name: str) -> None:
    headers = {
        "X-Object-Meta-Blank": "a  b", "X-Object-Meta-Part": "50%25", "X-Object-Meta-Word": "größe".encode(),
        "X-Object-Meta-Plain": "=?UTF-8?Q?no?=", "Content-Disposition": "attachment; filename=x",
        "Content-Type": "a/b; c=d",
        "Content-Encoding": "gzip", "X-Delete-At": "9999999999",
    }  # fmt: skip
    kept = list(headers)
    for person in (here, ann):
        person.put(name)
        assert person.call("PUT", f"{name}/a", content=b"x", headers=headers).status_code == 201
    seen = [[person.call("HEAD", f"{name}/a").headers.get(text) for text in kept] for person in (here, ann)]
    assert seen[0] == seen[1]
    assert seen[0].count(None) == 0
    for person in (here, ann):
        assert person.call("POST", f"{name}/a", headers={"X-Object-Meta-Part": "ü".encode()}).status_code == 202
    seen = [[person.call("HEAD", f"{name}/a").headers.get(text) for text in kept] for person in (here, ann)]
    assert seen[0] == seen[1]


def test_empty_metadata_stays(gateway: ObjectStore, here: Person, name: str) -> None:
    here.put(name)
    here.put(f"{name}/a", b"x", **{"X-Object-Meta-Empty": "", "X-Object-Meta-Full": "y"})
    with s3_client(gateway, "acme:ann") as client:
        assert client.call("PUT", f"{name}/b", content=b"x", headers={"x-amz-meta-empty": ""}).status_code == 200
    for each in ("a", "b"):
        assert here.call("HEAD", f"{name}/{each}").headers.get("x-object-meta-empty") == ""


def test_of_several_that_want_to_be_first_exactly_one_is(here: Person, name: str) -> None:
    here.put(name)

    def first(number: int) -> tuple[int, bytes]:
        content = b"%d" % number * 50_000
        return here.call("PUT", f"{name}/a", content=content, headers={"If-None-Match": "*"}).status_code, content

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(first, range(6)))
    assert sorted(status for status, _ in found) == [201, 412, 412, 412, 412, 412]
    assert here.call("GET", f"{name}/a").content == next(content for status, content in found if status == 201)
    assert first(9)[0] == 412
    here.put(f"{name}/a", b"others may")


def test_uploads_that_are_not_what_was_announced(here: Person, name: str) -> None:
    here.put(name)
    for content in (b"", b"x", os.urandom(200_000)):
        answer = here.call("PUT", f"{name}/a", content=content, headers={"ETag": "0" * 32})
        assert (answer.status_code, here.listing(name)) == (422, [])
    assert here.call("PUT", f"{name}/b", content=iter([b"ab", b"c"])).status_code == 201
    assert here.call("GET", f"{name}/b").content == b"abc"
    before_swift.test_broken_off_upload_stores_nothing(here, f"{name}-2")


def test_copies(here: Person, name: str) -> None:
    here.put(name)
    here.put(f"{name}/a", b"content", **{"X-Object-Meta-Colour": "blue"})
    assert here.call("COPY", f"{name}/a", headers={"Destination": f"{name}/b"}).status_code == 201
    answer = here.call("GET", f"{name}/b")
    assert (answer.content, answer.headers["x-object-meta-colour"]) == (b"content", "blue")


def test_large_objects_are_the_gateways_and_listed_with_their_size(here: Person, name: str) -> None:
    here.put(name)
    parts = [os.urandom(1000), os.urandom(700)]
    for number, part in enumerate(parts):
        here.put(f"{name}/part-{number}", part)
    manifest = json.dumps([{"path": f"{name}/part-{number}"} for number in range(2)]).encode()
    made = here.call("PUT", f"{name}/whole?multipart-manifest=put", content=manifest)
    assert made.status_code == 201, made.text
    whole = b"".join(parts)
    answer = here.call("GET", f"{name}/whole")
    assert (answer.content, answer.headers["x-static-large-object"]) == (whole, "True")
    assert not [header for header in answer.headers if "zoe-gateway" in header.lower()]
    assert here.call("GET", f"{name}/whole", headers={"Range": "bytes=990-1009"}).content == whole[990:1010]
    etag = answer.headers["etag"]
    assert here.call("GET", f"{name}/whole", headers={"If-None-Match": etag}).status_code == 304
    assert here.call("GET", f"{name}/whole", headers={"If-Match": '"other"'}).status_code == 412
    assert {entry["name"]: entry["bytes"] for entry in here.listing(name)} == {
        "part-0": 1000,
        "part-1": 700,
        "whole": 1700,
    }
    assert here.call("POST", f"{name}/whole", headers={"X-Object-Meta-Colour": "blue"}).status_code == 202
    assert here.call("GET", f"{name}/whole").content == whole, "what middleware keeps stays when metadata is replaced"
    assert here.call("DELETE", f"{name}/whole?multipart-manifest=delete").status_code == 200
    assert here.listing(name) == []
    here.put(f"{name}/d/1", parts[0])
    here.put(f"{name}/d/2", parts[1])
    here.put(f"{name}/dynamic", b"", **{"X-Object-Manifest": f"{name}/d/"})
    assert here.call("GET", f"{name}/dynamic", headers={"Range": "bytes=990-1009"}).content == whole[990:1010]


def test_acl_decides_on_readers_of_a_container(gateway: ObjectStore, here: Person, name: str) -> None:
    here.put(name, **{"X-Container-Read": ".r:*"})
    here.put(f"{name}/open", b"content")
    assert here.call("HEAD", name).headers["x-container-read"] == ".r:*"
    with logged_in(gateway, "beta:bob", here.account_url) as stranger:
        assert stranger.call("GET", f"{name}/open").status_code == 200
        assert stranger.call("PUT", f"{name}/mine", content=b"").status_code == 403
        assert here.call("POST", name, headers={"X-Remove-Container-Read": "x"}).status_code == 204
        assert stranger.call("GET", f"{name}/open").status_code == 403
    with logged_in(gateway, "beta:bob") as other:  # a container of the same name in another account is another
        other.put(name)
        assert other.listing(name) == []


def test_views_of_what_a_store_keeps_that_knows_none(gateway: ObjectStore, here: Person, name: str) -> None:
    both = before_swift.Pair(gateway, gateway)
    before_swift.test_views_of_what_a_store_keeps_that_knows_none(both, here, name)


def test_clients_say_nothing_of_the_size_in_listings(here: Person, name: str) -> None:
    before_swift.test_clients_say_nothing_of_the_size_in_listings(here, name)


def test_parts_by_s3_are_one_object_with_its_size(gateway: ObjectStore, here: Person, name: str) -> None:
    before_swift.test_parts_by_s3_are_one_object_with_its_size(before_swift.Pair(gateway, gateway), here, name)


def test_calls_of_s3_have_conditions_and_checksums(gateway: ObjectStore, name: str) -> None:
    with s3_client(gateway, "acme:ann") as client:
        check_conditions(client, f"{name}-1")
        check_checksums(client, f"{name}-2")
        check_checksums_of_parts(client, f"{name}-3")
        assert writers_that_succeed(client, name) == 1


def test_content_for_a_name_that_ends_with_a_slash_is_kept_or_refused(here: Person, name: str) -> None:
    here.put(name)
    stored = here.call("PUT", f"{name}/folder/", content=b"content")
    if stored.status_code == 400:
        assert "leave out the slash" in stored.text
        assert here.call("GET", f"{name}/folder/").status_code == 404
    else:
        assert here.call("GET", f"{name}/folder/").content == b"content"
    assert here.call("PUT", f"{name}/empty/").status_code == 201
    assert here.call("GET", f"{name}/empty/").content == b""
