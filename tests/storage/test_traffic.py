"""Who moves how much at the proxies of a real Swift: for Prometheus, for the API, and for `zoe storage top`."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from storage_bridge.model import BandwidthSlo, StoreExecution
from tests.support.object_store import Person, logged_in
from tests.support.people import make_token
from tests.support.s3 import s3_client
from tests.support.store_executions import sign_in
from tests.support.typed_storage import typed_storage
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole

BODY = b"x" * 300_000


@pytest.fixture
def whole(shared: Whole) -> Whole:
    return shared


@pytest.fixture
def database(shared_database: str) -> str:
    return shared_database


@pytest.fixture
def ann(whole: Whole) -> Iterator[Person]:
    with logged_in(whole.store, "acme:ann") as person:
        yield person


def totals(whole: Whole, **labels: str) -> dict[str, float]:
    """The metrics with these labels, by name and what else they tell."""
    answer = httpx.get(f"{whole.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
    assert answer.status_code == 200
    return {
        f"{sample.name} {sample.labels.get('result') or sample.labels.get('direction')}": sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if labels.items() <= sample.labels.items()
    }


def rates(whole: Whole, **query: Any) -> list[dict[str, Any]]:
    answer = httpx.get(f"{whole.url}/v1/traffic", params=query, headers={"X-Auth-Token": TOKEN}, timeout=30)
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["rows"]
    return rows


def test_prometheus_gets_exactly_what_was_moved(whole: Whole, ann: Person) -> None:
    ann.put("counted")
    ann.put("counted/a", BODY)
    for _ in range(3):
        assert ann.call("GET", "counted/a").content == BODY
    assert ann.call("GET", "counted/a", headers={"Range": "bytes=0-99"}).status_code == 206
    assert ann.call("GET", "counted/absent").status_code == 404
    with s3_client(whole.store, "acme:ann") as s3:
        assert s3.call("GET", "counted/a").content == BODY
    read = until(
        lambda: (
            (found := totals(whole, container="counted", method="GET", tenant="acme"))
            and found.get("zoe_object_store_requests_total answered") == 5
            and found
        )
    )
    assert read["zoe_object_store_requests_total refused"] == 1
    assert read["zoe_object_store_requests_total failed"] == 0
    assert read["zoe_object_store_bytes_total read"] == 4 * len(BODY) + 100
    written = totals(whole, container="counted", method="PUT", tenant="acme")
    assert (written["zoe_object_store_requests_total answered"], written["zoe_object_store_bytes_total write"]) == (
        2,
        len(BODY),
    )


def test_metrics_need_the_token(whole: Whole) -> None:
    assert httpx.get(f"{whole.url}/metrics").status_code == 401
    assert httpx.get(f"{whole.url}/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert httpx.get(f"{whole.url}/v1/traffic").status_code == 401


def test_caller_without_a_token_makes_no_counter(whole: Whole, ann: Person) -> None:
    for name in ("invented1", "invented2"):
        for url in (f"{ann.account_url}/{name}/x", f"{ann.account_url.replace('AUTH_acme', f'AUTH_{name}')}/c/x"):
            assert httpx.get(url).status_code == 401
    ann.put("after")
    until(lambda: totals(whole, container="after"))
    assert totals(whole, container="invented1") == {}
    assert totals(whole, tenant="invented1") == {}


def test_forbidden_request_counts_for_the_caller(whole: Whole, ann: Person) -> None:
    ann.put("guarded")
    ann.put("guarded/a", BODY)

    def refused(**labels: str) -> float:
        return totals(whole, method="GET", **labels).get("zoe_object_store_requests_total refused", 0.0)

    assert ann.call("GET", "guarded/a").content == BODY
    until(lambda: totals(whole, container="guarded", method="GET"))
    before = refused(tenant="beta", container="")
    with logged_in(whole.store, "beta:bob") as bob:
        for _ in range(3):
            answer = httpx.get(f"{ann.account_url}/guarded/a", headers={"X-Auth-Token": bob.token})
            assert answer.status_code == 403
    assert httpx.get(f"{ann.account_url}/guarded/a", headers={"X-Auth-Token": "invented"}).status_code == 401
    until(lambda: refused(tenant="beta", container="") == before + 3, lambda: refused(tenant="beta", container=""))
    assert refused(container="guarded") == 0


def test_rates_are_of_the_last_seconds(whole: Whole, ann: Person) -> None:
    ann.put("recent")
    for _ in range(20):
        ann.put("recent/a", BODY)
    [row] = until(
        lambda: [
            row for row in rates(whole, by=["container", "method"], seconds=30)
            if (row["container"], row["method"]) == ("recent", "PUT") and row["requests_per_s"] >= 21 / 30
        ]
    )  # fmt: skip
    assert row["write_bytes_per_s"] >= 20 * len(BODY) / 30
    assert 0 < row["mean_latency_s"] < 30
    assert row.keys() & {"tenant", "proxy"} == set()
    assert rates(whole, tenant="nobody") == []
    for query in ({"by": "colour"}, {"seconds": 0}, {"seconds": 61}, {"seconds": "nan"}):
        answer = httpx.get(f"{whole.url}/v1/traffic", params=query, headers={"X-Auth-Token": TOKEN})
        assert answer.status_code == 400, query


def test_requests_are_counted_by_who_signs_them_and_by_object_servers(whole: Whole, ann: Person) -> None:
    ann.put("signed", **{"X-Container-Read": ".r:*"})
    ann.put("signed/a", BODY)
    with s3_client(whole.store, "acme:ann") as s3:
        assert s3.call("GET", "signed/a").content == BODY
    assert httpx.get(f"{ann.account_url}/signed/a").content == BODY
    with logged_in(whole.store, "beta:bob") as bob:
        asked = {"X-Auth-Token": bob.token}
        assert httpx.delete(f"{ann.account_url}/signed/a", headers=asked).status_code == 403
    token = execution_token(whole)
    assert httpx.get(f"{ann.account_url}/signed/a", headers={"X-Auth-Token": token}).content == BODY

    def by_key(method: str) -> dict[tuple[str, str], float]:
        rows = rates(whole, by=["tenant", "key", "method"], seconds=60)
        return {(row["tenant"], row["key"]): row["requests_per_s"] for row in rows if row["method"] == method}

    until(lambda: by_key("GET").keys() >= {("acme", "acme:ann"), ("acme", ""), ("acme", "executions")})
    until(lambda: ("beta", "beta:bob") in by_key("DELETE"))
    assert ("acme", "beta:bob") not in by_key("DELETE"), "refused requests count for the caller's account"
    counted = totals(whole, tenant="acme", key="executions", method="GET")
    assert counted["zoe_object_store_key_requests_total answered"] == 1
    assert counted["zoe_object_store_key_bytes_total read"] == len(BODY)

    def at_nodes() -> dict[str, float]:
        return totals(whole, tenant="acme", container="signed", node="object-1", method="GET")

    read = until(lambda: (found := at_nodes()).get("zoe_object_store_node_requests_total answered") == 3 and found)
    assert read["zoe_object_store_node_bytes_total read"] == 3 * len(BODY)
    [row] = [
        row for row in rates(whole, by=["container", "method", "node"], seconds=60)
        if (row["container"], row["method"]) == ("signed", "PUT")
    ]  # fmt: skip
    assert (row["node"], row["requests_per_s"] > 0) == ("object-1", True)
    for by in (["key", "container"], ["key", "node"], ["node", "proxy"]):
        answer = httpx.get(f"{whole.url}/v1/traffic", params={"by": by}, headers={"X-Auth-Token": TOKEN})
        assert answer.status_code == 422, by
    whole.controller.drop_execution("signs")


def execution_token(whole: Whole) -> str:
    credential = whole.controller.set_execution(StoreExecution("signs", "acme", BandwidthSlo()))
    until(lambda: sign_in(whole.store, credential.user, credential.key).status_code == 200)
    return str(sign_in(whole.store, credential.user, credential.key).headers["X-Auth-Token"])


def test_zoe_storage_top(whole: Whole, database: str, ann: Person, tmp_path: Path) -> None:
    with typed_storage(whole, database, tmp_path) as (zoe, api):
        anns, eves = (make_token(api.store, user, tenant) for user, tenant in (("ann", "acme"), ("eve", "idle")))
        ann.put("topped")
        ann.put("topped/a", BODY)
        until(
            lambda: totals(whole, container="topped", method="PUT").get("zoe_object_store_requests_total answered") == 2
        )
        code, printed = zoe("top", "--seconds", "60", token=anns)
        assert code == 0, printed
        [row] = [line.split() for line in printed.splitlines() if " topped " in line]
        assert row[:3] == ["acme", "topped", "PUT"]
        asked = ("top", "--seconds", "60", "--by", "proxy", "--sort", "requests", "-o", "json")
        [one] = json.loads(zoe(*asked, token=anns)[1])["rows"]
        assert (one["proxy"], one["tenant"]) == ("proxy", None)
        # Another tenant sees nothing of it, and may not ask; an admin sees all.
        code, printed = zoe("top", "--seconds", "60", token=eves)
        assert (code, "topped" in printed) == (0, False)
        assert "No requests in the last" in printed
        assert zoe("top", "--tenant", "acme", token=eves)[0] == 4
        assert "topped" in zoe("top", "--seconds", "60", "--tenant", "acme")[1]
        printed = zoe("top", "--seconds", "60", "--by", "key", "--by", "method", token=anns)[1]
        assert any(line.split()[:2] == ["acme:ann", "PUT"] for line in printed.splitlines()), printed
        for by in ("tenant,colour", "key,container"):
            refused = api.http(anns).get("/api/v1/storage/traffic", params={"by": by})
            assert refused.status_code == 422, refused.text


def test_a_tried_rule_is_told_the_requests_of_the_last_hour(whole: Whole, ann: Person) -> None:
    ann.put("touched")
    for number in range(3):
        ann.put(f"touched/{number}", BODY)
    assert ann.call("GET", "touched/1").content == BODY

    def tried(tenant: str, text: str) -> dict[str, Any]:
        asked = {"tenant": tenant, "container": "touched", "object": "1", "text": text}
        answer = httpx.post(f"{whole.url}/v1/rules/try", json=asked, headers={"X-Auth-Token": TOKEN}, timeout=30)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["last_hour"]
        return found

    rule = "FOR CONTAINER acme/touched DO SET COMPRESSION"
    found = until(lambda: (hour := tried("acme", rule))["gets"] == 1 and hour["puts"] == 4 and hour)
    assert (found["put_bytes"], found["get_bytes"], found["narrowed"]) == (3 * len(BODY), len(BODY), False)
    assert tried("acme", f"{rule} TO OBJECT_SIZE<10M")["narrowed"]
    assert tried("beta", rule)["puts"] == 0, "nothing of other tenants is shown"
    assert tried("acme", "FOR TENANT beta DO SET NOOP")["puts"] == 0


def test_broken_off_request_counts_as_failed(whole: Whole, ann: Person) -> None:
    ann.put("broken-off")  # test_requests_that_break_off.py fills one called "cut"
    ann.put("broken-off/large", b"x" * 8_000_000)
    address = httpx.URL(ann.account_url)
    head = f"Host: {address.host}\r\nX-Auth-Token: {ann.token}\r\n"
    for request, wanted in (
        (f"PUT {address.path}/broken-off/half HTTP/1.1\r\n{head}Content-Length: 100000\r\n\r\nhalf", 0),
        (f"GET {address.path}/broken-off/large HTTP/1.1\r\n{head}\r\n", 10_000),
    ):
        with socket.create_connection((str(address.host), address.port or 80)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(request.encode())
            got = 0
            while got < wanted:
                got += len(connection.recv(4096))
    failed = "zoe_object_store_requests_total failed"
    for method in ("PUT", "GET"):
        seen = partial(totals, whole, container="broken-off", method=method)
        until(lambda seen=seen: seen().get(failed) == 1, lambda method=method, seen=seen: f"{method}: {seen()}")
    assert totals(whole, container="broken-off", method="PUT")["zoe_object_store_requests_total refused"] == 0


def test_requests_whose_answers_nobody_reads_are_counted(whole: Whole, ann: Person) -> None:
    """Swift's own filters look at the head of some answers only: those of S3, and bulk deletes."""
    with s3_client(whole.store, "acme:ann") as s3:
        assert s3.call("PUT", "unread").status_code == 200
        assert s3.call("PUT", "unread/a", content=BODY).status_code == 200
        for _ in range(5):  # and one for each copy, which s3api asks for by itself
            assert s3.call("HEAD", "unread/a").status_code == 200
        for name in "bcd":
            copied = s3.call("PUT", f"unread/{name}", headers={"x-amz-copy-source": "/unread/a"})
            assert copied.status_code == 200, copied.text
    removed = ann.call("POST", "?bulk-delete", content=b"unread/b\nunread/c", headers={"Content-Type": "text/plain"})
    assert removed.status_code == 200, removed.text
    answered, written = "zoe_object_store_requests_total answered", "zoe_object_store_bytes_total write"
    for method, count in (("HEAD", 8), ("PUT", 5), ("DELETE", 2)):
        until(
            lambda method=method, count=count: totals(whole, container="unread", method=method).get(answered) == count,
            lambda: {
                entry: totals(whole, container="unread", method=entry) for entry in ("HEAD", "PUT", "DELETE", "GET")
            },
            15.0,
        )
    assert totals(whole, container="unread", method="PUT")[written] == 4 * len(BODY)
    assert totals(whole, container="unread", method="GET")["zoe_object_store_bytes_total read"] == 3 * len(BODY)
