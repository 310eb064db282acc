"""The controller's job that applies rules to objects which lie there already, at a real Swift."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from storage_bridge.model import BandwidthSlo
from tests.storage.test_rules import TEXT, applied, on_disk
from tests.support.modules import EMPTY, FLIPPING, module
from tests.support.object_store import ADMIN, Person, logged_in, object_store
from tests.support.postgres import PostgresServer
from tests.support.waiting import until
from tests.support.whole_storage import CAPACITY, TOKEN, Whole, keyring, whole_storage
from zoe_embedded.home import Account
from zoe_embedded.swift.configuration import PROXY_NAME, ControllerLine
from zoe_embedded.swift.controller import ControllerSite

RULE = "FOR CONTAINER acme/{} DO SET COMPRESSION, SET ENCRYPTION"
FAST = 10**9


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="module")
def whole(database: str) -> Iterator[Whole]:
    with whole_storage(database, keyring=keyring, versions=True) as made:
        yield made


@pytest.fixture
def ann(whole: Whole) -> Iterator[Person]:
    with logged_in(whole.store, "acme:ann") as person:
        yield person


@pytest.fixture
def controller(whole: Whole) -> Iterator[httpx.Client]:
    headers = {"X-Auth-Token": TOKEN, "X-Zoe-Author": "ann"}
    with httpx.Client(base_url=whole.url, headers=headers, timeout=60) as http:
        yield http


def begun(controller: httpx.Client, **wanted: Any) -> int:
    answer = controller.post("/v1/rewrites", json={"tenant": "acme", "bytes_per_s": FAST, **wanted})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def job(controller: httpx.Client, number: int) -> dict[str, Any]:
    [found] = [entry for entry in controller.get("/v1/rewrites").json() if entry["id"] == number]
    return dict(found)


def ended(controller: httpx.Client, number: int) -> dict[str, Any]:
    until(lambda: job(controller, number)["state"] != "running", lambda: job(controller, number))
    return job(controller, number)


def done(controller: httpx.Client, container: str, name: str) -> list[str]:
    why = controller.get("/v1/rules/why", params={"tenant": "acme", "container": container, "object": name})
    return [entry.get("name", entry["filter"]) for entry in why.json()["done"]]


def test_a_job_applies_rules_to_what_lies_there_and_another_undoes_it(
    whole: Whole, ann: Person, controller: httpx.Client
) -> None:
    ended(controller, begun(controller))  # without a rule: what other tests have left
    ann.put("old")
    parts = [b"0" * 70_000, TEXT]
    for number, part in enumerate(parts):
        ann.put(f"old/part{number}", part)
    manifest = [{"path": f"/old/part{n}", "size_bytes": len(part)} for n, part in enumerate(parts)]
    assert ann.call("PUT", "old/z?multipart-manifest=put", content=json.dumps(manifest)).status_code == 201
    before, plain, listed = ann.call("GET", "old/part1"), on_disk(whole.store), ann.listing("old")
    with applied(controller, whole, RULE.format("old")):
        tried = ended(controller, begun(controller, container="old", dry_run=True))
        assert (tried["changed"], tried["changed_bytes"], on_disk(whole.store)) == (2, 70_000 + len(TEXT), plain)
        first = ended(controller, begun(controller, container="old"))
        assert (first["looked"], first["changed"], first["kept"], first["failed"]) == (3, 2, 1, 0)
        assert (first["expected"], first["author"], first["sentence"]) == (3, "ann", "")
        assert done(controller, "old", "part1") == ["COMPRESSION", "ENCRYPTION"]
        assert on_disk(whole.store) < plain / 10
        again = ended(controller, begun(controller))  # the whole tenant; nothing is left to do
        assert (again["changed"], again["looked"] >= 3) == (0, True)
        assert ann.call("GET", "old/z").content == b"".join(parts)
        after = ann.call("GET", "old/part1")
        for name in ("Etag", "Last-Modified", "X-Timestamp", "Content-Type"):
            assert after.headers[name] == before.headers[name]
        assert (after.content, ann.listing("old")) == (before.content, listed)
    undone = ended(controller, begun(controller, container="old", plain=True))
    assert (undone["changed"], done(controller, "old", "part1"), on_disk(whole.store)) == (2, [], plain)


def test_a_module_of_the_tenant_is_applied(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    data = base64.b64encode(module(*FLIPPING)).decode()
    assert controller.put("/v1/modules/turned?tenant=acme", json={"data": data}).status_code == 201
    ann.put("turned")
    ann.put("turned/a", TEXT)
    with applied(controller, whole, "FOR CONTAINER acme/turned DO SET TURNED"):
        found = ended(controller, begun(controller, container="turned"))
        assert (found["changed"], found["failed"], done(controller, "turned", "a")) == (1, 0, ["turned"])
        assert ann.call("GET", "turned/a").content == TEXT
        newer = base64.b64encode(module(*EMPTY)).decode()  # by a user: the rule keeps its version
        again = controller.put("/v1/modules/turned?tenant=acme&only_author=true", json={"data": newer})
        assert again.status_code == 201
        assert ended(controller, begun(controller, container="turned"))["changed"] == 0
        ann.put("turned/b", TEXT)
        place = {"tenant": "acme", "container": "turned"}
        ran = [controller.get("/v1/rules/why", params={**place, "object": name}).json()["done"] for name in "ab"]
        assert ran[0][0]["module"] == ran[1][0]["module"] == hashlib.sha256(module(*FLIPPING)).hexdigest()
        ann.call("DELETE", "turned/b")
    assert ended(controller, begun(controller, container="turned"))["changed"] == 1  # no rule is left
    assert done(controller, "turned", "a") == []


def test_versions_of_a_container_do_not_grow(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    ann.put("versions")
    ann.put("versioned", **{"X-Versions-Location": "versions"})
    for content in (b"one", TEXT):
        ann.put("versioned/x", content)
    assert len(ann.listing("versions")) == 1
    with applied(controller, whole, "FOR TENANT acme DO SET COMPRESSION"):
        found = ended(controller, begun(controller))
        assert found["failed"] == 0
        assert done(controller, "versioned", "x") == ["COMPRESSION"]
    assert len(ann.listing("versions")) == 1


def test_one_job_at_a_time_and_it_can_be_cancelled(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    ann.put("slow")
    for number in range(30):
        ann.put(f"slow/{number}", b"x" * 1000)
    with applied(controller, whole, "FOR CONTAINER acme/slow DO SET COMPRESSION"):
        number = begun(controller, container="slow", bytes_per_s=100_000)  # one look is 64 KiB: 20 s in all
        other = controller.post("/v1/rewrites", json={"tenant": "acme"})
        assert (other.status_code, f"job {number} is running" in other.text) == (409, True)
        until(lambda: job(controller, number)["changed"] > 0)
        assert controller.delete(f"/v1/rewrites/{number}").status_code == 204
        assert controller.delete(f"/v1/rewrites/{number}").status_code == 404
        found = job(controller, number)
        assert (found["state"], 0 < found["looked"] < 30) == ("cancelled", True)
        # Its remaining work is not done any more, and another job may run.
        assert ended(controller, begun(controller, container="slow", plain=True))["looked"] == 30


def test_a_proxy_that_hangs_is_noticed_and_the_job_goes_on(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    ann.put("hung")
    for number in range(20):
        ann.put(f"hung/{number}", b"x" * 1000)
    with applied(controller, whole, "FOR CONTAINER acme/hung DO SET COMPRESSION"):
        number = begun(controller, container="hung", bytes_per_s=200_000)  # one look is 64 KiB: 7 s in all
        until(lambda: job(controller, number)["looked"] > 0)
        parent = psutil.Process(whole.store.processes[PROXY_NAME])
        stopped = [parent, *parent.children(recursive=True)]
        for process in stopped:
            process.suspend()
        try:
            until(
                lambda: "cannot reach Swift" in job(controller, number)["waits"],
                lambda: job(controller, number),
                deadline_s=240,
            )
        finally:
            for entry in stopped:
                entry.resume()
        found = ended(controller, number)
        assert (found["state"], found["looked"], found["failed"], found["waits"]) == ("done", 20, 0, "")
        assert all(ann.call("GET", f"hung/{number}").content == b"x" * 1000 for number in range(20))


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"container": "nosuch"}, 404),
        ({"container": "a/b"}, 400),
        ({"tenant": ""}, 400),
        ({"bytes_per_s": 5}, 400),
    ],
)
def test_bad_jobs_are_refused(controller: httpx.Client, wanted: dict[str, Any], status: int) -> None:
    answer = controller.post("/v1/rewrites", json={"tenant": "acme", **wanted})
    assert (answer.status_code, bool(answer.json()["error"])) == (status, True)


def test_a_controller_that_is_killed_goes_on_where_it_was(postgres_url: str) -> None:
    sites: list[ControllerSite] = []

    def line(apart: Path, account: Account | None) -> ControllerLine:
        sites.append(ControllerSite(apart, TOKEN, account))
        return sites[0].line

    objects = 40
    with object_store(nodes=1, replicas=1, keyring=keyring, controller=line) as store, ExitStack() as undo:
        [site] = sites
        undo.callback(site.close)
        url = postgres_url.replace("postgresql+psycopg2:", "postgresql:")
        site.configure(store, ADMIN, url, BandwidthSlo(CAPACITY, CAPACITY))
        process = site.start()
        undo.callback(lambda: (process.terminate(), process.wait()))
        site.wait_until_up(process)
        ann = undo.enter_context(logged_in(store, "acme:ann"))
        http = undo.enter_context(
            httpx.Client(base_url=site.url, headers={"X-Auth-Token": TOKEN, "X-Zoe-Author": "ann"}, timeout=60)
        )
        ann.put("many")
        for number in range(objects):
            ann.put(f"many/{number:02}", TEXT)
        assert http.post("/v1/rules", json={"text": "FOR TENANT acme DO SET COMPRESSION"}).status_code == 201
        number = begun(http, container="many", bytes_per_s=1_000_000)  # some 9 s
        until(lambda: job(http, number)["looked"] >= 5)
        process.kill()
        process.wait()
        process = site.start()
        site.wait_until_up(process)
        until(lambda: http.get("/v1/rewrites").is_success)  # it leads
        found = ended(http, number)
        assert (found["state"], found["looked"], found["failed"]) == ("done", objects, 0)
        assert found["changed"] >= objects - 20  # unrecorded changes were found to be done
        assert all(done(http, "many", f"{number:02}") == ["COMPRESSION"] for number in range(objects))
        assert all(ann.call("GET", f"many/{number:02}").content == TEXT for number in range(objects))
