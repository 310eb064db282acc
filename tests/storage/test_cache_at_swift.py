"""Caches of two proxies of a real Swift: a hit needs no node, and no client gets an outdated or foreign object."""

from __future__ import annotations

import itertools
import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from tests.storage.test_filter_host_at_swift import pushed
from tests.support.gateway import Pair, gateway_before_swift
from tests.support.object_store import Person, logged_in
from tests.support.postgres import PostgresServer
from tests.support.pusher import pushed_store
from tests.support.s3 import s3_client
from tests.support.second_proxy import second_proxy
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole, keyring, whole_storage

RULES = """\
FOR TENANT acme DO SET CACHING
FOR CONTAINER acme/secret DO SET ENCRYPTION"""
LEASE_S = 1.0


@dataclass
class Site:
    """A store with two proxies; ann and bob at both."""

    whole: Whole
    second: str
    ann: tuple[Person, Person]
    bob: tuple[Person, Person]

    def entries(self, proxy: int = 0) -> list[Path]:
        directory = self.whole.store.directory / ("rates-objects", "second-objects")[proxy]
        return [file for file in directory.iterdir() if len(file.name) == 64]

    def lose_objects(self) -> None:
        for file in (self.whole.store.directory / "devices").rglob("objects/**/*.data"):
            file.unlink()


@pytest.fixture(scope="module")
def site(postgres_server: PostgresServer) -> Iterator[Site]:
    url = postgres_server.create_database()
    with (
        whole_storage(url, keyring=keyring, s3=True, cache=True, versions=True, nodes=1, replicas=1) as whole,
        second_proxy(whole.store) as second,
        people(whole, second, "acme:ann") as ann,
        people(whole, second, "beta:bob", ann[0].account_url) as bob,
        httpx.Client(base_url=whole.url, headers={"X-Auth-Token": TOKEN, "X-Zoe-Author": "ann"}, timeout=60) as http,
    ):
        answer = http.post("/v1/rules", json={"text": RULES})
        assert answer.status_code == 201, answer.text
        for name in ("rates.rules", "second.rules"):
            path = whole.store.directory / name
            until(lambda path=path: path.exists() and len(json.loads(path.read_text())["rules"]) == 2)  # type: ignore[misc]
        assert all(rule["enforced"] for rule in http.get("/v1/rules").json())
        yield Site(whole, second, ann, bob)
    postgres_server.drop_database(url)


@contextmanager
def people(whole: Whole, second: str, login: str, account_url: str = "") -> Iterator[tuple[Person, Person]]:
    """The same one at both proxies, which know the same tokens."""
    with logged_in(whole.store, login, account_url) as first, httpx.Client(timeout=60) as http:
        http.headers["X-Auth-Token"] = first.token
        there = urlsplit(second)
        yield first, Person(http, urlsplit(first.account_url)._replace(netloc=there.netloc).geturl())


def of_store(answer: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
    """Return the store's answer, without the headers of one request."""
    own = ("date", "x-trans-id", "x-openstack-request-id")
    return answer.status_code, answer.content, {k: v for k, v in answer.headers.items() if k not in own}


def test_a_hit_needs_no_node_and_for_a_second_no_question(site: Site) -> None:
    ann = site.ann[0]
    ann.put("hot")
    ann.put("hot/x", b"content" * 1000, **{"X-Object-Meta-A": "1"})
    refused = of_store(ann.call("GET", "hot/x", headers={"If-Match": '"other"'}))
    for _ in range(3):
        plain = ann.call("GET", "hot/x")
    site.lose_objects()
    part = ann.call("GET", "hot/x", headers={"Range": "bytes=7-13"})
    assert (part.status_code, part.content) == (206, b"content")
    again = ann.call("GET", "hot/x")
    assert (again.content, again.headers["X-Object-Meta-A"]) == (plain.content, "1")
    assert of_store(again) == of_store(plain)
    assert ann.call("HEAD", "hot/x").headers["Content-Length"] == "7000"
    etag = again.headers["Etag"]
    assert ann.call("GET", "hot/x", headers={"If-None-Match": f'"{etag}"'}).status_code == 304
    assert of_store(ann.call("GET", "hot/x", headers={"If-Match": '"other"'})) == refused
    time.sleep(LEASE_S + 0.1)
    assert ann.call("GET", "hot/x").status_code == 404  # now it was asked


def test_whatever_is_written_through_either_is_read_through_both(site: Site) -> None:
    site.ann[0].put("walk")
    known: dict[str, tuple[bytes, str]] = {}
    chosen = random.Random(22)
    for number in range(150):
        name, person = chosen.choice("ab"), chosen.choice(site.ann)
        match chosen.choice(["put", "post", "delete", "get", "get", "get"]):
            case "put":
                known[name] = f"{number} ".encode() * chosen.choice([1, 30_000]), str(number)
                person.put(f"walk/{name}", known[name][0], **{"X-Object-Meta-A": known[name][1]})
            case "post" if name in known:
                known[name] = known[name][0], f"posted {number}"
                person.call("POST", f"walk/{name}", headers={"X-Object-Meta-A": known[name][1]})
            case "delete":
                known.pop(name, None)
                person.call("DELETE", f"walk/{name}")
        for reader in site.ann:
            answer = reader.call("GET", f"walk/{name}")
            if name in known:
                assert (answer.content, answer.headers["X-Object-Meta-A"]) == known[name], number
            else:
                assert answer.status_code == 404, number


def test_readers_of_both_never_go_back_while_it_is_overwritten(site: Site) -> None:
    site.ann[0].put("count")
    site.ann[0].put("count/x", b"0")
    over, acknowledged = threading.Event(), [0]

    def read(person: Person) -> int:
        reads, last = 0, 0
        with httpx.Client(timeout=60, headers={"X-Auth-Token": person.token}) as http:
            while not over.is_set():
                least = max(last, acknowledged[0])
                answer = http.get(f"{person.account_url}/count/x")
                if answer.status_code != 200:  # an object server finds no file if it is replaced at that moment
                    assert answer.status_code in (404, 503), answer.text
                    continue
                last = int(answer.content)
                assert last >= least
                reads += 1
        return reads

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read, person) for person in (*site.ann, *site.ann)]
        for number, person in zip(range(1, 61), itertools.cycle(site.ann), strict=False):
            person.put("count/x", str(number).encode())
            acknowledged[0] = number
            time.sleep(0.05 if number % 3 else 0)
        over.set()
        assert all(reader.result() > 5 for reader in readers)


