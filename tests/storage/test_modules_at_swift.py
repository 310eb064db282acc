"""Modules at a real Swift: sent to the proxy, run there, and without delay for other requests."""

from __future__ import annotations

import hashlib
import socket
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.rules import ModuleVersion
from tests.support.modules import FLIPPING, GROWING, LYING, READING, TRAPPING, copying, entry, module
from tests.support.object_store import Person, logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.waiting import until
from tests.support.whole_storage import keyring
from zoe_embedded.swift.store import ObjectStore

SPINNING = (entry("transform", "(loop $l (br $l)) (i32.const 0)"),)
WAITING = (copying("forward"), copying("reverse"), '(func (export "spare"))')
ALL = {
    "flipping": FLIPPING,
    "reading": READING,
    "growing": GROWING,
    "spinning": SPINNING,
    "waiting": WAITING,
    "lying": LYING,
    "trapping": TRAPPING,
}
OTHERS_WAIT_S = 1.5


def sha256(name: str) -> str:
    return hashlib.sha256(module(*ALL[name])).hexdigest()


@pytest.fixture(scope="module")
def up() -> Iterator[tuple[ObjectStore, Pusher]]:
    with pushed_store(nodes=1, replicas=1, keyring=keyring) as both:
        yield both


@pytest.fixture(scope="module")
def made(up: tuple[ObjectStore, Pusher]) -> Iterator[tuple[Person, Pusher]]:
    """Ann, with a container by the name of each module, whose rule sets it; one module has not been sent."""
    versions = {name.upper(): ModuleVersion(name, sha256(name), "transform" in ALL[name][0]) for name in ALL}
    texts = [f"FOR CONTAINER acme/{name} DO SET {name}" for name in ALL]
    texts.append("FOR CONTAINER acme/all DO SET COMPRESSION, SET flipping, SET ENCRYPTION, SET reading")
    rules = tuple(replace(parse_rule(text), id=number) for number, text in enumerate(texts, 1))
    store, pusher = up
    with logged_in(store, "acme:ann") as ann:
        for name in ("flipping", "reading", "growing", "spinning", "lying", "trapping"):
            pusher.send_module(module(*ALL[name]))
        pusher.rules = book_document(RuleBook(rules, modules={"": versions}))
        pusher.push()
        pusher.push(AUTH_nobody={"get": 1.0})
        for name in (*ALL, "all", "plain"):
            ann.put(name)
        yield ann, pusher


def test_one_that_is_away_is_asked_for_and_then_runs(made: tuple[Person, Pusher]) -> None:
    ann, pusher = made
    refused = ann.call("PUT", "waiting/a", content=b"content")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert "the filter waiting has not reached this proxy yet" in refused.text
    until(lambda: sha256("waiting") in pusher.lacked())
    pusher.send_module(module(*WAITING))
    until(lambda: ann.call("PUT", "waiting/a", content=b"content").status_code == 201)
    assert ann.call("GET", "waiting/a").content == b"content"
    until(lambda: pusher.lacked() == set())


def test_a_chain_of_all_kinds_gives_back_what_a_reader_may_see(made: tuple[Person, Pusher]) -> None:
    ann, _ = made
    content = bytes(range(65, 91)) * 20_000
    assert ann.call("PUT", "all/a", content=content).is_success
    seen = ann.call("GET", "all/a")
    assert seen.content == content.lower()
    assert ann.call("HEAD", "all/a").headers["Content-Length"] == str(len(content))
    part = ann.call("GET", "all/a", headers={"Range": "bytes=100000-100099"})
    assert (part.status_code, part.content) == (206, content.lower()[100_000:100_100])
    assert ann.call("GET", "all/a", headers={"If-None-Match": seen.headers["Etag"]}).status_code == 304


