"""Requests of the last hour that rules would have been for: against a list of all, and bounded."""

from __future__ import annotations

import random

import pytest

from storage_controller.rules.dsl import parse_rule
from storage_controller.traffic.last_hour import HOUR_S, SPAN_S, SUBJECTS_MAX, HourOfRequests, LastHour
from tests.support.manual_clock import ManualClock

GROUPS = {"team": frozenset({"acme/logs", "beta"})}


@pytest.mark.parametrize(
    ("text", "matches", "narrowed"),
    [
        ("FOR TENANT acme DO SET NOOP", lambda tenant, container: tenant == "acme", False),
        ("FOR CONTAINER acme/logs DO SET NOOP", lambda tenant, container: container == "logs", False),
        ("FOR OBJECT acme/logs/one DO SET NOOP", lambda tenant, container: container == "logs", True),
        ("FOR G team DO SET NOOP", lambda tenant, container: container == "logs", False),
        ("FOR TENANT acme WHEN OBJECT_SIZE<10M DO SET NOOP", lambda tenant, container: tenant == "acme", True),
        ("FOR TENANT acme DO SET NOOP TO OBJECT_SIZE<10M", lambda tenant, container: tenant == "acme", True),
        ("FOR TENANT beta DO SET NOOP", lambda tenant, container: False, False),
    ],
)
def test_they_are_those_of_a_list_of_all_requests_of_the_own_tenant(text: str, matches: object, narrowed: bool) -> None:
    assert callable(matches)
    drawn, clock = random.Random(text), ManualClock(50.0)
    hour, everything = LastHour(clock), []
    for _ in range(3000):
        clock.advance(drawn.uniform(0, 3))
        tenant, container = drawn.choice([("acme", "logs"), ("acme", "docs"), ("beta", "logs"), ("beta", "x")])
        method, moved = drawn.choice(["PUT", "GET", "HEAD"]), drawn.randrange(1000)
        hour.add(tenant, container, method, 1, moved)
        everything.append((clock.now_s(), tenant, container, method, moved))
    found = hour.under([parse_rule(text)], GROUPS, "acme")
    first_s = min((at for at, *_ in everything if clock.now_s() - at < HOUR_S - SPAN_S))
    mine = [item for item in everything if item[1] == "acme" and matches(item[1], item[2])]
    for method, count in (("PUT", found.puts), ("GET", found.gets)):
        whole = [item for item in mine if item[3] == method and clock.now_s() - item[0] < HOUR_S]
        surely = [item for item in whole if item[0] >= first_s]
        assert len(surely) <= count <= len(whole)
    assert (found.narrowed, found.seconds) == (narrowed, HOUR_S)


def test_of_a_short_time_it_says_so_and_counts_all() -> None:
    clock = ManualClock(50.0)
    hour = LastHour(clock)
    hour.add("acme", "logs", "PUT", 2, 30)
    hour.add("acme", "logs", "PUT", 1, 12)
    hour.add("acme", "logs", "GET", 5, 500)
    clock.advance(90)
    rules = [parse_rule("FOR CONTAINER acme/logs DO SET NOOP"), parse_rule("FOR TENANT acme DO SET NOOP")]
    assert hour.under(rules, {}, "acme") == HourOfRequests(90.0, 3, 42, 5, 500, narrowed=False)
    clock.advance(HOUR_S)
    assert hour.under(rules, {}, "acme") == HourOfRequests(HOUR_S, 0, 0, 0, 0, narrowed=False)


def test_a_flood_of_containers_is_counted_for_its_tenant() -> None:
    hour = LastHour(ManualClock(0.0))
    for number in range(10 * SUBJECTS_MAX):
        hour.add("acme", f"c{number}", "PUT", 1, 1)
    found = hour.under([parse_rule("FOR TENANT acme DO SET NOOP")], {}, "acme")
    assert (found.puts, found.put_bytes) == (10 * SUBJECTS_MAX, 10 * SUBJECTS_MAX)
    assert len(hour._spans[0][1]) == SUBJECTS_MAX + 1