def test_caller_without_access_gets_no_hit(site: Site) -> None:
    ann, bob = site.ann[0], site.bob[0]
    ann.put("mine")
    ann.put("mine/x", b"private")
    for _ in range(3):
        assert ann.call("GET", "mine/x").content == b"private"
    assert bob.call("GET", "mine/x").status_code == 403
    assert httpx.get(f"{ann.account_url}/mine/x").status_code == 401
    assert bob.call("HEAD", "mine/x").status_code == 403
    for acl, status in (("beta:bob", 200), ("", 403), (".r:*", 200), ("beta:other", 403)):
        ann.call("POST", "mine", headers={"X-Container-Read": acl})
        assert ann.call("GET", "mine/x").status_code == 200
        assert [bob.call("GET", "mine/x").status_code for _ in range(3)] == [status] * 3, acl


def test_by_s3_it_is_the_same(site: Site) -> None:
    ann = site.ann[0]
    ann.put("bucket")
    ann.put("bucket/x", b"by swift")
    with s3_client(site.whole.store, "acme:ann") as mine, s3_client(site.whole.store, "beta:bob") as theirs:
        for _ in range(3):
            assert mine.call("GET", "bucket/x").content == b"by swift"
        assert theirs.call("GET", "bucket/x").status_code in (403, 404)
        wrong = replace(mine, secret="wrong")
        assert wrong.call("GET", "bucket/x").status_code == 403
        assert mine.call("PUT", "bucket/x", content=b"by s3").status_code == 200
    for person in site.ann:
        assert person.call("GET", "bucket/x").content == b"by s3"


def test_an_object_that_expires_is_gone_at_its_time(site: Site) -> None:
    ann = site.ann[0]
    ann.put("short")
    ends_s = int(time.time()) + 3
    ann.put("short/x", b"soon gone", **{"X-Delete-At": str(ends_s)})
    while (now_s := time.time()) < ends_s + 0.5:
        status = ann.call("GET", "short/x").status_code
        assert status == 200 or time.time() >= ends_s - 0.05
        assert status == 404 or now_s < ends_s + 0.05
    assert ann.call("GET", "short/x").status_code == 404


def test_large_objects_are_read_from_their_cached_segments(site: Site) -> None:
    first, second = site.ann
    for container in ("segments", "large"):
        first.put(container)
    for number in (1, 2):
        first.put(f"segments/s{number}", b"%d" % number * 1000)
    manifest = json.dumps([{"path": f"/segments/s{number}"} for number in (1, 2)])
    assert first.call("PUT", "large/slo?multipart-manifest=put", content=manifest.encode()).status_code == 201
    first.put("large/dlo", b"", **{"X-Object-Manifest": "segments/s"})
    for name in ("slo", "dlo"):
        for _ in range(3):
            assert first.call("GET", f"large/{name}").content == b"1" * 1000 + b"2" * 1000
    second.put("segments/s2", b"3" * 1000)
    assert first.call("GET", "large/dlo").content == b"1" * 1000 + b"3" * 1000
    first.call("PUT", "large/dlo", content=b"plain")
    assert second.call("GET", "large/dlo").content == b"plain"
    manifest_itself = first.call("GET", "large/slo?multipart-manifest=get")
    assert [entry["name"] for entry in manifest_itself.json()] == ["/segments/s1", "/segments/s2"]


