"""Clients that end at any byte, at any route of Swift's proxy and the gateway: no error in the log, no traceback."""

from __future__ import annotations

import random
import re
from urllib.parse import urlsplit

import httpx
import pytest

from tests.storage.test_rules import applied
from tests.support.breaking_off import half_bodies, requests, send
from tests.support.framing import answer
from tests.support.gateway import gateway_before_swift
from tests.support.long import LONG, of_storage
from tests.support.object_store import Person, logged_in
from tests.support.s3 import S3Client, s3_client
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole
from zoe_embedded.swift.store import ObjectStore

SEED = 20261129
REQUESTS = 5000 if LONG else 150
LARGE = bytes(3 << 20)
RULES = ("FOR CONTAINER acme/cut DO SET COMPRESSION, SET ENCRYPTION", "FOR CONTAINER beta/cut DO SET ENCRYPTION")
WRONG = re.compile(r"Traceback|\bERROR\b|\bError: |exception", re.IGNORECASE)


def wrong_lines(store: ObjectStore, before: int, person: Person, s3: S3Client) -> list[str]:
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    for sent in half_bodies(person, s3, "cut"):
        assert not send(s3.address, sent, chance, ("half",)).startswith(b"HTTP/1.1 500"), sent[:300]
    for sent in requests(person, s3, "cut", chance, REQUESTS):
        got = send(s3.address, sent, chance)
        assert not got.startswith(b"HTTP/1.1 500"), (sent[:300], got[:1000])
    person.put("last", b"x")  # its line comes after those of most others
    until(lambda: "/last" in store.log_of("proxy")[before:])
    lines = store.log_of("proxy")[before:].splitlines()
    return [line for line in lines if WRONG.search(line)]


@pytest.mark.parametrize("login", ["acme:ann", "beta:bob"])
def test_the_proxy_logs_no_error(shared: Whole, login: str) -> None:
    """Bob's tenant has no key, so filters refuse what he puts."""
    with (
        httpx.Client(base_url=shared.url, headers={"X-Auth-Token": TOKEN}, timeout=60) as http,
        logged_in(shared.store, login) as person,
        s3_client(shared.store, login) as s3,
    ):
        person.put("cut")
        person.put("cut/large", LARGE)
        before = len(shared.store.log_of("proxy"))
        with applied(http, shared, RULES[login == "beta:bob"]):
            assert wrong_lines(shared.store, before, person, s3) == []


def test_a_list_of_names_that_breaks_off_deletes_nothing(swift: ObjectStore, ann: Person) -> None:
    """The part of a name that came is that of another object."""
    ann.put("names")
    for name in ("names/a", "names/a-longer"):
        ann.put(name, b"x")
    at, whole = urlsplit(ann.account_url), b"/names/a-longer\n"
    head = f"POST {at.path}?bulk-delete HTTP/1.1\r\nHost: {at.netloc}\r\nX-Auth-Token: {ann.token}\r\n"
    head += f"Content-Type: text/plain\r\nContent-Length: {len(whole)}\r\n\r\n"
    send(swift.auth_url, head.encode() + whole[: len(b"/names/a")], random.Random(SEED), ("half",))
    assert [entry["name"] for entry in ann.listing("names")] == ["a", "a-longer"]


def test_the_name_of_a_coding_may_have_capital_letters(swift: ObjectStore, ann: Person) -> None:
    ann.put("capitals")
    at = urlsplit(ann.account_url)
    head = f"PUT {at.path}/capitals/x HTTP/1.1\r\nHost: {at.netloc}\r\nX-Auth-Token: {ann.token}\r\n"
    sent = head.encode() + b"Transfer-Encoding: CHUNKED\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    assert answer(at.hostname or "", at.port or 0, sent).startswith(b"HTTP/1.1 201")
    assert ann.call("GET", "capitals/x").content == b"abc"


@of_storage
def test_the_gateway_logs_no_error() -> None:
    with (
        gateway_before_swift() as pair,
        logged_in(pair.gateway, "acme:ann") as ann,
        s3_client(pair.gateway, "acme:ann") as s3,
    ):
        ann.put("cut")
        ann.put("cut/large", LARGE)
        assert wrong_lines(pair.gateway, len(pair.gateway.log_of("proxy")), ann, s3) == []
