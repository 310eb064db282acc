"""A gateway before a real Swift: it answers like Swift, and the store behind it does not know its additions."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import re
import signal
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.hostile.killing import kill_often
from tests.storage.test_views import WANTED, meters
from tests.support import long
from tests.support.framing import CASES, answer, is_refused, request
from tests.support.gateway import Pair, gateway_before_swift
from tests.support.object_store import Person, definition, logged_in
from tests.support.s3 import S3Client, s3_client
from tests.support.s3_calls import (
    check_checksums,
    check_checksums_of_parts,
    check_conditions,
    writers_that_succeed,
)
from tests.support.waiting import until
from tests.support.whole_storage import keyring

PART = 5 * 2**20
KILLS = 10
SAME_HEADERS = ("etag", "content-length", "content-type", "content-range", "x-object-meta-colour", "x-object-meta-size")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with gateway_before_swift(keyring=keyring) as both:
        yield both


@pytest.fixture
def ann(pair: Pair) -> Iterator[Person]:
    with logged_in(pair.gateway, "acme:ann") as person:
        yield person


@pytest.fixture
def behind(pair: Pair) -> Iterator[Person]:
    """Ann at the store itself."""
    with logged_in(pair.behind, "acme:ann") as person:
        yield person


@pytest.fixture
def beta(pair: Pair) -> Iterator[Person]:
    """Bob at the store itself, whose account has nothing to do with the gateway."""
    with logged_in(pair.behind, "beta:bob") as person:
        yield person


@pytest.fixture
def name() -> str:
    return f"c-{os.urandom(4).hex()}"


def steps(chance: random.Random) -> Iterator[tuple[str, str, bytes, dict[str, str]]]:
    """Requests for a few objects: PUT, POST, reads of ranges and under conditions, COPY and DELETE."""
    names = ["a", "b/c", "ä ö", "d%e?f"]
    contents = [b"", b"x", chance.randbytes(70_000)]
    etags = [f'"{hashlib.md5(content).hexdigest()}"' for content in contents]
    for _ in range(120):
        path, content = chance.choice(names), chance.choice(contents)
        match chance.randrange(8):
            case 0 | 1:
                headers = {"X-Object-Meta-Colour": chance.choice(["blue", "rot"]), "Content-Type": "text/x-a; b=c"}
                yield "PUT", path, content, {**headers, **chance.choice([{}, {"If-None-Match": "*"}])}
            case 2:
                yield "PUT", path, content, {"ETag": chance.choice(etags).strip('"')}
            case 3:
                yield "POST", path, b"", {"X-Object-Meta-Size": "9"}
            case 4:
                spans = ["bytes=0-9", "bytes=-7", "bytes=65530-", "bytes=5-2", "bytes=90000-", "bytes=0-1,60000-60003"]
                spans += ["bytes=90000-90009,1-", "bytes=0-0,90000-", "bytes=90000-,91000-91001"]
                yield "GET", path, b"", {"Range": chance.choice(spans)}
            case 5:
                condition = chance.choice(["If-Match", "If-None-Match"])
                yield chance.choice(["GET", "HEAD"]), path, b"", {condition: chance.choice([*etags, "*"])}
            case 6:
                yield "DELETE", path, b"", {}
            case 7:
                yield "HEAD", path, b"", {}


def told(answer: httpx.Response) -> tuple[object, ...]:
    """Return the common parts of both answers. A random text separates the parts of several ranges."""
    if answer.request.method not in ("GET", "HEAD"):
        return answer.status_code, answer.headers.get("etag") if answer.is_success else None
    several = "multipart/byteranges" in answer.headers.get("content-type", "")
    names = () if several or answer.is_error else SAME_HEADERS
    body = len(answer.content) if several else b"" if answer.is_error else answer.content
    return answer.status_code, body, [answer.headers.get(name) for name in names]


@pytest.mark.parametrize("seed", long.SEEDS_OF_STORAGE)
def test_it_answers_as_swift_does(ann: Person, beta: Person, name: str, seed: int) -> None:
    for person in (ann, beta):
        person.put(name)
    for number, (method, path, content, headers) in enumerate(steps(random.Random(seed))):
        quoted = f"{name}/{path}".replace("%", "%25").replace("?", "%3F")
        one, other = (person.call(method, quoted, content=content, headers=headers) for person in (ann, beta))
        assert told(one) == told(other), (number, method, path, headers, one.text[:99], other.text[:99])
        if method in ("GET", "HEAD"):
            continue
        lists = [[{**e, "last_modified": ""} for e in person.listing(name)] for person in (ann, beta)]
        assert lists[0] == lists[1]
    for query in ("prefix=b", "delimiter=/", "limit=1", "marker=b", "reverse=true", "prefix=b/&delimiter=/"):
        lists = [person.call("GET", f"{name}?format=plain&{query}").text for person in (ann, beta)]
        assert lists[0] == lists[1]


def test_large_objects_are_the_gateways_and_listed_with_their_size(ann: Person, behind: Person, name: str) -> None:
    ann.put(name)
    parts = [os.urandom(1000), os.urandom(700)]
    for number, part in enumerate(parts):
        ann.put(f"{name}/part-{number}", part)
    manifest = json.dumps([{"path": f"{name}/part-{number}"} for number in range(2)]).encode()
    made = ann.call("PUT", f"{name}/whole?multipart-manifest=put", content=manifest)
    assert made.status_code == 201, made.text
    whole = b"".join(parts)
    answer = ann.call("GET", f"{name}/whole")
    assert (answer.content, answer.headers["x-static-large-object"]) == (whole, "True")
    assert ann.call("GET", f"{name}/whole", headers={"Range": "bytes=990-1009"}).content == whole[990:1010]
    etag = answer.headers["etag"]
    assert ann.call("GET", f"{name}/whole", headers={"If-None-Match": etag}).status_code == 304
    assert ann.call("GET", f"{name}/whole", headers={"If-Match": '"other"'}).status_code == 412
    sizes = {entry["name"]: entry["bytes"] for entry in ann.listing(name)}
    assert sizes == {"part-0": 1000, "part-1": 700, "whole": 1700}
    plain = behind.call("GET", f"{name}/whole")  # to the store it is an object with a list of its parts
    assert [load["bytes"] for load in json.loads(plain.content)] == [1000, 700]
    assert "x-static-large-object" not in plain.headers
    assert ann.call("POST", f"{name}/whole", headers={"X-Object-Meta-Colour": "blue"}).status_code == 202
    assert ann.call("GET", f"{name}/whole").content == whole, "what middleware keeps stays when metadata is replaced"
    assert ann.call("DELETE", f"{name}/whole?multipart-manifest=delete").status_code == 200
    assert ann.listing(name) == []
    ann.put(f"{name}/d/1", parts[0])
    ann.put(f"{name}/d/2", parts[1])
    ann.put(f"{name}/dynamic", b"", **{"X-Object-Manifest": f"{name}/d/"})
    assert ann.call("GET", f"{name}/dynamic", headers={"Range": "bytes=990-1009"}).content == whole[990:1010]


def test_large_objects_that_were_put_at_the_store_are_read_whole(ann: Person, behind: Person, name: str) -> None:
    behind.put(name)
    behind.put(f"{name}/part", b"content")
    manifest = json.dumps([{"path": f"{name}/part"}]).encode()
    behind.call("PUT", f"{name}/whole?multipart-manifest=put", content=manifest).raise_for_status()
    answer = ann.call("GET", f"{name}/whole")
    assert (answer.status_code, answer.content) == (200, b"content")


def test_read_access_at_the_gateway_is_none_at_the_store(pair: Pair, ann: Person, behind: Person, name: str) -> None:
    ann.put(name, **{"X-Container-Read": ".r:*"})
    ann.put(f"{name}/open", b"content")
    assert ann.call("HEAD", name).headers["x-container-read"] == ".r:*"
    for person, status in ((ann, 200), (behind, 401)):
        assert httpx.get(f"{person.account_url}/{name}/open").status_code == status
    assert ann.call("POST", name, headers={"X-Remove-Container-Read": "x"}).status_code == 204
    assert httpx.get(f"{ann.account_url}/{name}/open").status_code == 401
    with logged_in(pair.gateway, "beta:bob", ann.account_url) as bob:
        assert bob.call("GET", f"{name}/open").status_code == 403
        assert bob.call("PUT", f"{name}/mine", content=b"").status_code == 403
        assert bob.call("DELETE", name).status_code == 403
        assert bob.call("GET").status_code == 403


def test_clients_neither_see_nor_set_what_the_gateway_keeps(ann: Person, behind: Person, name: str) -> None:
    ann.put(name, **{"X-Container-Meta-Zoe-Gateway-0-Container-Read": ".r:*", "X-Container-Meta-Colour": "blue"})
    seen = ann.call("HEAD", name).headers
    assert seen["x-container-meta-colour"] == "blue"
    assert [entry for entry in seen if "zoe" in entry or entry == "x-container-read"] == []
    assert [header for header in behind.call("HEAD", name).headers if "zoe" in header] == []
    ann.put(f"{name}/a", b"x", **{"X-Object-Meta-Zoe-Gateway-0-Static-Large-Object": "True", "X-Auth-User": "admin"})
    assert ann.call("GET", f"{name}/a").content == b"x"
    assert "x-static-large-object" not in ann.call("HEAD", f"{name}/a").headers


def test_clients_say_nothing_of_the_size_in_listings(ann: Person, name: str) -> None:
    ann.put(name)
    ann.put(f"{name}/a", b"abc")
    for parameter in ("swift_bytes=9", "zoe_gateway_bytes=9"):
        ann.call("POST", f"{name}/a", headers={"Content-Type": f"a/b; {parameter}"}).raise_for_status()
        assert [entry["bytes"] for entry in ann.listing(name)] == [3]


def test_broken_off_upload_stores_nothing(ann: Person, name: str) -> None:
    ann.put(name)
    place = urlsplit(f"{ann.account_url}/{name}/half")
    assert place.hostname
    for length in ("Content-Length: 1000000", "Transfer-Encoding: chunked"):
        with socket.create_connection((place.hostname, place.port or 80)) as connection:
            head = f"PUT {place.path} HTTP/1.1\r\nHost: x\r\nX-Auth-Token: {ann.token}\r\n{length}\r\n\r\n"
            connection.sendall(head.encode() + b"ffff\r\n" + b"x" * 65_535)
    until(lambda: ann.call("HEAD", f"{name}/half").status_code == 404)
    assert ann.listing(name) == []


def test_a_store_that_is_away_is_told_and_found_again(pair: Pair, ann: Person, name: str) -> None:
    ann.put(name)
    ann.put(f"{name}/a", b"content")
    pair.behind.signal("proxy", signal.SIGKILL)
    until(lambda: pair.behind.ended_server() is not None)
    for method, content in (("GET", b""), ("PUT", b"x"), ("DELETE", b"")):
        answer = ann.call(method, f"{name}/a", content=content)
        assert (answer.status_code, answer.headers.get("retry-after", "5")) == (503, "5")
    pair.behind.restart("proxy")
    assert ann.call("GET", f"{name}/a").content == b"content"


def test_a_token_that_the_store_forgot_is_asked_for_again(pair: Pair, ann: Person, name: str) -> None:
    ann.put(name)
    with socket.create_connection(("127.0.0.1", pair.behind.memcached_port)) as connection:
        connection.sendall(b"flush_all\r\n")
        assert connection.recv(64) == b"OK\r\n"
    ann.put(f"{name}/a", b"content")
    assert ann.call("GET", f"{name}/a").content == b"content"


def test_views_of_what_a_store_keeps_that_knows_none(pair: Pair, ann: Person, name: str) -> None:
    ann.put(name)
    content, wanted = meters(1, 3000)
    ann.put(f"{name}/part.csv", content)
    with logged_in(pair.gateway, "controller:controller", ann.account_url) as admin:
        admin.put("zoe-view-one", **definition(name, split_bytes=2**16, **WANTED))
    assert ann.view("zoe-view-one") == wanted
    assert gzip.decompress(ann.call("GET", f"zoe-view-one/{ann.listing('zoe-view-one')[0]['name']}").content)


def test_parts_by_s3_are_one_object_with_its_size(pair: Pair, ann: Person, name: str) -> None:
    with s3_client(pair.gateway, "acme:ann") as client:
        parts = [os.urandom(PART), os.urandom(1000)]
        assert client.call("PUT", name).status_code == 200
        etag = multipart(client, f"{name}/whole", parts)
        answer = client.call("GET", f"{name}/whole", headers={"range": f"bytes={PART - 5}-{PART + 4}"})
        assert answer.content == b"".join(parts)[PART - 5 : PART + 5]
        listing = client.call("GET", name).text
        assert f"<Size>{PART + 1000}</Size>" in listing
        assert etag in listing
        assert client.call("GET", f"{name}/whole", headers={"if-none-match": f'"{etag}"'}).status_code == 304
        stranger = S3Client(client.http, client.address, client.access_key, "not the secret")
        assert stranger.call("GET", f"{name}/whole").status_code == 403


def test_calls_of_s3_have_conditions_and_checksums(pair: Pair, name: str) -> None:
    with s3_client(pair.gateway, "acme:ann") as client:
        check_conditions(client, f"{name}-1")
        check_checksums(client, f"{name}-2")
        check_checksums_of_parts(client, f"{name}-3")


def test_one_of_several_writers_replaces_the_object_that_all_know(pair: Pair, name: str) -> None:
    with s3_client(pair.gateway, "acme:ann") as client:
        assert writers_that_succeed(client, name) == 1


def test_killed_in_the_middle_of_transfers_an_object_is_the_old_or_the_new_one(pair: Pair) -> None:
    seed = int(time.time())
    outcome = kill_often(pair, KILLS, seed)
    assert (outcome.wrong, outcome.counts.total()) == ([], KILLS), seed


def multipart(client: S3Client, path: str, parts: list[bytes]) -> str:
    """Return the ETag of the whole."""
    begun = client.call("POST", path, "uploads=").text
    upload = begun.partition("<UploadId>")[2].partition("<")[0]
    etags = []
    for number, part in enumerate(parts, start=1):
        answer = client.call("PUT", path, f"partNumber={number}&uploadId={upload}", part)
        assert answer.status_code == 200, answer.text
        etags.append(answer.headers["etag"])
    listed = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{e}</ETag></Part>" for n, e in enumerate(etags, start=1))
    body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
    done = client.call("POST", path, f"uploadId={upload}", body)
    assert done.status_code == 200, done.text
    return done.text.partition("<ETag>")[2].partition("</ETag>")[0].replace("&quot;", "").strip('"')


def test_metadata_that_the_store_cannot_keep_are_refused_with_a_sentence(ann: Person, name: str) -> None:
    """Its disks would not take them, and it would report that it is away, so that clients retry for ever."""
    ann.put(name)
    few = {f"X-Object-Meta-A{number:02}": "x" * 60 for number in range(20)}  # 1,540 bytes
    many = {f"X-Object-Meta-A{number:02}": "x" * 60 for number in range(25)}  # 1,925 bytes
    assert ann.call("PUT", f"{name}/o", content=b"x", headers=few).status_code == 201
    assert ann.call("POST", f"{name}/o", headers=few).status_code == 202
    manifest = {"X-Object-Manifest": "c/" + "%C3%A9" * 300}  # the gateway's notes of it
    for method, path, headers in (("PUT", "p", many), ("POST", "o", many), ("PUT", "p", manifest)):
        refused = ann.call(method, f"{name}/{path}", headers=headers)
        assert refused.status_code == 400
        assert re.fullmatch(r"the object's metadata take \d+ bytes, .* keeps at most 1900", refused.text), refused.text
    assert ann.call("GET", f"{name}/p").status_code == 404
    assert ann.call("HEAD", f"{name}/o").headers["x-object-meta-a19"] == "x" * 60


def test_a_request_with_two_readings_is_refused_by_both_proxies(pair: Pair, ann: Person, behind: Person) -> None:
    """And a second one behind it, which another client may have sent by the same proxy, is never answered."""
    for store, person in ((pair.gateway, ann), (pair.behind, behind)):
        at, account = urlsplit(store.auth_url), urlsplit(person.account_url).path
        assert at.hostname is not None
        assert at.port is not None
        person.put("framing")
        token = f"X-Auth-Token: {person.token}\r\n".encode()
        for name in CASES:
            got = answer(at.hostname, at.port, request(name, f"{account}/framing/{name.replace(' ', '%20')}", token))
            assert is_refused(got), (name, got)
        assert person.call("GET", "framing").text == ""
        assert "Traceback" not in store.log_of("proxy")
