"""Compressibility of stored bodies, from the samples of proxies."""

from __future__ import annotations

import pytest

from storage_controller.rules.dsl import parse_rule
from storage_controller.traffic import contents as contents_module
from storage_controller.traffic.collectors import ContentsCollector
from storage_controller.traffic.contents import MINUTE_S, Contents, SampledBytes
from tests.support.manual_clock import ManualClock

LOGS, PICTURES = "PUT/AUTH_acme/logs", "PUT/AUTH_acme/pictures"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(0.0)


@pytest.fixture
def contents(clock: ManualClock) -> Contents:
    return Contents(lambda account: account.removeprefix("AUTH_"), clock)


def value(contents: Contents, target: str, groups: dict[str, frozenset[str]] | None = None) -> float | None:
    rule = parse_rule(f"FOR {target} WHEN COMPRESSIBILITY > 20 DO SET COMPRESSION")
    return contents.values(rule, groups or {}).get("COMPRESSIBILITY")


def test_places_have_what_was_sampled_in_them_at_all_proxies(contents: Contents) -> None:
    assert value(contents, "CONTAINER acme/logs") is None
    contents.hear("p1", {LOGS: (1, 1000, 100), PICTURES: (1, 1000, 1000)})
    contents.hear("p2", {LOGS: (5, 1000, 300)})
    assert value(contents, "CONTAINER acme/logs") == 80.0
    assert value(contents, "CONTAINER acme/pictures") == 0.0
    assert value(contents, "TENANT acme") == pytest.approx(100 * (1 - 1400 / 3000), abs=0.05)
    assert value(contents, "G shared", {"shared": frozenset({"acme/logs", "beta"})}) == 80.0
    assert value(contents, "TENANT beta") is None
    assert contents.values(parse_rule("FOR TENANT acme WHEN GETS_SEC > 1 DO SET NOOP"), {}) == {}
    assert contents.totals()["acme", "logs"] == SampledBytes(2000, 400)


def test_a_value_follows_what_is_stored_now_and_stays_while_nothing_is(contents: Contents, clock: ManualClock) -> None:
    contents.hear("p1", {LOGS: (1, 1_000_000, 100_000)})
    assert value(contents, "CONTAINER acme/logs") == 90.0
    clock.advance(100 * MINUTE_S)
    assert value(contents, "CONTAINER acme/logs") == 90.0
    for minute in (1, 2):
        contents.hear("p1", {LOGS: (1, 1_000_000 + minute * 1000, 100_000 + minute * 1000)})
        clock.advance(MINUTE_S + 1)
        contents.hear("p1", {LOGS: (1, 1_000_500 + minute * 1000, 100_500 + minute * 1000)})
    assert value(contents, "CONTAINER acme/logs") == 0.0


def test_reports_may_be_lost_repeated_or_begin_anew(contents: Contents) -> None:
    contents.hear("p1", {LOGS: (1, 1000, 100)})
    contents.hear("p1", {LOGS: (1, 1000, 100)})
    contents.hear("p1", {LOGS: (1, 3000, 300)})
    assert contents.totals()["acme", "logs"] == SampledBytes(3000, 300)
    contents.hear("p1", {LOGS: (1, 1000, 100)})  # an older one, by another way
    assert value(contents, "CONTAINER acme/logs") == 90.0
    contents.hear("p1", {LOGS: (2, 1000, 1000)})  # after the machine was started again
    assert contents.totals()["acme", "logs"] == SampledBytes(1000, 1000)


@pytest.mark.parametrize("numbers", [(1, 2), (1, 2, 3, 4), (1, -2, 3), ("x", 1, 1), None])
def test_invalid_report_is_refused_as_a_whole(contents: Contents, numbers: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        contents.hear("p1", {PICTURES: (1, 5000, 1), LOGS: numbers})  # type: ignore[dict-item]
    assert contents.totals() == {}


def test_places_are_bounded(contents: Contents, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents_module, "PLACES_MAX", 3)
    for number in range(10):
        contents.hear("p1", {f"PUT/AUTH_acme/c{number}": (1, 2000, 1000)})
    assert sorted(contents.totals()) == [("acme", "c7"), ("acme", "c8"), ("acme", "c9")]
    assert value(contents, "CONTAINER acme/c1") is None


def test_prometheus_is_told_of_both_amounts(contents: Contents) -> None:
    contents.hear("p1", {LOGS: (1, 2000, 100)})
    told = {
        metric.name: [(s.labels, s.value) for s in metric.samples] for metric in ContentsCollector(contents).collect()
    }
    labels = {"tenant": "acme", "container": "logs"}
    assert told == {
        "zoe_object_store_content_sampled_bytes": [(labels, 2000)],
        "zoe_object_store_content_compressed_bytes": [(labels, 100)],
    }