@pytest.mark.parametrize("name", ["reading", "growing", "all"])
def test_a_copy_is_what_a_reader_sees(made: tuple[Person, Pusher], name: str) -> None:
    ann, _ = made
    content = bytes(range(65, 91)) * 20_000
    assert ann.call("PUT", f"{name}/from", content=content).is_success
    seen = ann.call("GET", f"{name}/from").content
    copied = ann.call("COPY", f"{name}/from", headers={"Destination": f"plain/of-{name}"})
    assert copied.status_code == 201, copied.text
    put = ann.call("PUT", f"plain/into-{name}", headers={"X-Copy-From": f"{name}/from", "Content-Length": "0"})
    assert put.status_code == 201, put.text
    for copy in (f"plain/of-{name}", f"plain/into-{name}"):
        found = ann.call("GET", copy)
        assert found.content == seen
        assert found.headers["Etag"] == hashlib.md5(seen).hexdigest()


def test_a_copy_whose_source_a_module_refuses_in_the_middle_says_so(
    up: tuple[ObjectStore, Pusher], made: tuple[Person, Pusher]
) -> None:
    """It was answered 500, with a traceback in the log."""
    store, (ann, _) = up[0], made
    assert ann.call("PUT", "trapping/a", content=bytes(200_000)).is_success
    before = len(store.log_of("proxy"))
    copied = ann.call("COPY", "trapping/a", headers={"Destination": "plain/trapped"})
    assert (copied.status_code, "cannot read this object" in copied.text) == (409, True), copied.text
    until(lambda: "COPY " in store.log_of("proxy")[before:])
    lines = store.log_of("proxy")[before:]
    assert ("Traceback" in lines, lines.count("cannot copy to /v1/AUTH_acme/plain/trapped: ")) == (False, 1), lines


def test_a_module_that_never_ends_is_refused_and_others_do_not_wait(made: tuple[Person, Pusher]) -> None:
    ann, _ = made
    ann.call("PUT", "plain/a", content=b"plain")
    ann.call("PUT", "spinning/a", content=bytes(60_000))

    def others() -> list[float]:
        found = []
        for _ in range(30):
            began_s = time.perf_counter()
            assert ann.call("GET", "plain/a").content == b"plain"
            found.append(time.perf_counter() - began_s)
        return found

    with ThreadPoolExecutor(5) as pool:
        spins = [pool.submit(lambda: [ann.call("GET", "spinning/a") for _ in range(10)]) for _ in range(4)]
        took = pool.submit(others).result()
    answers = [answer for spin in spins for answer in spin.result()]
    assert {answer.status_code for answer in answers} == {409}
    assert "the filter spinning cannot read this object: it computes" in answers[0].text
    assert statistics.median(took) < OTHERS_WAIT_S


def test_refused_and_broken_uploads_leave_no_traceback(
    up: tuple[ObjectStore, Pusher], made: tuple[Person, Pusher]
) -> None:
    """11 tracebacks for 10 uploads that a filter refused."""
    store, (ann, _) = up[0], made
    before = len(store.log_of("proxy"))
    for number in range(3):
        refused = ann.call("PUT", f"lying/{number}", content=b"content" * 20_000)
        assert (refused.status_code, "cannot store this object" in refused.text) == (409, True), refused.text
    at, path = urlsplit(store.auth_url), urlsplit(ann.account_url).path
    for container, kept in (("plain", 1), ("flipping", 70_000), ("all", 200_000), ("lying", 100)):
        head = f"PUT {path}/{container}/broken HTTP/1.1\r\nHost: a\r\nX-Auth-Token: {ann.token}\r\n"
        for length in ("Content-Length: 300000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n493E0\r\n"):
            with socket.create_connection((at.hostname or "", at.port or 0), timeout=10) as line:
                line.sendall(head.encode() + length.encode() + bytes(kept))
    until(lambda: ann.call("GET", "plain/broken").status_code == 404)
    assert ann.call("PUT", "plain/after", content=b"x").status_code == 201
    told = store.log_of("proxy")[before:]
    wrong = [line for line in told.splitlines() if "Traceback" in line or "ERROR" in line or '"error"' in line]
    assert wrong == [], told[-3000:]
