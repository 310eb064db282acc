"""Bandwidth of the object store over time: who is told of whom, and how finely."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.people import ALL_SCOPES, make_token
from zoe_lib.domain.promises import Rates, TenantBandwidth

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


def test_what_was_not_measured_is_null(api: Api) -> None:
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


def test_what_is_no_span_is_refused(api: Api) -> None:
    for query in ({}, {"from_s": -1}, {"from_s": "nan"}, {"from_s": 1e300}):
        assert problem(api.http().get(PATH, params=query))["status"] == 422, query
