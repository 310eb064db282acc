"""Evaluations of added metrics: at an interval, each by itself, with values that age."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.metrics import prometheus
from storage_controller.metrics.metric_store import KeptMetric, MetricSource
from storage_controller.metrics.own_metrics import OwnMetrics
from storage_controller.metrics.values import MetricFault, Series
from storage_controller.rules.dsl import parse_rule
from storage_controller.traffic.traffic import Traffic
from tests.support.manual_clock import ManualClock
from tests.support.prometheus import Expressions
from tests.support.prometheus import prometheus as served
from tests.support.waiting import until

RULE = parse_rule("FOR TENANT acme WHEN load > 5 AND GETS_SEC > 1 DO SET NOOP")
LOAD = KeptMetric(1, "LOAD", MetricSource.PROMETHEUS, "up", {}, Mode.ON, None, 0.0)


@dataclass
class Kept:
    rows: list[KeptMetric] = field(default_factory=list)

    def metrics(self) -> list[KeptMetric]:
        return self.rows


@dataclass
class Site:
    kept: Kept
    metrics: OwnMetrics
    supervisor: Supervisor
    clock: ManualClock
    answers: dict[str, object]
    asked: list[str]

    def look(self) -> None:
        self.metrics.look()
        until(lambda: not any(loop.busy for loop in self.metrics._loops.values()))

    def value(self) -> float | None:
        return self.metrics.values_for(RULE, {}).get("LOAD")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    clock, answers, asked = ManualClock(100.0), {"up": 7.0}, []
    kept, supervisor = Kept([LOAD]), Supervisor(clock)

    def ask(url: str | None, expression: str, *_: object) -> Series:
        asked.append(expression)
        answer = answers[expression]
        if isinstance(answer, Exception):
            raise answer
        return {("acme", ""): answer}

    monkeypatch.setattr(prometheus, "ask", ask)
    made = OwnMetrics(kept, supervisor, Traffic(str), "http://p", 5.0, clock=clock)
    made.begin()
    made._closing.set()  # the test looks itself
    made._thread.join()
    yield Site(kept, made, supervisor, clock, answers, asked)
    made.close()


def test_a_value_is_taken_at_the_interval_and_ages(site: Site) -> None:
    site.look()
    assert site.value() == 7.0
    site.clock.advance(4.9)
    site.look()
    assert len(site.asked) == 1
    site.answers["up"] = 8.0
    site.clock.advance(0.2)
    site.look()
    assert (site.value(), len(site.asked)) == (8.0, 2)
    site.answers["up"] = MetricFault("away")
    for _ in range(3):
        site.clock.advance(5.0)
        site.look()
    assert site.value() == 8.0
    site.clock.advance(0.1)
    assert site.value() is None
    assert site.supervisor.states()[0].problem == "away"


def test_modes_and_removal(site: Site) -> None:
    site.look()
    site.kept.rows = [replace(LOAD, mode=Mode.DRY)]
    site.look()
    assert (site.value(), site.metrics.readings()["LOAD"].series) == (None, {("acme", ""): 7.0})
    site.kept.rows = [replace(LOAD, mode=Mode.OFF)]
    site.look()
    assert (dict(site.metrics.readings()), site.supervisor.states()) == ({}, [])
    site.kept.rows = [LOAD]
    site.look()
    assert site.value() == 7.0
    site.kept.rows = []
    site.look()
    assert site.value() is None


def test_a_failure_delays_and_a_defect_ends_nothing(site: Site) -> None:
    site.answers["up"] = RuntimeError("a defect")
    site.look()
    for _ in range(5):  # it waits for a second, then for two, and longer than the interval in the end
        site.clock.advance(5.0)
        site.look()
    assert len(site.asked) < 6
    assert "a defect" in site.supervisor.states()[0].problem
    site.answers["up"] = 9.0
    site.clock.advance(60)
    site.look()
    assert site.value() == 9.0


def test_one_that_hangs_holds_up_no_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def ask(url: str | None, expression: str, *_: object) -> Series:
        if expression == "slow":
            assert go_on.wait(60)
        return {("", ""): 1.0}

    monkeypatch.setattr(prometheus, "ask", ask)
    site.kept.rows = [replace(LOAD, id=2, name="SLOW", text="slow"), LOAD]
    site.metrics.look()
    until(lambda: site.value() == 1.0)
    for _ in range(3):
        site.clock.advance(5.0)
        site.metrics.look()
    assert [loop.busy for name, loop in site.metrics._loops.items() if name == "SLOW"] == [True]
    go_on.set()
    until(lambda: "SLOW" in site.metrics.readings())


def test_an_answer_is_bounded_in_time_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as expressions:
        asked(expressions, {("a", "b"): 1.0})
        assert prometheus.ask(expressions.url, "up", "tenant", "container") == {("a", "b"): 1.0}
        monkeypatch.setattr(prometheus, "_ANSWER_BYTES_MAX", 10)
        with pytest.raises(MetricFault, match="exceeds 10 bytes"):
            prometheus.ask(expressions.url, "up", "tenant", "container")
        expressions.slow_s = 1.0
        with pytest.raises(MetricFault, match=r"did not answer within 0\.2 s"):
            prometheus.ask(expressions.url, "up", "tenant", "container", 0.2)
    with pytest.raises(MetricFault, match="cannot query Prometheus"):
        prometheus.ask(expressions.url, "up", "tenant", "container")
    with pytest.raises(MetricFault, match="no Prometheus is configured"):
        prometheus.ask(None, "up", "tenant", "container")


def asked(expressions: Expressions, values: dict[tuple[str, str], float]) -> None:
    expressions.answers["up"] = values