def test_versions_come_back(site: Site) -> None:
    first, second = site.ann
    first.put("old")
    first.put("versioned", **{"X-Versions-Location": "old"})
    for content in (b"one", b"two"):
        first.put("versioned/x", content)
        for person in site.ann:
            assert [person.call("GET", "versioned/x").content for _ in range(2)] == [content] * 2
    second.call("DELETE", "versioned/x")
    for person in site.ann:
        assert person.call("GET", "versioned/x").content == b"one"


def test_a_container_that_is_made_again_has_nothing_of_before(site: Site) -> None:
    first, second = site.ann
    first.put("again")
    first.put("again/x", b"before")
    for person in (first, first, second, second):
        assert person.call("GET", "again/x").content == b"before"
    second.call("DELETE", "again/x")
    until(lambda: second.call("DELETE", "again").status_code == 204)
    assert first.call("GET", "again/x").status_code == 404
    second.put("again")
    assert [person.call("GET", "again/x").status_code for person in site.ann] == [404, 404]


def test_encrypted_objects_lie_encrypted(site: Site) -> None:
    ann = site.ann[0]
    ann.put("secret")
    ann.put("secret/x", b"nobody reads this " * 100)
    before = set(site.entries())
    for _ in range(3):
        assert ann.call("GET", "secret/x").content == b"nobody reads this " * 100
    [entry] = set(site.entries()) - before
    assert b"nobody reads" not in entry.read_bytes()
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700


def test_after_memcached_forgot_everything_nobody_gets_an_older_object(site: Site) -> None:
    for person in site.ann:
        person.put("forgotten")
    site.ann[0].put("forgotten/x", b"one")
    for person in (*site.ann, *site.ann):
        assert person.call("GET", "forgotten/x").content == b"one"
    with socket.create_connection(("127.0.0.1", site.whole.store.memcached_port)) as connection:
        connection.sendall(b"flush_all\r\n")
        assert connection.recv(100) == b"OK\r\n"
    with people(site.whole, site.second, "acme:ann") as ann, people(site.whole, site.second, "beta:bob") as bob:
        ann[1].put("forgotten/x", b"two")
        for person in (*ann, *ann):
            assert person.call("GET", "forgotten/x").content == b"two"
        for known, fresh in zip((*site.ann, *site.bob), (*ann, *bob), strict=True):
            known.http.headers["X-Auth-Token"] = fresh.token


@pytest.fixture(scope="module")
def gateway() -> Iterator[tuple[Person, Person, Path]]:
    """Ann at a gateway with a cache, and at the store behind it."""
    with gateway_before_swift(make=pushed_store, cache=True) as (pair, pusher):
        assert isinstance(pair, Pair)
        with logged_in(pair.gateway, "acme:ann") as ann, logged_in(pair.behind, "gateway:gateway") as there:
            pushed(pusher, book_document(RuleBook((replace(parse_rule("FOR TENANT acme DO SET CACHING"), id=1),))))
            behind = Person(there.http, f"{there.account_url.rsplit('/', 1)[0]}/AUTH_acme")
            yield ann, behind, pair.gateway.directory


def test_a_gateway_asks_the_store_each_time_since_others_write_there(gateway: tuple[Person, Person, Path]) -> None:
    ann, behind, directory = gateway
    assert "cache_memcached is ignored" in (directory / "proxy.log").read_text()
    ann.put("c")
    ann.put("c/x", b"one" * 1000)
    for _ in range(3):
        assert ann.call("GET", "c/x").content == b"one" * 1000
    assert len([file for file in (directory / "rates-objects").iterdir() if len(file.name) == 64]) == 1
    behind.put("c/x", b"two" * 1000)
    assert [ann.call("GET", "c/x").content for _ in range(3)] == [b"two" * 1000] * 3
    behind.call("DELETE", "c/x")
    assert ann.call("GET", "c/x").status_code == 404


def test_where_swift_encrypts_nothing_is_cached() -> None:
    with (
        pushed_store(nodes=1, replicas=1, encrypted=True, cache=True) as (store, pusher),
        logged_in(store, "acme:ann") as ann,
    ):
        pushed(pusher, book_document(RuleBook((replace(parse_rule("FOR TENANT acme DO SET CACHING"), id=1),))))
        assert "nothing is cached: Swift encrypts objects behind zoe_filters" in store.log_of("proxy")
        ann.put("c")
        ann.put("c/x", b"secret")
        assert [ann.call("GET", "c/x").content for _ in range(3)] == [b"secret"] * 3
        assert not (store.directory / "rates-objects").exists()
