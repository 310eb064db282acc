"""Causes of missed deadlines, from measured times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.applications import application, component, execution
from tests.support.histories import history
from zoe_client.vocabulary import Cause, DeadlineCause, DeadlineStatus, ExecutionState, Mark, OfferKind, Outcome
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.deadline_misses import cause_of, expected_end_s, miss_of, status_of
from zoe_lib.domain.executions.execution import Execution, Service, ServiceState
from zoe_lib.domain.lifecycle.consequences import due_at_s, missed_deadline, settle
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.domain.values.deadlines import EarlierAttempts
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, PromiseOffers, PromiseWish
from zoe_lib.domain.values.forecast import Forecast

D = DeadlineCause
JOB = application(component("job", ends_application=True, readiness=None), expected_run_s=100.0)


def job(deadline_s: float | None = 201.0, **changes: object) -> Execution:
    """Submitted at 1 s; 100 s are to spare unless said otherwise."""
    return execution(**{"application": JOB, "deadline_s": deadline_s, **changes})


def after(one: Execution, *events: ev.Event) -> Execution:
    for event in (ev.Submitted(at_s=1.0), *events):
        one = apply(one, event)
    return one


def queued(at_s: float = 1.0) -> ev.Event:
    return ev.Queued(at_s=at_s)


def planned(one: Execution, at_s: float) -> ev.Event:
    newest = max(s.attempt for s in one.services)
    placements = tuple(ev.Placement(service_id=s.id, node="n") for s in one.services if s.attempt == newest)
    return ev.StartPlanned(at_s=at_s, placements=placements)


def running(one: Execution, placed_at_s: float) -> Execution:
    one = apply(one, planned(one, placed_at_s))
    service = one.current()[0]
    for kind in (ev.ServiceStarting, ev.ServiceStarted, ev.ServiceReady):
        one = apply(one, kind(at_s=placed_at_s, service_id=service.id))
    return apply(one, ev.Running(at_s=placed_at_s))


def again(one: Execution, at_s: float, cause: Cause) -> Execution:
    """The attempt ends at that time, and another one waits."""
    ended = ev.ServiceEnded(at_s=at_s, service_id=one.current()[0].id, cause=cause, exit_code=1)
    stopping = ev.Stopping(at_s=at_s, outcome=Outcome.FAILED, cause=cause)
    for event in (ended, stopping, ev.Requeued(at_s=at_s)):
        one = apply(one, event)
    return one


def test_it_waited_in_the_queue() -> None:
    miss = miss_of(running(after(job(), queued()), 131.0), 201.0)
    assert (miss.cause, miss.costs_s, miss.expected_s) == (D.QUEUE, {D.QUEUE: 130.0}, 100.0)
    assert miss_of(after(job(), queued()), 201.0).costs_s == {D.QUEUE: 200.0}, "it still waits"


def test_there_was_less_time_than_it_takes() -> None:
    assert miss_of(running(after(job(31.0), queued()), 11.0), 31.0).cause is D.TOO_SHORT


def test_it_ran_for_longer_than_expected() -> None:
    miss = miss_of(running(after(job(), queued()), 11.0), 201.0)
    assert (miss.cause, miss.costs_s) == (D.SLOWER, {D.QUEUE: 10.0, D.SLOWER: 90.0})


def test_its_input_was_late() -> None:
    miss = miss_of(running(after(job(), queued(150.0)), 151.0), 201.0)
    assert (miss.cause, miss.costs_s) == (D.INPUT_LATE, {D.INPUT_LATE: 149.0, D.QUEUE: 1.0})
    held = after(job(), queued(), ev.Held(at_s=21.0, by="user"), ev.Released(at_s=171.0), queued(171.0))  # type: ignore[arg-type]
    assert miss_of(held, 201.0).costs_s == {D.INPUT_LATE: 150.0, D.QUEUE: 50.0}, "a hold, and both waits"


@pytest.mark.parametrize(
    ("cause", "wanted"),
    [(Cause.NODE_LOST, D.NODES_LOST), (Cause.CORE_ENDED, D.ATTEMPTS_FAILED), (Cause.STORAGE_UNAVAILABLE, D.STORE)],
)
def test_attempts_that_came_to_nothing(cause: Cause, wanted: D) -> None:
    one = again(running(after(job(), queued()), 11.0), 121.0, cause)
    assert one.earlier.queued_s == 10.0
    miss = miss_of(running(one, 126.0), 201.0)
    assert (miss.cause, miss.costs_s) == (wanted, {wanted: 110.0, D.QUEUE: 15.0})


def test_its_bandwidth_was_taken_back() -> None:
    one = running(after(job(), queued()), 2.0)
    for event in (ev.StorageGranted(at_s=2.0), ev.StorageWithdrawn(at_s=62.0, why="the store shrank")):
        one = apply(one, event)
    assert miss_of(one, 201.0).costs_s == {D.STORE: 139.0, D.QUEUE: 1.0}
    assert miss_of(one, 201.0).cause is D.STORE


def test_without_a_run_time_it_says_so() -> None:
    unknown = replace(JOB, expected_run_s=None)
    ran = running(after(job(application=unknown), queued()), 11.0)
    assert miss_of(ran, 201.0).cause is D.RUN_TIME_UNKNOWN
    waited = running(after(job(application=unknown), queued()), 191.0)
    assert miss_of(waited, 201.0).cause is D.QUEUE
    limited = replace(unknown, time_limit_s=50.0)
    assert miss_of(running(after(job(application=limited), queued()), 191.0), 201.0).expected_s is None


def test_an_index_that_was_begun_after_the_deadline_says_so_without_an_event() -> None:
    """The array has one event for all of them."""
    late = replace(after(job(0.5, id=f"a{1:014}_7")), state=ExecutionState.SUBMITTED)
    assert late.missed is not None
    assert (late.missed.cause, late.missed.costs_s, late.missed.deadline_s) == (D.NOT_BEGUN, {}, 0.5)
    assert status_of(late, 2.0) is DeadlineStatus.MISSED
    assert missed_deadline(late, 2.0, Policy(), "") is None
    in_time = after(job(201.0, id=f"a{1:014}_7"))
    assert in_time.missed is None
    assert missed_deadline(in_time, 201.0, Policy(), "") is not None
    assert after(job(0.5)).missed is None, "an execution without an array has an event of its own"


LOSSES = st.dictionaries(st.sampled_from(list(D)[2:-1]), st.floats(0.001, 1e6))


SECONDS = st.floats(0.1, 1e6)


@given(costs_s=LOSSES, window_s=st.floats(-1e3, 1e6), expected_s=st.none() | SECONDS, ran_s=SECONDS)
def test_there_is_one_cause_for_everything(
    costs_s: dict[D, float], window_s: float, expected_s: float | None, ran_s: float
) -> None:
    cause = cause_of(costs_s, window_s, expected_s, ran_s)
    if expected_s is not None and 0 < window_s < expected_s:
        assert cause is D.TOO_SHORT
    elif cause is D.RUN_TIME_UNKNOWN:
        assert expected_s is None
        assert all(ran_s > cost for cost in costs_s.values())
    elif cause in costs_s and expected_s is not None:
        spare_s = max(window_s - expected_s, 0.0)
        alone = [cause for cause in D if costs_s.get(cause, 0.0) > spare_s]
        assert cause is alone[0] if alone else costs_s[cause] == max(costs_s.values())
    else:
        assert cause is D.TOO_SHORT or costs_s[cause] == max(costs_s.values())


def missed(one: Execution, now_s: float) -> list[str]:
    return [event.kind for event in settle(one, now_s, POLICY, "x")[1] if event.kind == ev.DeadlineMissed.kind]


POLICY = Policy()


def test_it_is_noted_once_for_each_deadline_and_not_before() -> None:
    one = running(after(job(), queued()), 11.0)
    assert due_at_s(one, POLICY) == 201.0
    assert missed_deadline(one, 200.9, POLICY, "x") is None
    one, events = settle(one, 201.0, POLICY, "x")
    assert [event.kind for event in events] == ["deadline_missed"]
    assert missed(one, 300.0) == []
    assert due_at_s(one, POLICY) is None
    with pytest.raises(IllegalTransition):
        apply(one, events[0])
    assert missed(again(one, 210.0, Cause.NODE_LOST), 400.0) == [], "the next attempt does not miss it again"


def test_another_deadline_may_be_missed_again() -> None:
    one = settle(after(job(), queued()), 201.0, POLICY, "x")[0]
    asked = ev.Requested.of_execution(one)
    kept = apply(one, ev.Modified(at_s=210.0, before=asked, after=replace(asked, priority=7)))
    assert kept.missed == one.missed
    later = apply(one, ev.Modified(at_s=210.0, before=asked, after=replace(asked, deadline_s=500.0)))
    assert later.missed is None
    assert missed(later, 499.0) == []
    assert missed(later, 500.0) == ["deadline_missed"]


@pytest.mark.parametrize("state", ["submitted", "queued", "starting", "running"])
def test_it_is_noted_wherever_it_waits(state: str) -> None:
    one = after(job(conditions=Conditions(begin_at_s=1000.0)))
    if state != "submitted":
        one = apply(one, queued())
    if state == "running":
        one = running(one, 2.0)
    elif state == "starting":
        one = apply(one, planned(one, 2.0))
    assert one.state == state
    assert missed(one, 201.0) == ["deadline_missed"]


def ends(one: Execution, at_s: float, exit_code: int = 0) -> Execution:
    service: Service = one.current()[0]
    assert service.state is ServiceState.READY
    return apply(one, ev.ServiceEnded(at_s=at_s, service_id=service.id, cause=Cause.EXITED, exit_code=exit_code))


def test_timely_end_seen_later_is_not_missed() -> None:
    for at_s, wanted in ((200.0, []), (202.0, ["deadline_missed"])):
        one = ends(running(after(job(), queued()), 11.0), at_s)
        assert missed(one, 260.0) == wanted
        over = settle(one, 260.0, POLICY, "x")[0]
        assert over.state is ExecutionState.SUCCEEDED
        assert status_of(over, 300.0) is (DeadlineStatus.MISSED if wanted else DeadlineStatus.MET)


def test_timely_failure_is_missed_only_if_tried_again() -> None:
    failed = ends(running(after(job(), queued()), 11.0), 150.0, exit_code=1)
    over, _ = settle(failed, 260.0, POLICY, "x")
    assert (over.state, over.missed, status_of(over, 300.0)) == (ExecutionState.FAILED, None, None)
    retried = replace(JOB, retries=1)
    failed = ends(running(after(job(application=retried), queued()), 11.0), 150.0, exit_code=1)
    assert missed(failed, 260.0) == ["deadline_missed"]


def test_cancelled_execution_misses_no_deadline() -> None:
    one = running(after(job(), queued()), 11.0)
    stopping = apply(one, ev.Stopping(at_s=100.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED))
    assert missed(stopping, 300.0) == []


def test_a_workflow_step_is_missed_before_it_is_ended() -> None:
    one = running(after(job(conditions=Conditions(end_by_s=201.0)), queued()), 2.0)
    kinds = [event.kind for event in settle(one, 201.0, POLICY, "x")[1]]
    assert kinds == ["deadline_missed", "stopping"]


def test_at_risk_is_what_is_expected_to_end_later() -> None:
    waits = after(job(), queued())
    assert status_of(waits, 100.0) is None
    assert status_of(waits, 102.0) is DeadlineStatus.AT_RISK
    told = replace(waits, forecast=Forecast(1.0, 50.0, 100.0, end_p90_s=205.0))
    assert (status_of(told, 2.0), expected_end_s(told, 2.0)) == (DeadlineStatus.AT_RISK, 205.0)
    assert status_of(running(waits, 90.0), 150.0) is None
    assert status_of(running(waits, 110.0), 150.0) is DeadlineStatus.AT_RISK
    assert status_of(job(None), 1e9) is None
    unknown = after(job(application=replace(JOB, expected_run_s=None)), queued())
    assert status_of(unknown, 200.0) is None, "nothing is known"


@pytest.mark.parametrize("seed", range(30))
def test_costs_are_parts_of_the_time_that_passed(seed: int) -> None:
    """In any history, no second counts twice, except that more than was expected lies within the attempt."""
    one = apply(job(40.0), ev.Submitted(at_s=1.0))
    for event in history(one, 40, lambda count: (seed * 7919 + count) % count):
        one = apply(one, event)
        if not one.terminal:
            costs_s = miss_of(one, 1000.0).costs_s
            assert all(cost > 0 for cost in costs_s.values())
            assert sum(costs_s.values()) <= 999.0 + 0.01


def test_earlier_attempts_survive_what_follows() -> None:
    one = again(running(after(job(), queued()), 11.0), 21.0, Cause.NODE_LOST)
    one = again(running(one, 31.0), 51.0, Cause.CORE_ENDED)
    assert one.earlier == EarlierAttempts(queued_s=20.0, lost_s=10.0, failed_s=20.0)
    assert Mark.PLACED not in one.marks


def test_the_wait_for_an_answer_is_not_why_a_promise_is_missed() -> None:
    """Its offer is accepted after 119 s; then it waits in the queue until after the promised time."""
    terms = FinishTerms(320.0, 0.9, 0, 100.0, 213.0)
    asks = job(application=replace(JOB, promise=PromiseWish()))
    offers = PromiseOffers("full", 122.0, (Offer(OfferKind.EARLIEST, terms),))
    offered = after(asks, ev.PromiseOffered(at_s=2.0, offers=offers))
    promised = apply(offered, ev.Promised(at_s=120.0, terms=terms, offer=1))
    miss = miss_of(apply(promised, queued(121.0)), 320.0)
    assert miss.cause is D.QUEUE
    assert miss.costs_s == {D.QUEUE: 199.0, D.INPUT_LATE: 1.0}
