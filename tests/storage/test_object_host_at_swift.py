"""Filters ON OBJECT at a real Swift of two nodes: where bytes are changed, and what moves, copies and views see."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storage_bridge.model import REWRITE, REWRITE_HEADER
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from tests.storage.test_filter_host_at_swift import pushed
from tests.storage.test_rules import TEXT, on_disk
from tests.storage.test_views import WANTED, meters
from tests.support.object_store import Person, definition, logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.whole_storage import keyring
from zoe_embedded.swift.store import ObjectStore

BOTH = "FOR TENANT acme DO SET COMPRESSION WITH TYPE=LZ4 ON OBJECT, SET ENCRYPTION ON OBJECT"
Site = tuple[ObjectStore, Pusher, Person]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with pushed_store(nodes=2, replicas=2, keyring=keyring) as (store, pusher), logged_in(store, "acme:ann") as ann:
        ann.put("c")
        yield store, pusher, ann


def ruled(pusher: Pusher, *texts: str) -> None:
    rules = tuple(replace(parse_rule(text), id=number) for number, text in enumerate(texts, start=7))
    pushed(pusher, book_document(RuleBook(rules)))


def files(store: ObjectStore) -> list[bytes]:
    """Return what lies on the disks, of the newest object."""
    found = sorted((store.directory / "devices").rglob("objects/**/*.data"), key=lambda path: path.stat().st_mtime_ns)
    return [path.read_bytes() for path in found[-2:]]


def places(store: ObjectStore, ann: Person, name: str) -> list[tuple[str, str, str | None]]:
    with logged_in(store, "controller:controller", ann.account_url) as admin:
        told = admin.call("HEAD", name, headers={"X-Zoe-Why": "yes"}).headers.get("X-Zoe-Why", "[]")
    return [(load["filter"], load["at"], load.get("moved")) for load in json.loads(told)]


def test_each_replica_is_filtered_alike_and_everybody_reads_what_was_put(site: Site) -> None:
    store, pusher, ann = site
    ruled(pusher, BOTH)
    body = TEXT * 20
    put = ann.call("PUT", "c/a", content=body)
    ruled(pusher)
    first, second = files(store)
    assert first == second, "replicas of one object"
    assert len(first) < len(body) / 2
    assert body[:100] not in first
    assert places(store, ann, "c/a") == [
        ("COMPRESSION", "object server", None),
        ("ENCRYPTION", "object server", None),
    ]
    answer = ann.call("GET", "c/a")
    assert (answer.content, answer.headers["Etag"]) == (body, put.headers["Etag"])
    [entry] = [entry for entry in ann.listing("c") if entry["name"] == "a"]
    assert (entry["bytes"], entry["hash"]) == (len(body), put.headers["Etag"].strip('"'))
    ranged = ann.call("GET", "c/a", headers={"Range": "bytes=1000-1999", "If-Match": put.headers["Etag"]})
    assert (ranged.status_code, ranged.content) == (206, body[1000:2000])
    assert ann.call("GET", "c/a", headers={"If-None-Match": put.headers["Etag"]}).status_code == 304
    assert not [name for name in answer.headers if "zoe" in name.lower()]


def test_a_file_moves_between_nodes_as_it_is(site: Site) -> None:
    store, pusher, ann = site
    ruled(pusher, BOTH)
    body = os.urandom(300_000)
    ann.call("PUT", "c/moved", content=body)
    [before, _] = files(store)
    shutil.rmtree(store.directory / "devices" / "node2" / "d2" / "objects")
    store.replicate(1)
    ruled(pusher, "FOR TENANT acme DO SET ENCRYPTION ON PROXY")
    assert before in [path.read_bytes() for path in _data(store, "node2")]
    shutil.rmtree(store.directory / "devices" / "node1" / "d1" / "objects")
    assert ann.call("GET", "c/moved").content == body
    assert ann.call("GET", "c/moved", headers={"Range": "bytes=-1000"}).content == body[-1000:]
    store.replicate(2)


def _data(store: ObjectStore, node: str) -> list[Path]:
    return list((store.directory / "devices" / node).rglob("objects/**/*.data"))


def test_copies_segments_and_metadata_are_of_what_was_put(site: Site) -> None:
    store, pusher, ann = site
    ruled(pusher, BOTH)
    body = TEXT * 5
    ann.put("c/from", body)
    ruled(pusher, "FOR OBJECT acme/c/copy DO SET COMPRESSION ON OBJECT")
    ann.put("c/copy", **{"X-Copy-From": "/c/from"})
    ann.put("c/plain", **{"X-Copy-From": "/c/from"})
    assert places(store, ann, "c/copy") == [("COMPRESSION", "object server", None)]
    assert places(store, ann, "c/plain") == []
    assert ann.call("GET", "c/copy").content == ann.call("GET", "c/plain").content == body
    assert ann.call("POST", "c/from", headers={"X-Object-Meta-Tag": "cold"}).is_success
    assert ann.call("GET", "c/from").content == body
    ruled(pusher, BOTH)
    parts = [os.urandom(70_000), TEXT]
    manifest: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        ann.put(f"c/part{number}", part)
        manifest.append({"path": f"/c/part{number}", "size_bytes": len(part)})
    made = ann.call("PUT", "c/large?multipart-manifest=put", content=json.dumps(manifest))
    assert made.status_code == 201, made.text
    assert ann.call("GET", "c/large").content == b"".join(parts)
    assert ann.call("GET", "c/large", headers={"Range": "bytes=69990-70010"}).content == b"".join(parts)[69990:70011]


def test_a_client_cannot_name_filters_nor_say_what_was_done(site: Site) -> None:
    store, pusher, ann = site
    ruled(pusher)
    forged = '[{"filter":"COMPRESSION","type":"ZSTD","level":1,"rule":1}]'
    headers = {"X-Backend-Zoe-Node-Filters": forged, "X-Object-Sysmeta-Zoe-Node-Filters": forged}
    assert ann.call("PUT", "c/forged", content=TEXT, headers=headers).is_success
    assert places(store, ann, "c/forged") == []
    assert files(store) == [TEXT, TEXT]
    assert ann.call("GET", "c/forged").content == TEXT


def test_fragments_are_filtered_at_the_proxy_which_says_so() -> None:
    with (
        pushed_store(erasure_coded=True, nodes=3, keyring=keyring) as (store, pusher),
        logged_in(store, "acme:ann") as ann,
    ):
        ruled(pusher, BOTH)
        ann.put("c")
        ann.put("c/a", TEXT)
        assert places(store, ann, "c/a") == [
            ("COMPRESSION", "proxy", "fragments"),
            ("ENCRYPTION", "proxy", "fragments"),
        ]
        assert ann.call("GET", "c/a").content == TEXT
        assert 0 < on_disk(store) < 3 * len(TEXT)


def test_where_no_object_server_has_filters_they_run_at_the_proxy() -> None:
    with (
        pushed_store(nodes=1, replicas=1, keyring=keyring, filter_at_nodes=False) as (store, pusher),
        logged_in(store, "acme:ann") as ann,
    ):
        ruled(pusher, BOTH)
        ann.put("c")
        ann.put("c/a", TEXT)
        moved = {("ENCRYPTION", "proxy", "no_servers"), ("COMPRESSION", "proxy", "no_servers")}
        assert set(places(store, ann, "c/a")) == moved
        assert ann.call("GET", "c/a").content == TEXT


def test_a_job_moves_filters_to_the_place_that_the_rules_say_now(site: Site) -> None:
    store, pusher, ann = site

    def again(*texts: str, how: str = "rules") -> tuple[str, list[tuple[str, str, str | None]]]:
        ruled(pusher, *texts)
        with logged_in(store, "controller:controller", ann.account_url) as admin:
            answer = admin.call(REWRITE, "c/job", headers={REWRITE_HEADER: how})
        assert answer.status_code == 200, answer.text
        assert ann.call("GET", "c/job").content == TEXT
        return answer.json()["outcome"], places(store, ann, "c/job")

    ruled(pusher)
    ann.put("c/job", TEXT)
    there = [("COMPRESSION", "object server", None), ("ENCRYPTION", "object server", None)]
    assert again(BOTH) == ("changed", there)
    assert again(BOTH) == ("kept", there)
    assert again(BOTH.replace("OBJECT", "PROXY")) == ("changed", [(item[0], "proxy", None) for item in there])
    assert again(BOTH) == ("changed", there)
    assert again(BOTH, how="plain") == ("changed", [])
    assert files(store) == [TEXT, TEXT]


def test_views_are_of_what_was_put(site: Site) -> None:
    store, pusher, ann = site
    body, wanted = meters(1, 2000)
    ruled(pusher, BOTH)
    ann.put("seen")
    ann.put("seen/a.csv", body)
    with logged_in(store, "controller:controller", ann.account_url) as admin:
        admin.put("zoe-view-seen", **definition("seen", **WANTED))
    assert ann.view("zoe-view-seen") == wanted
    assert places(store, ann, "seen/a.csv")[0][1] == "object server"
