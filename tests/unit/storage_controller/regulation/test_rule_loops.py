"""Rules as controllers: when each is switched, what a dry run tells, and crashes that stay where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_controller.database.supervision import BACK_OFF_S, BACK_OFF_S_MAX, Failure, Supervisor
from storage_controller.regulation import rule_loops
from storage_controller.regulation.rule_loops import RuleLoops, may_hold, operations_by_traffic
from storage_controller.rules.dsl import parse_rule
from storage_controller.traffic.traffic import Traffic
from storage_filters.counting.request_counters import FIELDS, LATENCY_CLASSES, request_name
from storage_filters.rules.chains import Outcome, chain_of
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.rules import Rule
from storage_filters.wsgi.object_requests import ObjectRequest
from tests.support.manual_clock import ManualClock


def rule(text: str, number: int = 7) -> Rule:
    return replace(parse_rule(text), id=number)


HOT = rule("FOR CONTAINER a/b WHEN my_metric > 5 AND OBJECT_SIZE<10M DO SET NOOP")


def test_a_switch_is_told_once_with_its_values() -> None:
    supervisor = Supervisor(ManualClock(100.0))
    loops = RuleLoops(supervisor, ManualClock(5.0))
    for value in (1.0, 2.0, 6.0, 7.0, 8.0, 3.0):
        loops.judge({7: {"MY_METRIC": value, "GETS_SEC": 1.0}}, [HOT], {})
    switches = loops.take()
    assert [(switch.active, switch.dry, switch.metrics) for switch in switches] == [
        (True, False, {"MY_METRIC": 6.0}),
        (False, False, {"MY_METRIC": 3.0}),
    ]
    assert loops.take() == []
    [state] = supervisor.states()
    assert (state.name, state.last, state.runs) == ("rule-7", "switched off: MY_METRIC is 3", 6)


def test_a_dry_run_is_judged_by_its_own_values_and_told_as_such() -> None:
    supervisor = Supervisor(ManualClock(100.0))
    loops = RuleLoops(supervisor, ManualClock(5.0))
    loops.judge({}, [HOT], {7: {"MY_METRIC": 6.0}})
    assert [(switch.active, switch.dry) for switch in loops.take()] == [(True, True)]
    assert supervisor.states()[0].last == "would have switched on: MY_METRIC is 6"
    assert (loops.active(), loops.values()) == ({"rule-7": True}, {7: {"MY_METRIC": 6.0}})
    loops.judge({}, [HOT], {7: {}})
    assert supervisor.states()[0].last == "would have switched off: its metric is not known"
    loops.judge({}, [], {})
    assert (loops.active(), supervisor.states()) == ({}, [])


@pytest.mark.parametrize(
    ("value", "on", "dry"),
    [
        (6.0, "switched on: MY_METRIC is 6", "would have switched on: MY_METRIC is 6"),
        (1.0, "off, since its dry run ended", "began a dry run: it would be off"),
    ],
)
def test_rule_set_on_after_a_dry_run_is_reported_as_on(value: float, on: str, dry: str) -> None:
    supervisor = Supervisor(ManualClock(100.0))
    loops = RuleLoops(supervisor, ManualClock(5.0))
    values = {7: {"MY_METRIC": value}}
    loops.judge({}, [HOT], {7: {"MY_METRIC": 6.0}})
    loops.judge({}, [HOT], values)
    loops.take()
    for held, tried, told in ((values, {}, on), ({}, values, dry)):
        for _ in range(2):
            loops.judge(held, [HOT], tried)
        assert supervisor.states()[0].last == told
        switched = [(switch.active, switch.dry) for switch in loops.take()]
        assert switched == ([(True, bool(tried))] if value > 5 else []), "once, and only if it is active"


def test_unstored_switches_wait_in_order_up_to_a_bound() -> None:
    loops = RuleLoops(Supervisor(ManualClock(100.0)), ManualClock(5.0))
    for number in range(1500):
        loops.judge({7: {"MY_METRIC": 6.0 if number % 2 else 1.0}}, [HOT], {})
    taken = loops.take()
    assert len(taken) == 1000
    loops.put_back(taken)
    assert loops.take() == taken


def test_one_that_crashes_holds_up_no_other_and_is_begun_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock(100.0)
    supervisor = Supervisor(clock)
    loops = RuleLoops(supervisor)
    other = rule("FOR TENANT a WHEN my_metric > 5 DO SET NOOP", 8)
    crashes = [True]

    def judged(condition: object, values: Mapping[str, float]) -> bool:
        if condition == HOT.condition and crashes:
            raise RuntimeError("a defect")
        return True

    monkeypatch.setattr(rule_loops, "may_hold", judged)
    for _ in range(3):
        loops.judge({}, [HOT, other], {})
    states = {state.name: state for state in supervisor.states()}
    assert (states["rule-7"].failures, states["rule-7"].waits_s, states["rule-8"].runs) == (1, BACK_OFF_S, 3)
    assert "a defect" in states["rule-7"].problem
    assert loops.active() == {"rule-8": True}
    clock.advance(BACK_OFF_S)
    loops.judge({}, [HOT, other], {})
    assert {state.name: state.waits_s for state in supervisor.states()}["rule-7"] == 2 * BACK_OFF_S
    crashes.clear()
    clock.advance(2 * BACK_OFF_S)
    loops.judge({}, [HOT, other], {})
    assert loops.active() == {"rule-7": True, "rule-8": True}
    state = supervisor.states()[0]
    assert (state.problem, state.failing, state.failures) == ("", 0, 2)


def test_the_wait_is_bounded() -> None:
    clock = ManualClock(100.0)
    supervisor = Supervisor(clock)
    for _ in range(50):
        with supervisor.run("metric-A"):
            raise Failure("x" * 1000)
    [state] = supervisor.states()
    assert (state.waits_s, len(state.problem)) == (BACK_OFF_S_MAX, 300)
    assert not supervisor.ready("metric-A")
    clock.advance(BACK_OFF_S_MAX)
    assert supervisor.ready("metric-A")


CONDITIONS = (
    "m > 5",
    "m > 5 AND OBJECT_SIZE<10",
    "m > 5 OR OBJECT_SIZE<10",
    "m > 5 AND (n < 2 OR OBJECT_TAG=x)",
    "m <= 5 AND n != 3",
)


@given(
    st.sampled_from(CONDITIONS),
    st.dictionaries(st.sampled_from(["M", "N"]), st.floats(0, 10)),
    st.integers(0, 20),
    st.frozensets(st.sampled_from(["x", "y"])),
)
def test_whatever_applies_to_an_object_may_hold(
    text: str, values: dict[str, float], size: int, tags: frozenset[str]
) -> None:
    """Against the decisions of proxies: a rule whose condition does not hold applies to no object."""
    one = rule(f"FOR TENANT a WHEN {text} DO SET NOOP")
    chain = chain_of(RuleBook((one,), metrics={7: values}), ObjectRequest("a", "c", "o", size, tags))
    assert one.condition is not None
    if any(verdict.outcome is Outcome.APPLIES for verdict in chain.verdicts):
        assert may_hold(one.condition, values)


def test_operations_of_a_dry_run_are_those_of_its_target() -> None:
    clock = ManualClock(0.0)
    traffic = Traffic(lambda account: account, clock)
    clock.advance(60)

    def numbers(answered: int) -> list[int]:
        return [1, answered, *[0] * (len(FIELDS) + LATENCY_CLASSES - 2)]

    counts = {("GET", "a", "b"): 50, ("PUT", "a", "c"): 10, ("GET", "z", "b"): 5, ("HEAD", "a", "b"): 9}
    traffic.hear("p", {request_name(*subject): numbers(count) for subject, count in counts.items()})
    groups = {"both": frozenset({"a/c", "z"})}
    wanted = {
        "TENANT a": (10.0, 2.0),
        "CONTAINER a/b": (10.0, 0.0),
        "CONTAINER a/c": (0.0, 2.0),
        "G both": (1.0, 2.0),
        "G none": (0.0, 0.0),
    }
    for target, (gets, puts) in wanted.items():
        found = operations_by_traffic(rule(f"FOR {target} WHEN GETS_SEC > 1 DO SET NOOP"), traffic, groups)
        assert found == {"GETS_SEC": gets, "PUTS_SEC": puts, "OPS_SEC": gets + puts}, target
    assert operations_by_traffic(rule("FOR OBJECT a/b/o WHEN GETS_SEC > 1 DO SET NOOP"), traffic, groups) == {}
