"""Bytes per second of accounts on a real proxy with two workers, with limits pushed by the test's controller."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.object_store import Person, logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.waiting import until
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.store import ObjectStore

MB = 10**6
STORAGE_PAGE = CLONE / "docs" / "store" / "connecting.md"
CHUNK = 2**16


@pytest.fixture(scope="module")
def connected() -> Iterator[tuple[ObjectStore, Pusher]]:
    with pushed_store(nodes=1, replicas=1, proxy_workers=2) as both:
        yield both


@pytest.fixture
def pusher(connected: tuple[ObjectStore, Pusher]) -> Pusher:
    connected[1].push()
    return connected[1]


@pytest.fixture
def ann(connected: tuple[ObjectStore, Pusher]) -> Iterator[Person]:
    with logged_in(connected[0], "acme:ann") as person:
        person.put("data")
        person.put("data/object", os.urandom(10 * MB))
        yield person


def pipeline_of_the_documentation() -> str:
    """As an operator would copy it."""
    (pipeline,) = re.findall(r"^ *pipeline = (.* tempauth .* proxy-server)$", STORAGE_PAGE.read_text(), re.MULTILINE)
    return str(pipeline)


def test_copies_within_the_store_are_limited_by_the_pipeline_of_the_documentation() -> None:
    with (
        pushed_store(nodes=1, replicas=1, s3=True, pipeline=pipeline_of_the_documentation()) as (store, pusher),
        logged_in(store, "acme:ann") as ann,
    ):
        ann.put("data")
        ann.put("data/object", os.urandom(6 * MB))
        for direction in ("get", "put"):
            pusher.push(**{account_of(ann): {direction: 2 * MB}})
            began_s = time.monotonic()
            answer = ann.call("COPY", "data/object", headers={"Destination": f"data/{direction}"})
            took_s = time.monotonic() - began_s
            assert answer.status_code == 201, answer.text
            assert took_s > 2.0  # half a second of burst is free
            assert ann.call("HEAD", f"data/{direction}").headers["Content-Length"] == str(6 * MB)


def account_of(person: Person) -> str:
    return person.account_url.rpartition("/")[2]


def rate_of_gets(person: Person, streams: int, seconds: float, enough: threading.Event | None = None) -> float:
    """Return the bytes per second of so many concurrent readers, for so long or until it is enough."""
    over = enough or threading.Event()
    moved, stop = [0] * streams, time.monotonic() + seconds

    def read(number: int) -> None:
        with httpx.Client(timeout=60, headers=person.http.headers) as http:
            while time.monotonic() < stop and not over.is_set():
                with http.stream("GET", f"{person.account_url}/data/object") as answer:
                    for chunk in answer.iter_raw(CHUNK):
                        moved[number] += len(chunk)
                        if time.monotonic() > stop or over.is_set():
                            break

    began_s = time.monotonic()
    threads = [threading.Thread(target=read, args=(number,)) for number in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(moved) / (time.monotonic() - began_s)


def test_streams_of_one_account_share_its_limit_across_workers(pusher: Pusher, ann: Person) -> None:
    pusher.push(**{account_of(ann): {"get": 4 * MB}})
    rate = rate_of_gets(ann, 4, 6.0)
    # The burst of half a second is within; a limit for each worker would give twice the rate.
    assert 3.2 * MB < rate < 4.8 * MB


def test_puts_are_paced_and_gets_are_not(pusher: Pusher, ann: Person) -> None:
    pusher.push(**{account_of(ann): {"put": 2 * MB}})
    began_s = time.monotonic()
    ann.put("data/written", os.urandom(8 * MB))
    assert time.monotonic() - began_s > 3.0
    began_s = time.monotonic()
    assert len(ann.call("GET", "data/object").content) == 10 * MB
    assert time.monotonic() - began_s < 4.5, "it would take almost five seconds at that pace"


def test_counted_bytes_are_the_bytes_sent_by_a_writer(pusher: Pusher, ann: Person) -> None:
    """The kernel buffers little of a body, so that writers see their pace: otherwise it swallows megabytes of each."""
    pusher.push(**{account_of(ann): {"put": 1 * MB}})
    place = urlsplit(ann.account_url)
    with closing(HTTPConnection(place.hostname or "", place.port, timeout=60)) as connection:
        connection.connect()
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, CHUNK)
        connection.putrequest("PUT", f"{place.path}/data/paced")
        connection.putheader("X-Auth-Token", ann.http.headers["X-Auth-Token"])
        connection.putheader("Content-Length", str(8 * MB))
        connection.endheaders()
        sent, stop = 0, time.monotonic() + 3.0
        while time.monotonic() < stop:
            connection.send(bytes(CHUNK))
            sent += CHUNK
    # Three seconds and a burst of half a second, and the bytes in flight: an untuned kernel buffers up to 6 MB.
    assert 2.5 * MB < sent < 4.8 * MB


def test_another_limit_frees_who_waits_and_bytes_are_reported(pusher: Pusher, ann: Person) -> None:
    pusher.listen()
    pusher.moved.clear()
    pusher.push(**{account_of(ann): {"get": 1000}})  # a piece would take a minute
    read: list[int] = []
    reader = threading.Thread(target=lambda: read.append(len(ann.call("GET", "data/object").content)))
    reader.start()
    time.sleep(2.0)
    assert reader.is_alive()
    pusher.push()
    reader.join(10)
    assert read == [10 * MB]

    def told() -> bool:
        pusher.listen()
        return pusher.moved.get((account_of(ann), "get"), 0) >= 10 * MB

    until(told)


NEGATIVE = b'{"epoch": 2, "seq": 1, "proxies": {"proxy": {"AUTH_acme": {"get": -1}}}}'


@pytest.mark.parametrize("told", [b"{", b"[]", NEGATIVE])
def test_limits_that_make_no_sense_change_nothing(pusher: Pusher, ann: Person, told: bytes) -> None:
    pusher.limits.send(told)
    pusher.push(AUTH_another={"get": float(len(told))})
    assert len(ann.call("GET", "data/object").content) == 10 * MB


def test_refused_reader_is_not_counted(connected: tuple[ObjectStore, Pusher], pusher: Pusher, ann: Person) -> None:
    stranger = ann.account_url.replace("AUTH_acme", "AUTH_nobody")
    assert httpx.get(stranger).status_code == 401
    with logged_in(connected[0], "beta:bob", ann.account_url) as bob:
        assert bob.call("GET", "data/object").status_code == 403
    ann.call("GET", "data/object")

    def told() -> bool:
        pusher.listen()
        return (account_of(ann), "get") in pusher.moved

    until(told)
    assert not {account for account, _ in pusher.moved} & {"AUTH_nobody", "AUTH_beta"}
