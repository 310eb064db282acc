"""Counters of executions' requests to the store, and of the rules applied to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage_filters.counting.request_counters import CountedRequest, RequestCounters
from storage_filters.counting.use_counters import FURTHER, UseCounters, parts_of_use
from storage_filters.execution_auth.names import ExecutionUser

ANN = ExecutionUser("acme", "x1", 7)


@pytest.fixture
def counters(tmp_path: Path) -> UseCounters:
    return UseCounters(tmp_path / "zoe-rates.uses")


def amounts(counters: UseCounters) -> dict[tuple[str, int, str], tuple[int, ...]]:
    return {parts_of_use(name): numbers[1:] for name, numbers in counters.counts().items()}


def test_requests_are_counted_by_method_and_container_and_rules_by_way(counters: UseCounters) -> None:
    counters.request(ANN, "GET", "meters", True, (100, 0), False)
    counters.request(ANN, "GET", "meters", False, (20, 0), True)
    counters.request(ANN, "PUT", "out", True, (0, 5), True)
    counters.rules(ANN, [(3, "COMPRESSION"), (4, "ENCRYPTION")], "put")
    counters.rules(ANN, [(3, "COMPRESSION")], "get")
    counters.add_cpu_time(ANN, "PUT", "out", 1500)
    counters.add_cpu_time(ANN, "PUT", "out", 20)
    assert amounts(counters) == {
        ("x1", 7, "request/GET/meters"): (1, 1, 120, 0),
        ("x1", 7, "request/PUT/out"): (1, 0, 0, 5),
        ("x1", 7, "cpu/PUT/out"): (1520, 0, 0, 0),
        ("x1", 7, "limit/get"): (0, 1, 20, 0),
        ("x1", 7, "limit/put"): (1, 0, 0, 5),
        ("x1", 7, "rule/3/COMPRESSION/put"): (1, 0, 0, 0),
        ("x1", 7, "rule/4/ENCRYPTION/put"): (1, 0, 0, 0),
        ("x1", 7, "rule/3/COMPRESSION/get"): (1, 0, 0, 0),
    }


def test_a_name_that_is_too_long_is_counted_among_others(counters: UseCounters) -> None:
    for letter in "ab":
        counters.request(ANN, "GET", 250 * letter, True, (1, 0), False)
    assert amounts(counters) == {("x1", 7, f"request/GET/{FURTHER}"): (2, 0, 2, 0)}


def test_a_request_that_no_counter_of_its_owner_has_counts_for_the_execution(
    counters: UseCounters, tmp_path: Path
) -> None:
    request = CountedRequest(
        (RequestCounters(tmp_path / "requests"), "GET/AUTH_beta/c"),
        also=lambda served, moved: counters.request(ANN, "GET", "c", served, moved, False),
    )
    request.note_status("403 Forbidden")
    request.count_by()
    request.end()
    assert amounts(counters) == {("x1", 7, "request/GET/c"): (0, 1, 0, 0)}
