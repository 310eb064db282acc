"""Counters of requests: by method, account and container, shared, and never of invented names."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage_filters.counting.request_counters import (
    FIELDS,
    LATENCY_CLASSES,
    REQUESTS_A_REPORT,
    CountedRequest,
    RequestCounters,
    changed_counts,
    parts_of,
    request_name,
)

GET = request_name("GET", "AUTH_acme", "meters")


@pytest.fixture
def counters(tmp_path: Path) -> RequestCounters:
    return RequestCounters(tmp_path / "zoe-rates.requests")


def fields(counters: RequestCounters, name: str) -> dict[str, int]:
    return dict(zip(FIELDS, counters.counts()[name], strict=False))


def test_answers_refusals_failures_and_bytes_are_counted_apart(counters: RequestCounters) -> None:
    counters.count(GET, "200 OK", (1000, 0), 0.003)
    counters.count(GET, "304 Not Modified", (0, 0), 0.02)
    counters.count(GET, "404 Not Found", (0, 0), 0.0)
    counters.count(GET, "503 Service Unavailable", (0, 0), 3.0)
    counters.count(GET, "", (500, 7), 0.1)
    found = fields(counters, GET)
    assert [found[name] for name in FIELDS[1:6]] == [2, 1, 2, 1500, 7]
    assert found["latency_us"] == 3_123_000
    assert list(counters.counts()[GET][len(FIELDS) :]) == [2, 1, 1, 0, 0, 1]
    assert LATENCY_CLASSES == 6


def test_workers_share_them(counters: RequestCounters, tmp_path: Path) -> None:
    counters.count(GET, "200 OK", (1, 0), 0.0)
    RequestCounters(tmp_path / "zoe-rates.requests").count(GET, "200 OK", (2, 0), 0.0)
    assert fields(counters, GET)["read_bytes"] == 3


def test_a_refused_request_makes_no_counter(counters: RequestCounters) -> None:
    counters.count(request_name("GET", "AUTH_invented", "x"), "401 Unauthorized", (0, 0), 0.0)
    counters.count(request_name("GET", "AUTH_invented", "x"), "503 Busy", (0, 0), 0.0)
    assert counters.counts() == {}


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (("GET", "AUTH_acme", ""), ("GET", "AUTH_acme", "")),
        (("BREW", "AUTH_acme", "é"), ("other", "AUTH_acme", "é")),
        (("PUT", "AUTH_acme", "c" * 300), ("PUT", "AUTH_acme", "*")),
        (("PUT", "a" * 300, "c"), ("PUT", "*", "*")),
        (("PUT", "AUTH_acme", "\udcff"), ("PUT", "AUTH_acme", "?")),
    ],
)
def test_names_are_bounded(counters: RequestCounters, asked: tuple[str, str, str], kept: tuple[str, str, str]) -> None:
    counters.count(request_name(*asked), "200 OK", (0, 0), 0.0)
    assert [parts_of(name) for name in counters.counts()] == [kept]


def test_a_request_that_never_got_an_answer_failed(counters: RequestCounters) -> None:
    CountedRequest((counters, GET)).end()
    assert counters.counts() == {}  # it is unknown whether such an account exists
    answered = CountedRequest((counters, GET))
    answered.note_status("200 OK")
    answered.count_piece("get", 10)
    answered.count_piece("put", 4)
    answered.end()
    CountedRequest((counters, GET)).end()
    assert [fields(counters, GET)[name] for name in FIELDS[1:6]] == [1, 0, 1, 10, 4]


def test_a_request_is_counted_by_each_of_its_counters_and_later_by_others(tmp_path: Path) -> None:
    first, second = RequestCounters(tmp_path / "first"), RequestCounters(tmp_path / "second")
    request = CountedRequest((first, GET), (second, "GET/AUTH_acme/ann"))
    request.note_status("200 OK")
    request.end()
    assert [list(counters.counts()) for counters in (first, second)] == [[GET], ["GET/AUTH_acme/ann"]]
    refused = CountedRequest((first, GET), (second, "GET/AUTH_acme/bob"))
    refused.count_by((first, "GET/AUTH_beta/"))
    refused.note_status("403 Forbidden")
    refused.end()
    assert sorted(first.counts()) == sorted([GET, "GET/AUTH_beta/"])
    assert list(second.counts()) == ["GET/AUTH_acme/ann"]
    for counters in (first, second):
        counters.close()


def test_reports_are_bounded_and_each_counter_has_its_turn() -> None:
    now = {str(number): (1, 1) for number in range(3 * REQUESTS_A_REPORT)}
    told: dict[str, tuple[int, ...]] = {}
    seen: set[str] = set()
    for turn in range(4):
        report = changed_counts(told, now)
        assert len(report) == (REQUESTS_A_REPORT if turn < 3 else 0)
        seen |= set(report)
    assert seen == set(now)
    # All change all the time: each is reported within three turns.
    seen.clear()
    for turn in range(3):
        now = dict.fromkeys(now, (1, 2 + turn))
        seen |= set(changed_counts(told, now))
    assert seen == set(now)
    assert changed_counts(told, {}) == {}
    assert told == {}
