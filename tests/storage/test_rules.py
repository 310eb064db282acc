"""Rules at a real Swift: an admin writes one, the proxies apply it, and all clients read the original."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest

from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.file import RuleFile
from storage_filters.rules.metrics import WINDOW_S
from tests.storage.test_views import WANTED, meters
from tests.support.object_store import Person, definition, logged_in
from tests.support.people import make_token
from tests.support.pusher import pushed_store
from tests.support.s3 import s3_client
from tests.support.typed_storage import typed_storage
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole
from zoe_embedded.swift.store import ObjectStore

RULE = "FOR TENANT acme WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION"
TEXT = b"all work and no play makes jack a dull boy\n" * 5000


@pytest.fixture
def whole(shared: Whole) -> Whole:
    return shared


@pytest.fixture
def database(shared_database: str) -> str:
    return shared_database


@pytest.fixture
def ring(whole: Whole) -> Path:
    """The file of the tenants' keys."""
    return Path(str(whole.store.configuration.keyring))


@pytest.fixture
def ann(whole: Whole) -> Iterator[Person]:
    with logged_in(whole.store, "acme:ann") as person:
        yield person


@pytest.fixture
def controller(whole: Whole) -> Iterator[httpx.Client]:
    headers = {"X-Auth-Token": TOKEN, "X-Zoe-Author": "ann"}
    with httpx.Client(base_url=whole.url, headers=headers, timeout=60) as http:
        yield http


@contextmanager
def applied(controller: httpx.Client, whole: Whole, *texts: str) -> Iterator[list[int]]:
    """These rules hold at the proxy."""
    answer = controller.post("/v1/rules", json={"text": "\n".join(texts)})
    assert answer.status_code == 201, answer.text
    ids = [row["id"] for row in answer.json()]
    until(lambda: _ids_at(whole) >= set(ids))
    try:
        yield ids
    finally:
        for number in ids:
            controller.delete(f"/v1/rules/{number}")
        until(lambda: not _ids_at(whole) & set(ids))


def _ids_at(whole: Whole) -> set[int]:
    path = whole.store.directory / "rates.rules"
    return {rule["id"] for rule in json.loads(path.read_text())["rules"]} if path.exists() else set()


def on_disk(store: ObjectStore) -> int:
    """How many bytes all objects have on the disks."""
    found = list((store.directory / "devices").rglob("objects/**/*.data"))
    return sum(path.stat().st_size for path in found)


def test_a_rule_is_carried_out_and_everybody_reads_what_was_put(
    whole: Whole, ann: Person, controller: httpx.Client
) -> None:
    ann.put("plain")
    ann.put("plain/notes.txt", TEXT)
    before = on_disk(whole.store)
    with applied(controller, whole, RULE) as [number]:
        ann.put("docs")
        ann.put("docs/notes.txt", TEXT, **{"X-Object-Meta-Colour": "red"})
        assert on_disk(whole.store) - before < len(TEXT) / 10
        why = controller.get("/v1/rules/why", params={"tenant": "acme", "container": "docs", "object": "notes.txt"})
        assert [(entry["filter"], entry["rule"]) for entry in why.json()["done"]] == [
            ("COMPRESSION", number),
            ("ENCRYPTION", number),
        ]
    conditions: list[dict[str, str]] = [
        {},
        *({"Range": f"bytes={entry}"} for entry in ("0-0", "70000-70100", "-5", "999999-", "1-2,5-6")),
        {"If-None-Match": "*"},
        {"If-Match": '"nonsense"'},
    ]
    for headers in conditions:  # the rule is removed: the object records its filters
        for method in ("GET", "HEAD"):
            plain, behind = (ann.call(method, f"{c}/notes.txt", headers=headers) for c in ("plain", "docs"))
            assert seen(plain) == seen(behind), (method, headers)
    etag = ann.call("HEAD", "plain/notes.txt").headers["Etag"]
    assert ann.call("GET", "docs/notes.txt", headers={"If-None-Match": f'"{etag}"'}).status_code == 304
    assert ann.call("GET", "docs/notes.txt", headers={"If-Match": f'"{etag}"'}).content == TEXT
    [plain_entry], [entry] = ann.listing("plain"), ann.listing("docs")
    assert (entry["bytes"], entry["hash"]) == (plain_entry["bytes"], plain_entry["hash"]) == (len(TEXT), etag)
    ann.call("POST", "docs/notes.txt", headers={"X-Object-Meta-Colour": "blue"})
    changed = ann.call("GET", "docs/notes.txt")
    assert (changed.content, changed.headers["X-Object-Meta-Colour"]) == (TEXT, "blue")


