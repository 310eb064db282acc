"""Objects rewritten by the present rules, or to their original bytes, at a real Swift: clients see no difference."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from storage_bridge.model import BOOK_HEADER, RATE_HEADER, REWRITE, REWRITE_HEADER
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from tests.storage.test_filter_host import VERSIONS
from tests.storage.test_filter_host_at_swift import MODULES, at_gateway, pushed
from tests.storage.test_rules import TEXT, on_disk
from tests.support.long import LONG, of_storage
from tests.support.modules import module
from tests.support.object_store import Person, logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.waiting import until
from tests.support.whole_storage import keyring
from zoe_embedded.swift.store import ObjectStore

SEEN = ("Content-Length", "Content-Type", "Etag", "Last-Modified", "X-Timestamp", "X-Delete-At", "Content-Encoding")
TIMES = ("Last-Modified", "X-Timestamp")
LATE = "4102444800"
WRITES, JOBS = (60, 40) if LONG else (20, 20)
"""How often a client writes, and how often an object is stored again while it is read."""


class Site:
    """Ann with her objects, and the storage controller in her account. store: with the disks. times: whether a
    rewritten object keeps the time of the original.
    """

    def __init__(
        self, store: ObjectStore, ann: Person, admin: Person, pusher: Pusher, kind: str, ring: str | None = None
    ) -> None:
        self.store = store
        self.ring = Path(ring or "")
        self.kind = kind
        self.times = kind != "gateway"
        self.ann = ann
        self.admin = admin
        self._pusher = pusher

    def rules(self, *texts: str) -> None:
        """Let these hold, and no others."""
        made = (replace(parse_rule(text), id=number) for number, text in enumerate(texts, start=1))
        pushed(self._pusher, book_document(RuleBook(tuple(made), modules=VERSIONS)))

    def rewrite(self, path: str, how: str = "rules", **headers: str) -> tuple[str, str]:
        """Return what became of an object, and why."""
        answer = self.admin.call(REWRITE, path, headers={REWRITE_HEADER: how, **headers})
        assert answer.status_code == 200, answer.text
        return answer.json()["outcome"], answer.json()["sentence"]

    def done(self, path: str) -> list[str]:
        """Return the filters of an object."""
        found = self.ann.call("HEAD", path, headers={"X-Zoe-Why": "yes"}).headers.get("X-Zoe-Why", "[]")
        return [load.get("name", load["filter"]) for load in json.loads(found)]


@contextmanager
def at_swift(**kind: Any) -> Iterator[tuple[ObjectStore, ObjectStore, Pusher]]:
    with pushed_store(keyring=keyring, **{"nodes": 1, "replicas": 1, **kind}) as (store, pusher):
        yield store, store, pusher


KINDS = {
    "swift": at_swift,
    "encrypted": partial(at_swift, encrypted=True),
    "fragments": partial(at_swift, erasure_coded=True, nodes=3),
    "gateway": at_gateway,
}


@pytest.fixture(
    scope="module",
    # That filters stand before Swift's own encryption is shown by test_rules.py.
    params=[pytest.param(kind, marks=of_storage) if kind == "encrypted" else kind for kind in KINDS],
)
def made(request: pytest.FixtureRequest) -> Iterator[Site]:
    with (
        KINDS[request.param]() as (disks, store, pusher),
        logged_in(store, "acme:ann") as ann,
        logged_in(store, "controller:controller", ann.account_url) as admin,
    ):
        for functions in MODULES.values():
            pusher.send_module(module(*functions))
        yield Site(disks, ann, admin, pusher, request.param, store.configuration.keyring)


@pytest.fixture
def site(made: Site) -> Iterator[Site]:
    made.rules()
    made.ann.put("c")
    yield made
    for entry in made.ann.listing("c"):
        made.ann.call("DELETE", f"c/{entry['name']}")


def seen(site: Site, path: str) -> tuple[Any, ...]:
    """Return everything that a client sees of an object."""
    answers = [site.ann.call(method, path, headers=entry) for method in ("GET", "HEAD") for entry in ({}, _RANGE)]
    [entry] = [entry for entry in site.ann.listing(path.partition("/")[0]) if entry["name"] == path.partition("/")[2]]
    if not site.times:
        del entry["last_modified"]
    return entry, [_seen(answer, site.times) for answer in answers]


def _seen(answer: httpx.Response, times: bool) -> tuple[Any, ...]:
    headers = {name: answer.headers.get(name) for name in SEEN if times or name not in TIMES}
    if answer.is_error:  # of a store with fragments, it is the error's own
        del headers["Content-Type"]
    digest = hashlib.md5(answer.content, usedforsecurity=False).hexdigest()
    return answer.status_code, digest, headers, _metadata(answer)


_RANGE = {"Range": "bytes=70000-70100"}


def _metadata(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.lower().startswith("x-object-")}


CHAINS = [
    ("FOR TENANT acme DO SET COMPRESSION, SET ENCRYPTION", ["COMPRESSION", "ENCRYPTION"]),
    ("FOR CONTAINER acme/c DO SET FLIPPING, SET ENCRYPTION", ["flipping", "ENCRYPTION"]),
    ("FOR CONTAINER acme/c WHEN OBJECT_SIZE>1M DO SET COMPRESSION", []),
]


def test_clients_see_no_difference_whatever_rules_come_after_each_other(site: Site) -> None:
    headers = {
        "X-Object-Meta-Colour": "red",
        "X-Delete-At": LATE,
        "Content-Type": "text/x-mine; charset=latin-1",
        "Content-Encoding": "mine",
    }
    site.ann.put("c/a", TEXT, **headers)
    site.ann.put("c/changed", TEXT, **{**headers, "X-Object-Meta-Gone": "yes"})
    site.ann.call("POST", "c/changed", headers={"X-Object-Meta-Colour": "blue", "Content-Type": "text/other"})
    site.ann.put("c/empty", b"")
    names = ("c/a", "c/changed", "c/empty")
    before = {name: seen(site, name) for name in names}
    for rule, filters in CHAINS:
        site.rules(rule)
        for name in names:
            assert site.rewrite(name) == ("changed", ""), (rule, name)
            assert site.rewrite(name) == ("kept", "")
            assert site.done(name) == filters
            assert seen(site, name) == before[name], (rule, name)
    site.rules(CHAINS[0][0])
    plain = on_disk(site.store)
    assert site.rewrite("c/a", **{"X-Zoe-Rewrite-Dry": "yes"}) == ("changed", "")
    assert (site.done("c/a"), on_disk(site.store)) == ([], plain)
    assert site.rewrite("c/a") == ("changed", "")
    assert on_disk(site.store) < plain
    assert site.rewrite("c/a", "plain") == ("changed", "")
    assert (site.done("c/a"), on_disk(site.store), seen(site, "c/a")) == ([], plain, before["c/a"])
    assert site.rewrite("c/nosuch") == ("gone", "")


def test_copies_are_stored_as_ever(site: Site) -> None:
    """A copy puts with the headers that it has read, which must not make it a part of a job."""
    site.rules("FOR TENANT acme DO SET COMPRESSION")
    site.ann.put("c/from", TEXT)
    copied = site.ann.call("COPY", "c/from", headers={"Destination": "c/to"})
    assert copied.status_code == 201, copied.text
    put = site.ann.call("PUT", "c/into", headers={"X-Copy-From": "c/from", "Content-Length": "0"})
    assert put.status_code == 201, put.text
    assert [site.ann.call("GET", path).content for path in ("c/to", "c/into")] == [TEXT, TEXT]
    assert site.done("c/to") == ["COMPRESSION"]


def test_only_a_reseller_admin_may(site: Site) -> None:
    site.ann.put("c/a", TEXT)
    answer = site.ann.call(REWRITE, "c/a", headers={REWRITE_HEADER: "rules"})
    assert (answer.status_code, site.ann.call("GET", "c/a").content) == (403, TEXT)
    assert site.admin.call(REWRITE, "c/a", headers={REWRITE_HEADER: "nonsense"}).status_code == 400


def test_no_write_of_a_client_is_lost_or_undone(site: Site) -> None:
    """A client writes, changes and deletes all the time: after each, it sees its last action, and nothing older."""
    over, outcomes = threading.Event(), dict[str, int]()

    def again() -> None:
        number = 0
        while not over.is_set():
            number += 1
            # Every second one takes so long that the client is likely to write between its read and its write.
            slow = {RATE_HEADER: "400000"} if number % 4 > 1 else {}
            outcome, _ = site.rewrite("c/x", ("rules", "plain")[number % 2], **slow)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1

    site.rules("FOR TENANT acme DO SET COMPRESSION")
    worker = threading.Thread(target=again)
    worker.start()
    try:
        for number in range(WRITES):
            content = f"{number:04}".encode() * (20_000 if number % 3 else 5)
            site.ann.put("c/x", content, **{"X-Object-Meta-Number": str(number)})
            for _ in range(3):
                answer = _there(site)
                assert (answer.content, answer.headers["X-Object-Meta-Number"]) == (content, str(number))
            posted = site.ann.call("POST", "c/x", headers={"X-Object-Meta-Number": f"{number} changed"})
            assert posted.status_code == 202, posted.text
            for _ in range(3):
                assert _there(site).headers["X-Object-Meta-Number"] == f"{number} changed"
            if number % 4 == 0:
                assert site.ann.call("DELETE", "c/x").status_code == 204
                for _ in range(3):
                    assert site.ann.call("GET", "c/x").status_code == 404
                assert site.ann.listing("c") == []
    finally:
        over.set()
        worker.join()
    assert outcomes.get("changed", 0) > WRITES // 3, outcomes


def test_three_replicas_agree_with_the_client() -> None:
    with (
        at_swift(nodes=3, replicas=3) as (disks, store, pusher),
        logged_in(store, "acme:ann") as ann,
        logged_in(store, "controller:controller", ann.account_url) as admin,
    ):
        ann.put("c")
        test_no_write_of_a_client_is_lost_or_undone(Site(disks, ann, admin, pusher, "swift"))


def test_unreadable_object_stays_unchanged(site: Site) -> None:
    site.rules("FOR TENANT acme DO SET ENCRYPTION")
    site.ann.put("c/secret", TEXT)
    site.rules()
    kept = site.ring.read_text()
    try:
        site.ring.write_text("{}")
        outcome, sentence = site.rewrite("c/secret")
        assert (outcome, "key acme-1" in sentence) == ("failed", True)
        site.rules("FOR TENANT acme DO SET ENCRYPTION")
        outcome, sentence = site.rewrite("c/secret")
        assert (outcome, "no key for objects of acme" in sentence) == ("failed", True)
    finally:
        site.ring.write_text(kept)
    both = {"acme-1": "11" * 32, "acme-2": "22" * 32}
    try:  # the current key has changed, so objects with the old one are encrypted anew
        site.ring.write_text(json.dumps({"acme": {"current": "acme-2", "keys": both}}))
        assert [site.rewrite("c/secret")[0] for _ in range(2)] == ["changed", "kept"]
    finally:
        site.ring.write_text(kept)
    outcome, sentence = site.rewrite("c/secret", "plain")
    assert (outcome, "key acme-2" in sentence) == ("failed", True)


def test_a_module_that_does_not_run_leaves_the_object(site: Site) -> None:
    site.ann.put("c/a", TEXT)
    before = seen(site, "c/a")
    site.rules("FOR TENANT acme DO SET LYING")
    outcome, sentence = site.rewrite("c/a")
    assert (outcome, "the filter lying cannot store this object" in sentence) == ("failed", True), sentence
    assert (site.done("c/a"), seen(site, "c/a")) == ([], before)


def test_it_takes_as_long_as_its_rate_says(site: Site) -> None:
    site.ann.put("c/a", bytes(1_000_000))
    site.rules("FOR TENANT acme DO SET NOOP")
    began_s = time.monotonic()
    assert site.rewrite("c/a", **{RATE_HEADER: "1000000"}) == ("changed", "")
    assert time.monotonic() - began_s > 0.9
    assert site.rewrite("c/a", **{BOOK_HEADER: "0" * 64})[0] == "later"


def test_a_store_that_is_away_is_told_from_an_object_that_fails() -> None:
    with (
        at_swift() as (disks, store, pusher),
        logged_in(store, "acme:ann") as ann,
        logged_in(store, "controller:controller", ann.account_url) as admin,
    ):
        site = Site(disks, ann, admin, pusher, "swift")
        ann.put("c")
        ann.put("c/a", TEXT)
        site.rules("FOR TENANT acme DO SET COMPRESSION")
        store.signal("object-1", signal.SIGTERM)
        until(lambda: store.ended_server() == "object-1")
        outcome, sentence = site.rewrite("c/a")
        assert (outcome, "the store answers 503" in sentence) == ("away", True)
        store.restart("object-1")
        until(lambda: site.rewrite("c/a")[0] == "changed")
        assert ann.call("GET", "c/a").content == TEXT


def _there(site: Site) -> httpx.Response:
    answer = site.ann.call("GET", "c/x")
    assert answer.status_code == 200, (answer.status_code, answer.text)
    return answer


def test_range_reads_during_rewriting_get_the_original_bytes(site: Site) -> None:
    content = bytes(range(256)) * 1000
    site.ann.put("c/read", content)
    over, changed = threading.Event(), list[str]()

    def again() -> None:
        for number in range(JOBS):
            site.rules(CHAINS[number % 2][0])
            changed.append(site.rewrite("c/read", ("rules", "plain")[number % 3 == 2])[0])
        over.set()

    worker = threading.Thread(target=again)
    worker.start()
    reads = 0
    try:
        while not over.is_set():
            first = (reads * 7919) % (len(content) - 1000)
            answer = site.ann.call("GET", "c/read", headers={"Range": f"bytes={first}-{first + 999}"})
            reads += 1
            assert (answer.status_code, answer.content) == (206, content[first : first + 1000])
    finally:
        worker.join()
    assert (changed.count("changed") > JOBS // 2, reads > JOBS // 2) == (True, True), (changed, reads)
