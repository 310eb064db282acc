"""Bandwidth of the object store over time: visibility by tenant, and resolution."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_api.storage.capacity import may_see
from zoe_client.wire import BandwidthView, ExecutionBandwidthView
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions.promises import Rates, StoreCapacity, TenantBandwidth
from zoe_lib.store.people import Principal

PATH = "/api/v1/storage/over-time"
MB = 10**6
RED = TenantBandwidth(Rates(10 * MB, 0), Rates(7 * MB, 2 * MB), Rates(3 * MB, 0))
BLUE = TenantBandwidth(Rates(), Rates(5 * MB, 0), Rates())


@pytest.fixture
def began_s(api: Api) -> float:
    """Ten minutes ago, from when on there was a look every ten seconds; blue came after five minutes."""
    began_s = time.time() // 60 * 60 - 600.0
    for number in range(60):
        api.store.add_bandwidth(began_s + 10 * number, {"red": RED, **({"blue": BLUE} if number >= 30 else {})})
    return began_s


def points(http: httpx.Client, **query: Any) -> list[dict[str, Any]]:
    answer = http.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["points"]
    return found


def operator(api: Api) -> httpx.Client:
    return api.http(make_token(api.store, "olga", role="operator", scopes=ALL_SCOPES))


def test_a_tenant_is_told_of_itself_alone(api: Api, began_s: float) -> None:
    found = points(api.http(), from_s=began_s)
    assert [point["at_s"] for point in found] == [began_s + 30 * number for number in range(20)]
    assert found[0] == {
        "at_s": began_s,
        "tenant": "red",
        "granted": {"read_bytes_per_s": 10 * MB, "write_bytes_per_s": 0},
        "achieved": {"read_bytes_per_s": 7 * MB, "write_bytes_per_s": 2 * MB},
        "missed": {"read_bytes_per_s": 3 * MB, "write_bytes_per_s": 0},
    }
    assert points(api.http(), from_s=began_s, tenant="red") == found
    refused = problem(api.http().get(PATH, params={"from_s": began_s, "tenant": "blue"}))
    assert refused["code"] == "role_missing"


def test_unmeasured_bandwidth_is_null(api: Api) -> None:
    began_s = time.time() // 60 * 60 - 600.0
    api.store.add_bandwidth(began_s, {"red": TenantBandwidth(Rates(10 * MB), None, None)}, measured=False)
    [point] = points(api.http(), from_s=began_s)
    assert (point["granted"]["read_bytes_per_s"], point["achieved"], point["missed"]) == (10 * MB, None, None)


def test_operators_are_told_of_all_and_of_one(api: Api, began_s: float) -> None:
    http = operator(api)
    assert {point["tenant"] for point in points(http, from_s=began_s)} == {"red", "blue"}
    blue = points(http, from_s=began_s, tenant="blue")
    assert {point["tenant"] for point in blue} == {"blue"}
    moved = [point["achieved"]["read_bytes_per_s"] for point in blue]
    assert moved == [0] * 10 + [5 * MB] * 10
    assert points(http, from_s=began_s, tenant="nobody") == []


def test_a_span_is_told_in_some_hundred_stretches_of_half_a_minute_at_least(api: Api, began_s: float) -> None:
    http = api.http()
    short = http.get(PATH, params={"from_s": began_s, "to_s": began_s + 60}).json()
    assert (short["stretch_s"], len(short["points"])) == (30.0, 2)
    assert (short["from_s"], short["to_s"]) == (began_s, began_s + 60)
    long = http.get(PATH, params={"from_s": began_s - 86400, "to_s": began_s + 600}).json()
    assert long["stretch_s"] == pytest.approx(87000 / 120)
    assert 1 <= len(long["points"]) <= 2
    assert all(point["achieved"]["read_bytes_per_s"] == 7 * MB for point in long["points"])
    assert points(http, from_s=began_s + 60, to_s=began_s) == []


def test_invalid_span_is_refused(api: Api) -> None:
    for query in ({}, {"from_s": -1}, {"from_s": "nan"}, {"from_s": 1e300}):
        assert problem(api.http().get(PATH, params=query))["status"] == 422, query


@pytest.fixture
def with_controller(postgres_url: str) -> Iterator[Api]:
    """An API that knows of a storage controller, which a master was told of 40 MB/s to read and 20 to write."""
    made = Api(postgres_url, storage_url="http://127.0.0.1:1")
    made.store.set_capabilities(BackendCapabilities(), StoreCapacity(40 * MB, 20 * MB), 1.0, None)
    yield made
    made.close()


def asking(guarantee: str, **rates: str) -> dict[str, Any]:
    return {"application": job(storage={"bandwidth": {**rates, "guarantee": guarantee}})}


@pytest.mark.parametrize("path", ["validate", "plan", "executions"])
def test_impossible_guarantee_is_refused_with_the_largest_possible(with_controller: Api, path: str) -> None:
    http, master = with_controller.http(), with_controller.start_master()
    until(lambda: master.master.latest)
    refused = http.post(f"/api/v1/{path}", json=asking("required", read="40.000001MB/s", write="20MB/s"))
    told = problem(refused)
    assert (refused.status_code, told["code"]) == (422, "never_fits")
    assert told["detail"] == (
        "It requires 40.000001MB/s to read, but the object store can guarantee only 40MB/s to read in total."
    )
    assert "at most 40MB/s to read and at most 20MB/s to write" in told["hint"]
    assert [error["pointer"] for error in told["errors"]] == ["/storage/bandwidth"]
    assert http.post(f"/api/v1/{path}", json=asking("required", read="40MB/s", write="20MB/s")).is_success


@pytest.mark.parametrize("path", ["validate", "executions"])
def test_excessive_preference_is_accepted_with_a_note(with_controller: Api, path: str) -> None:
    answer = with_controller.http().post(f"/api/v1/{path}", json=asking("preferred", write="30MB/s"))
    assert answer.is_success
    assert answer.json()["notes"] == [
        "it prefers 30MB/s to write, but the object store can guarantee only 20MB/s to write in total: it runs without "
        "a guarantee; "
        "ask for at most 20MB/s to write"
    ]


@pytest.mark.parametrize("guarantee", ["required", "preferred"])
@pytest.mark.parametrize("path", ["validate", "executions"])
def test_rates_beyond_the_proxies_are_noted(with_controller: Api, path: str, guarantee: str) -> None:
    capacity = StoreCapacity(60 * MB, 60 * MB, 40 * MB, 80 * MB)
    with_controller.store.set_capabilities(BackendCapabilities(), capacity, 2.0, None)
    verb = {"required": "requires", "preferred": "prefers"}[guarantee]

    def notes(**rates: str) -> list[str]:
        answer = with_controller.http().post(f"/api/v1/{path}", json=asking(guarantee, **rates))
        assert answer.is_success
        found: list[str] = answer.json()["notes"]
        return found

    several = "added up: only services that use several proxies get more"
    assert notes(read="20MB/s", write="20MB/s") == []
    assert notes(read="50MB/s") == [
        f"it {verb} 50MB/s to read, but one proxy of the object store moves 40MB/s, reads and writes {several}"
    ]
    [through_several] = notes(read="40MB/s", write="40MB/s")
    assert through_several.startswith(f"it {verb} 40MB/s to read and 40MB/s to write, but one proxy")
    assert notes(read="30MB/s", write="55MB/s") == [
        f"it {verb} 30MB/s to read and 55MB/s to write, but all proxies of the object store together move 80MB/s, "
        "reads and writes added up: it cannot always have both at the same time"
    ]


def test_of_a_direction_in_which_nothing_can_be_promised_nothing_is_to_be_asked(with_controller: Api) -> None:
    with_controller.store.set_capabilities(BackendCapabilities(), StoreCapacity(40 * MB, 0), 2.0, None)
    asked = asking("required", read="1MB/s", write="1MB/s")
    told = problem(with_controller.http().post("/api/v1/validate", json=asked))
    assert told["hint"].startswith("ask for at most 1MB/s to read and nothing to write, or")


def test_where_no_master_was_told_a_capacity_nothing_is_refused_for_it(postgres_url: str) -> None:
    made = Api(postgres_url, storage_url="http://127.0.0.1:1")
    try:
        assert made.http().post("/api/v1/executions", json=asking("required", read="900GB/s")).is_success
    finally:
        made.close()


def test_repeated_submission_is_accepted_on_a_smaller_store(with_controller: Api) -> None:
    http, key = with_controller.http(), {"Idempotency-Key": "once"}
    first = http.post("/api/v1/executions", json=asking("required", read="40MB/s"), headers=key)
    with_controller.store.set_capabilities(BackendCapabilities(), StoreCapacity(1, 1), 2.0, None)
    again = http.post("/api/v1/executions", json=asking("required", read="40MB/s"), headers=key)
    assert first.is_success
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        ({}, ["input meters is read plainly: this installation has no object-store service s3a"]),
        ({"storage_services": {"s3a": {"url": "http://s3"}}}, ["input meters is read plainly: only swift2d:// inputs"]),
        ({"storage_services": {"s3a": {"url": "http://s3", "swift_url": "http://s3/auth/v1.0"}}}, []),
    ],
)
def test_inputs_by_s3_are_said_to_be_read_plainly_unless_that_service_is_a_swift(
    postgres_url: str, settings: dict[str, Any], notes: list[str]
) -> None:
    made = Api(postgres_url, storage_url="http://127.0.0.1:1", **settings)
    try:
        inputs = [{"name": "meters", "uri": "s3a://meters/2015", "pushdown": {"columns": ["id"]}}]
        told = made.http().post("/api/v1/validate", json={"application": job(storage={"inputs": inputs})}).json()
        plainly = [entry for entry in told["notes"] if "plainly" in entry]
        assert len(plainly) == len(notes)
        assert all(entry.startswith(begin) for entry, begin in zip(plainly, notes, strict=True))
    finally:
        made.close()


def test_executions_are_listed_for_their_owners_and_operators() -> None:
    nothing = BandwidthView(read_bytes_per_s=0, write_bytes_per_s=0)
    one = ExecutionBandwidthView(execution_id="x1", tenant="red", user="ann", granted=nothing, achieved=nothing)
    clients = [("ann", "red", "user"), ("bob", "red", "user"), ("ann", "blue", "user"), ("olga", "blue", "operator")]
    assert [may_see(Principal.of_member(*client), one) for client in clients] == [True, False, False, True]