def test_rules_reach_names_in_any_script(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    rules = (
        "FOR CONTAINER acme/größe DO SET COMPRESSION",
        "FOR OBJECT acme/日本/ünï.txt DO SET NOOP",
        "FOR CONTAINER acme/日本 WHEN OBJECT_TAG=groß DO SET ENCRYPTION",
    )
    with applied(controller, whole, *rules) as ids:
        done = []
        for path, tags in (("größe/a", ""), ("日本/ünï.txt", ""), ("日本/b", "klein, groß"), ("日本/c", "klein")):
            container, name = path.split("/")
            ann.put(quote(container))
            headers = {"X-Object-Meta-Tag": tags.encode()} if tags else {}
            assert ann.call("PUT", quote(path), content=TEXT, headers=headers).status_code == 201
            assert ann.call("GET", quote(path)).content == TEXT
            asked = {"tenant": "acme", "container": container, "object": name}
            done.append([entry["rule"] for entry in controller.get("/v1/rules/why", params=asked).json()["done"]])
    assert done == [[ids[0]], [ids[1]], [ids[2]], []]


def test_metadata_that_the_disk_cannot_take_are_refused_and_the_store_stays(
    whole: Whole, ann: Person, controller: httpx.Client
) -> None:
    """An object server that stores them nowhere says that its disk is full, and is left alone for a minute."""
    ann.put("noted")
    with applied(controller, whole, "FOR CONTAINER acme/noted DO SET COMPRESSION, SET ENCRYPTION"):
        cases = (24, 76, {201}), (85, 1, {201, 400}), (13, 243, {201, 400}), (16, 250, {400})
        for number, length, allowed in cases:
            headers = {f"X-Object-Meta-K{place:02}": "v" * length for place in range(number)}
            put = ann.call("PUT", "noted/a", content=TEXT, headers=headers)
            assert put.status_code in allowed, (number, length, put.text)
            ann.put("noted/plain", TEXT)
            assert ann.call("GET", "noted/plain").content == TEXT


def seen(answer: httpx.Response) -> tuple[Any, ...]:
    headers = ("Content-Length", "Content-Range", "Etag", "Accept-Ranges")
    content = answer.content
    kind = answer.headers.get("Content-Type", "")
    if (boundary := kind.partition("boundary=")[2]) != "":
        content, kind = content.replace(boundary.encode(), b"boundary"), "several"
    return (answer.status_code, kind, *(answer.headers.get(name) for name in headers), content)


def test_an_admin_writes_a_rule_with_the_command_line(whole: Whole, ann: Person, database: str, tmp_path: Path) -> None:
    """From `zoe storage policy add` through API and controller to the proxy, and back by `zoe storage why`."""
    with typed_storage(whole, database, tmp_path) as (zoe, api):
        refused = zoe("policy", "add", "FOR TENANT acme DO SET COMPRESSION WITH TYPE")
        assert refused[0] == 2, refused
        assert "character 45: the end where the rule needs =" in refused[1]
        anns = make_token(api.store, "ann", "acme")
        assert zoe("policy", "add", RULE, token=anns)[0] == 4  # not allowed
        code, printed = zoe("policy", "add", RULE, "-o", "json")
        assert code == 0, printed
        [made] = json.loads(printed)["rules"]
        assert (made["author"], made["enforced"]) == ("root", True)
        until(lambda: made["id"] in _ids_at(whole))
        ann.put("typed")
        ann.put("typed/a.txt", TEXT)
        code, printed = zoe("why", "typed/a.txt", "-o", "json", token=anns)
        assert [load["filter"] for load in json.loads(printed)["done"]] == ["COMPRESSION", "ENCRYPTION"]
        rule = "FOR CONTAINER typed DO DELETE COMPRESSION"
        code, printed = zoe("policy", "try", "typed/b.txt", "--rule", rule, token=anns)
        assert (code, "then  ENCRYPTION\n" in printed, "is more specific" in printed) == (0, True, True), printed
        assert zoe("policy", "apply", "acme/typed", "--undo", token=anns)[0] == 4
        code, printed = zoe("policy", "apply", "acme/typed", "--undo")
        assert (code, "acme/typed" in printed) == (0, True), printed
        until(lambda: "done " in zoe("policy", "applying")[1])
        assert "1 of 1" in zoe("policy", "applying")[1]
        assert "no filter: it is stored as it was put" in zoe("why", "typed/a.txt", token=anns)[1]
        hot = zoe("policy", "add", "FOR CONTAINER acme/typed WHEN PUTS_SEC > 9 DO SET NOOP", "-o", "json")
        until(lambda: "PUTS_SEC 0" in zoe("policy", "ls")[1])
        assert zoe("policy", "rm", str(json.loads(hot[1])["rules"][0]["id"]))[0] == 0
        assert zoe("policy", "rm", str(made["id"]))[0] == 0
        assert f"{made['id']} " in zoe("policy", "ls", "--removed")[1]
        assert zoe("policy", "rm", str(made["id"]))[0] == 3
        assert zoe("policy", "restore", "999999")[0] == 3
        code, printed = zoe("policy", "restore", str(made["id"]), "-o", "json")
        [again] = json.loads(printed)["rules"]
        assert (again["rule"], again["id"] > made["id"]) == (made["rule"], True)
        assert zoe("policy", "rm", str(again["id"]))[0] == 0
        until(lambda: made["id"] not in _ids_at(whole))


def test_copies_segments_and_views_are_of_what_was_put(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    everything = "FOR TENANT acme DO SET COMPRESSION, SET ENCRYPTION"
    body, wanted = meters(1, 2000)
    with applied(controller, whole, everything):
        ann.put("kept")
        ann.put("kept/a.csv", body)
        ann.put("kept/copy.csv", **{"X-Copy-From": "/kept/a.csv"})
        assert ann.call("GET", "kept/copy.csv").content == ann.call("GET", "kept/a.csv").content
        parts = [os.urandom(70_000), TEXT]
        manifest = []
        for number, part in enumerate(parts):
            ann.put(f"kept/part{number}", part)
            manifest.append({"path": f"/kept/part{number}", "size_bytes": len(part)})
        made = ann.call("PUT", "kept/large?multipart-manifest=put", content=json.dumps(manifest))
        assert made.status_code == 201, made.text
        assert ann.call("GET", "kept/large").content == b"".join(parts)
        middle = ann.call("GET", "kept/large", headers={"Range": "bytes=69990-70010"})
        assert middle.content == b"".join(parts)[69990:70011]
        ann.put("seen")
        ann.put("seen/a.csv", body)
    ann.put("unfiltered")
    ann.put("unfiltered/a.csv", body)
    with logged_in(whole.store, "controller:controller", ann.account_url) as admin:
        for container in ("seen", "unfiltered"):
            admin.put(f"zoe-view-{container}", **definition(container, **WANTED))
    assert ann.view("zoe-view-seen") == ann.view("zoe-view-unfiltered") == wanted


def test_a_missing_key_is_a_conflict_with_its_name(
    whole: Whole, ring: Path, ann: Person, controller: httpx.Client
) -> None:
    with applied(controller, whole, "FOR TENANT acme DO SET ENCRYPTION"):
        ann.put("secret")
        ann.put("secret/a", b"secret")
        try:
            ring.write_text(json.dumps({"acme": {"current": "acme-2", "keys": {"acme-2": "22" * 32}}}))
            refused = ann.call("GET", "secret/a")
            assert (refused.status_code, "key acme-1" in refused.text) == (409, True)
            ann.put("secret/b", b"newer")
            ring.write_text(json.dumps({"acme": {"current": "acme-1", "keys": {"acme-1": "33" * 32}}}))
            refused = ann.call("GET", "secret/a")
            assert (refused.status_code, "key acme-1 differs from the key" in refused.text) == (409, True)
            ring.write_text(json.dumps({}))
            refused = ann.call("PUT", "secret/c", content=b"x")
            assert (refused.status_code, "no key for objects of acme" in refused.text) == (409, True)
        finally:
            both = {"acme-1": "11" * 32, "acme-2": "22" * 32}
            ring.write_text(json.dumps({"acme": {"current": "acme-2", "keys": both}}))
    assert [ann.call("GET", f"secret/{name}").content for name in ("a", "b")] == [b"secret", b"newer"]
    assert ann.call("GET", "secret/c").status_code == 404


def test_of_a_client_that_hangs_up_nothing_is_stored(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    with applied(controller, whole, "FOR TENANT acme DO SET COMPRESSION"):
        ann.put("half")
        place = urlsplit(ann.account_url)
        assert place.hostname is not None
        with socket.create_connection((place.hostname, place.port or 80), timeout=30) as client:
            head = (
                f"PUT {place.path}/half/a HTTP/1.1",
                "Host: x",
                f"X-Auth-Token: {ann.token}",
                "Content-Length: 500000",
            )
            client.sendall("".join(f"{line}\r\n" for line in (*head, "")).encode() + bytes(100_000))
        wrong = ann.call("PUT", "half/b", content=TEXT, headers={"Etag": "0" * 32})
        assert wrong.status_code == 422
        ann.put("half/c", TEXT)
        assert [entry["name"] for entry in ann.listing("half")] == ["c"]
        assert ann.call("HEAD", "half/a").status_code == 404


def test_clients_of_s3_read_what_was_put(whole: Whole, ring: Path, ann: Person, controller: httpx.Client) -> None:
    content = os.urandom(100_000) + TEXT
    with (
        applied(controller, whole, "FOR TENANT acme DO SET COMPRESSION WITH TYPE=ZSTD, SET ENCRYPTION"),
        s3_client(whole.store, "acme:ann") as by_s3,
    ):
        assert by_s3.call("PUT", "bucket").status_code == 200
        put = by_s3.call("PUT", "bucket/a", content=content)
        assert put.headers["ETag"].strip('"') == hashlib.md5(content, usedforsecurity=False).hexdigest()
        assert by_s3.call("PUT", "bucket/b", headers={"x-amz-copy-source": "/bucket/a"}).status_code == 200
        begun = by_s3.call("POST", "bucket/large", "uploads=")
        upload = begun.text.partition("<UploadId>")[2].partition("</UploadId>")[0]
        sent = by_s3.call("PUT", "bucket/large", f"partNumber=1&uploadId={upload}", content)
        part = f"<Part><PartNumber>1</PartNumber><ETag>{sent.headers['ETag']}</ETag></Part>"
        whole_upload = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()
        assert by_s3.call("POST", "bucket/large", f"uploadId={upload}", whole_upload).status_code == 200
        for name in ("a", "b", "large"):
            assert by_s3.call("GET", f"bucket/{name}").content == content
            middle = by_s3.call("GET", f"bucket/{name}", headers={"Range": "bytes=99990-100010"})
            assert (middle.status_code, middle.content) == (206, content[99990:100011])
            head = by_s3.call("HEAD", f"bucket/{name}")
            assert int(head.headers["Content-Length"]) == len(content)
        unchanged = by_s3.call("GET", "bucket/a", headers={"If-None-Match": put.headers["ETag"]})
        assert unchanged.status_code == 304
        listed = by_s3.call("GET", "bucket").text
        assert listed.count(f"<Size>{len(content)}</Size>") == 3
        try:
            kept = ring.read_text()
            ring.write_text("{}")
            refused = by_s3.call("GET", "bucket/a")
            assert (refused.status_code, "keyring of this server lacks" in refused.text) == (400, True), refused.text
        finally:
            ring.write_text(kept)


@pytest.mark.parametrize("kind", [{"encrypted": True, "nodes": 1, "replicas": 1}, {"erasure_coded": True, "nodes": 3}])
def test_filters_stand_before_swifts_own_encryption_and_fragments(kind: dict[str, Any]) -> None:
    """Where the store encrypts its disks itself, or stores fragments, clients still see the original."""
    rules = RuleBook((replace(parse_rule("FOR TENANT acme DO SET COMPRESSION"), id=7),))
    etag = hashlib.md5(TEXT, usedforsecurity=False).hexdigest()
    with pushed_store(**kind) as (store, pusher), logged_in(store, "acme:ann") as ann:
        pusher.rules = book_document(rules)
        pusher.push()
        pusher.push(AUTH_nobody={"get": 1.0})
        ann.put("both")
        ann.put("both/a", TEXT)
        assert 0 < on_disk(store) < len(TEXT) / 10
        for headers, status in (
            ({}, 200),
            ({"If-Match": f'"{etag}"'}, 200),
            ({"If-Match": '"nonsense"'}, 412),
            ({"If-None-Match": f'"{etag}"'}, 304),
            ({"Range": "bytes=1000-1999"}, 206),
        ):
            answer = ann.call("GET", "both/a", headers=headers)
            assert (answer.status_code, answer.headers["Etag"]) == (status, etag), headers
            if status < 300:
                assert answer.content == (TEXT[1000:2000] if status == 206 else TEXT)
        [entry] = ann.listing("both")
        assert (entry["bytes"], entry["hash"]) == (len(TEXT), etag)


def test_a_rule_with_a_metric_holds_while_its_condition_does(
    whole: Whole, ann: Person, controller: httpx.Client
) -> None:
    def done(name: str) -> list[str]:
        ann.put(f"hot/{name}", TEXT)
        why = controller.get("/v1/rules/why", params={"tenant": "acme", "container": "hot", "object": name})
        return [entry["filter"] for entry in why.json()["done"]]

    def would_be() -> tuple[list[str], float]:
        asked = {"tenant": "acme", "container": "hot", "object": "next"}
        [row] = [entry for entry in controller.get("/v1/rules").json() if "PUTS_SEC" in entry["rule"]]
        return controller.post("/v1/rules/try", json=asked).json()["now"]["filters"], row["metrics"]["PUTS_SEC"]

    with applied(controller, whole, "FOR CONTAINER acme/hot WHEN PUTS_SEC > 2 DO SET COMPRESSION TRANSIENT"):
        ann.put("hot")
        assert done("first") == []
        until(lambda: done("busy") == ["COMPRESSION"])  # each look is a PUT
        filters, rate = would_be()
        assert (filters, rate > 2) == (["COMPRESSION"], True)
        time.sleep(WINDOW_S + 2.0)
        filters, rate = would_be()
        assert (filters, rate <= 2) == ([], True)
        assert done("quiet") == []
        assert ann.call("GET", "hot/busy").content == TEXT


def test_the_last_rules_hold_while_the_controller_is_away() -> None:
    """A proxy has the last rules in its file: no request asks the controller, also after a restart of the proxy."""
    rules = RuleBook((replace(parse_rule("FOR TENANT acme DO SET COMPRESSION"), id=7),))
    with pushed_store(nodes=1, replicas=1) as (store, pusher):
        pusher.rules = book_document(rules)
        pusher.push()
        pusher.push(AUTH_nobody={"get": 1.0})  # the earlier push is in force
        pusher.limits.close()
        with logged_in(store, "acme:ann") as ann:
            ann.put("away")
            ann.put("away/a", TEXT)
            assert 0 < on_disk(store) < len(TEXT) / 10
            assert ann.call("GET", "away/a").content == TEXT
        file = RuleFile(store.directory / "rates.rules")
        assert file.book() == rules


def test_why_judges_by_the_size_and_the_tags_of_what_is_stored(
    whole: Whole, ann: Person, controller: httpx.Client
) -> None:
    ann.put("sized")
    texts = (
        "FOR CONTAINER acme/sized DO SET COMPRESSION TO OBJECT_SIZE>1000",
        "FOR CONTAINER acme/sized DO SET NOOP TO OBJECT_TAG=kept",
    )
    with applied(controller, whole, *texts):
        ann.put("sized/large", TEXT, **{"X-Object-Meta-Tag": "old, kept"})
        ann.put("sized/small", TEXT[:10])

        def now(name: str) -> list[str]:
            asked = {"tenant": "acme", "container": "sized", "object": name}
            found: list[str] = controller.get("/v1/rules/why", params=asked).json()["now"]["filters"]
            return found

        assert (now("large"), now("small")) == (["COMPRESSION", "NOOP"], [])
