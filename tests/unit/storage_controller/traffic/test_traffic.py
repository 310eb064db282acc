"""Requests at the proxies: totals and rates from counters that never fall, whatever is lost, late or begun anew."""

from __future__ import annotations

import random

import pytest

from storage_controller.traffic import traffic as traffic_module
from storage_controller.traffic.collectors import TrafficCollector
from storage_controller.traffic.traffic import COUNTERS_MAX, DIMENSIONS, NO_REQUESTS, Subject, Traffic, group_by
from storage_filters.counting.request_counters import LATENCY_CLASSES, request_name
from tests.support.manual_clock import ManualClock

BEGAN_S = 100.0
BEGAN_NS = int(BEGAN_S * 1e9)
GET = request_name("GET", "AUTH_acme", "meters")
SUBJECT = Subject("acme", "meters", "GET", "p1")


def numbers(born: int, answered: int, read: int = 0) -> list[int]:
    return [born, answered, 0, 0, read, 0, answered * 1000, answered, *[0] * (LATENCY_CLASSES - 1)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(BEGAN_S)


@pytest.fixture
def traffic(clock: ManualClock) -> Traffic:
    return Traffic(lambda account: account.removeprefix("AUTH_"), clock)


def test_requests_counted_earlier_are_in_the_totals_only(traffic: Traffic, clock: ManualClock) -> None:
    traffic.hear("p1", {GET: numbers(BEGAN_NS - 1, 50, 5000)})
    assert traffic.recent(10)[1] == {}
    clock.advance(1)
    traffic.hear("p1", {GET: numbers(BEGAN_NS - 1, 53, 5600)})
    assert traffic.totals()[SUBJECT].answered == 53
    _, recent = traffic.recent(10)
    assert (recent[SUBJECT].answered, recent[SUBJECT].read_bytes) == (3, 600)


def test_a_counter_that_begins_anew_counts_from_nothing(traffic: Traffic, clock: ManualClock) -> None:
    clock.advance(1)
    traffic.hear("p1", {GET: numbers(BEGAN_NS + 1, 50)})
    clock.advance(5)
    traffic.hear("p1", {GET: numbers(BEGAN_NS + 9, 2)})
    assert traffic.recent(60)[1][SUBJECT].answered == 52
    assert traffic.totals()[SUBJECT].answered == 2  # Prometheus knows counters that begin anew


def test_an_older_report_that_comes_late_takes_nothing_away(traffic: Traffic) -> None:
    traffic.hear("p1", {GET: numbers(BEGAN_NS, 50)})
    traffic.hear("p1", {GET: numbers(BEGAN_NS, 40)})
    traffic.hear("p1", {GET: numbers(BEGAN_NS, 41)})
    assert traffic.recent(60)[1][SUBJECT].answered == 51


@pytest.mark.parametrize(
    "report",
    [
        {GET: [1, 2, 3]},
        {GET: numbers(-1, 5)},
        {"GET": numbers(1, 5)},
        {GET: ["x"] * 13},
        {GET: None},
        {"a/b/c/d": numbers(1, 5)},
    ],
)
def test_nonsense_is_refused_and_changes_nothing(traffic: Traffic, report: dict[str, list[int]]) -> None:
    with pytest.raises((ValueError, TypeError)):
        traffic.hear("p1", {GET: numbers(BEGAN_NS, 5), **report})
    assert traffic.totals() == {}


@pytest.mark.parametrize("seed", range(20))
def test_rates_are_those_of_what_was_reported_within_the_time(traffic: Traffic, clock: ManualClock, seed: int) -> None:
    """Against a list of all reports: counters that grow, lost reports, windows of any length."""
    draw = random.Random(seed)
    counted, told, reports = [0, 0], [0, 0], []
    for _ in range(300):
        clock.advance(draw.choice((0.0, 0.25, 0.25, 1.0, 7.0)))
        which = draw.randrange(2)
        counted[which] += draw.randrange(5)
        if draw.random() < 0.3:
            continue  # lost
        traffic.hear("p1", {request_name("GET", "AUTH_acme", str(which)): numbers(BEGAN_NS, counted[which])})
        reports.append((clock.now_s(), counted[which] - told[which]))
        told[which] = counted[which]
    seconds = draw.uniform(1, 60)
    covered_s, recent = traffic.recent(seconds)
    assert covered_s == seconds
    total = sum((requests.answered for requests in recent.values()), 0)
    # A span has the time of its first report, so the window begins up to a span later or earlier.
    most = sum(amount for at_s, amount in reports if at_s > clock.now_s() - seconds)
    least = sum(amount for at_s, amount in reports if at_s > clock.now_s() - seconds + 1.0)
    assert least <= total <= most
    assert sum(total.answered for total in traffic.totals().values()) == sum(told)


def test_a_flood_of_containers_is_bounded_and_the_rest_is_added_up(traffic: Traffic) -> None:
    for first in range(0, COUNTERS_MAX + 2000, 400):
        traffic.hear(
            "p1",
            {request_name("PUT", "AUTH_acme", f"c{first + k}"): numbers(BEGAN_NS, 1, first + k) for k in range(400)},
        )
    assert len(traffic.totals()) == COUNTERS_MAX
    families = {metric.name: metric for metric in TrafficCollector(traffic).collect()}
    requests = families["zoe_object_store_requests"].samples
    assert len(requests) <= 3 * 2001
    answered = {s.labels["container"]: s.value for s in requests if s.labels["result"] == "answered"}
    assert sum(answered.values()) == COUNTERS_MAX
    assert answered["*"] == COUNTERS_MAX - 2000
    [*_, last] = [s for s in families["zoe_object_store_latency_seconds"].samples if s.name.endswith("_bucket")]
    assert (last.labels["le"], last.value) == ("+Inf", COUNTERS_MAX)


def test_cpu_time_grows_beside_the_requests_it_was_taken_for(traffic: Traffic, clock: ManualClock) -> None:
    clock.advance(5)
    traffic.hear("p1", {GET: numbers(BEGAN_NS + 5, 2, 600)}, {GET: [BEGAN_NS + 9, 1_500_000, 250_000]})
    clock.advance(2)
    traffic.hear("p1", {}, {GET: [BEGAN_NS + 9, 4_000_000, 250_000]})
    traffic.hear("p1", {GET: numbers(BEGAN_NS + 5, 3, 900)})
    for total in (traffic.totals()[SUBJECT], traffic.recent(10)[1][SUBJECT]):
        assert (total.answered, total.read_bytes, total.cpu_us, total.waited_us) == (3, 900, 4_000_000, 250_000)
    assert traffic.recent(1)[1][SUBJECT].cpu_us == 2_500_000
    families = {metric.name: metric for metric in TrafficCollector(traffic).collect()}
    [cpu] = families["zoe_object_store_cpu_seconds"].samples
    [waited] = families["zoe_object_store_cpu_wait_seconds"].samples
    assert (cpu.labels["tenant"], cpu.value, waited.value) == ("acme", 4.0, 0.25)
    for wrong in ([1, 2], [1, -2, 0], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="counter"):
            traffic.hear("p1", {}, {GET: wrong})


def test_sums_by_each_dimension(traffic: Traffic) -> None:
    for proxy in ("p1", "p2"):
        for method in ("GET", "PUT"):
            for tenant in ("acme", "beta"):
                traffic.hear(proxy, {request_name(method, f"AUTH_{tenant}", "c"): numbers(BEGAN_NS, 1)})
    everything = group_by(traffic.totals(), ())
    assert everything[()].answered == 8
    for dimension, groups in zip(DIMENSIONS, (2, 1, 2, 2), strict=True):
        found = group_by(traffic.totals(), (dimension,))
        assert [requests.answered for requests in found.values()] == [8 // groups] * groups
    assert group_by({}, DIMENSIONS) == {}
    assert NO_REQUESTS.count == 0


def test_containers_of_one_tenant_take_no_rate_of_another(
    traffic: Traffic, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a user who uses more containers than there are places for counters."""
    monkeypatch.setattr(traffic_module, "COUNTERS_MAX", 500)
    for second in range(30):
        clock.advance(1)
        many = {request_name("PUT", "AUTH_evil", f"c{second}-{n}"): numbers(BEGAN_NS, 1, 1) for n in range(40)}
        traffic.hear("p1", {GET: numbers(BEGAN_NS, 10 * (second + 1), 1000 * (second + 1)), **many})
    assert len(traffic.totals()) == 500
    assert traffic.totals()[SUBJECT].answered == 300
    covered_s, recent = traffic.recent(10)
    assert recent[SUBJECT].read_bytes / covered_s == pytest.approx(1000, rel=0.15)
