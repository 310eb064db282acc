"""Every second of waiting has a cause, and the percents add up."""

from __future__ import annotations

import random

from zoe_client.vocabulary import DependencyKind, ExecutionState, Holder, OfferKind
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.domain.executions.waiting import CauseShare, WaitCause, cause_of, shares, spans
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, PromiseOffers
from zoe_lib.domain.values.reasons import Reason, ReasonCode


def waits(at_s: float, code: ReasonCode, **counts: int) -> ev.ReasonChanged:
    return ev.ReasonChanged(at_s=at_s, reason=Reason(code, f"{code.value}.", counts))


def started(at_s: float) -> ev.StartPlanned:
    return ev.StartPlanned(at_s=at_s, placements=())


STORY: list[ev.Event] = [
    ev.Submitted(at_s=0.0),
    ev.Queued(at_s=2.0),
    waits(2.0, ReasonCode.BEHIND_IN_QUEUE),
    waits(12.0, ReasonCode.TENANT_LIMIT),
    waits(17.0, ReasonCode.USER_LIMIT),
    waits(22.0, ReasonCode.NO_RESOURCES, resources=3),
    waits(52.0, ReasonCode.NODES_AWAY, resources=2, readiness=1),
    started(62.0),
    ev.Running(at_s=63.0),
    ev.Stopping(at_s=100.0, outcome=Outcome.FAILED, cause=Cause.EXITED),
    ev.Requeued(at_s=110.0, not_before_s=120.0),
    waits(111.0, ReasonCode.RETRY_BACKOFF),
    started(120.0),
]


def test_every_second_before_a_start_has_its_cause_and_running_has_none() -> None:
    found = spans(STORY, now_s=500.0)
    assert [(s.cause.value, s.since_s, s.until_s) for s in found] == [
        ("master", 0, 2),
        ("others_ahead", 2, 12),
        ("quota", 12, 17),
        ("quota", 17, 22),
        ("cluster_full", 22, 52),
        ("nodes_away", 52, 62),
        ("own_failure", 110, 111),
        ("own_failure", 111, 120),
    ]
    assert sum(s.until_s - s.since_s for s in found) == 62 + 10
    assert shares(found)[0] == CauseShare(WaitCause.CLUSTER_FULL, 30.0, 41)
    assert sum(share.percent for share in shares(found)) == 100


def test_waiting_counts_until_now_or_until_the_refusal() -> None:
    assert spans(STORY[:3], now_s=30.0)[-1].until_s == 30.0
    refused = [*STORY[:3], ev.Refused(at_s=9.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)]
    assert spans(refused, now_s=30.0)[-1].until_s == 9.0


def test_one_that_never_waited_has_no_shares() -> None:
    assert shares(spans([ev.Submitted(at_s=1.0), started(1.0)], 9.0)) == []


def test_every_reason_has_a_cause() -> None:
    assert {cause_of(Reason(code, "")) for code in ReasonCode} | {WaitCause.MASTER} == set(WaitCause)


def test_nodes_that_are_away_are_the_cause_only_for_whom_needs_them() -> None:
    """One small node of a hundred is drained, and the others are full."""
    full = Reason(ReasonCode.NO_RESOURCES, "", {"resources": 99, "holds": 1})
    assert cause_of(full) is WaitCause.CLUSTER_FULL
    assert cause_of(Reason(ReasonCode.NODES_AWAY, "", {"resources": 99, "holds": 1})) is WaitCause.NODES_AWAY


def test_percents_add_up_whatever_the_spans() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        now_s, story = 0.0, [ev.Submitted(at_s=0.0)]
        for _ in range(chance.randint(1, 12)):
            now_s += chance.expovariate(1.0)
            story.append(waits(now_s, chance.choice(list(ReasonCode))))
        found = spans(story, now_s + 1.0)
        assert abs(sum(s.until_s - s.since_s for s in found) - (now_s + 1.0)) < 1e-9, f"seed {seed}"
        assert sum(share.percent for share in shares(found)) == 100, f"seed {seed}"


def test_waiting_after_a_storage_controller_failed_it_is_the_storages() -> None:
    away = ev.Stopping(at_s=10.0, outcome=Outcome.FAILED, cause=Cause.STORAGE_UNAVAILABLE)
    failed = ev.Stopping(at_s=30.0, outcome=Outcome.FAILED, cause=Cause.EXITED)
    events = [
        ev.Submitted(at_s=0.0),
        ev.StartPlanned(at_s=0.0, placements=()),
        away,
        ev.Requeued(at_s=10.0),
        ev.StartPlanned(at_s=20.0, placements=()),
        failed,
        ev.Requeued(at_s=30.0),
    ]
    assert [(span.cause, span.since_s, span.until_s) for span in spans(events, 35.0)] == [
        (WaitCause.STORAGE, 10.0, 20.0),
        (WaitCause.OWN_FAILURE, 30.0, 35.0),
    ]


def test_waiting_after_zoe_was_stopped_is_no_failure_of_its_own() -> None:
    events = [
        ev.Submitted(at_s=0.0),
        ev.StartPlanned(at_s=0.0, placements=()),
        ev.Stopping(at_s=10.0, outcome=Outcome.FAILED, cause=Cause.STOPPED),
        ev.Requeued(at_s=10.0),
    ]
    [span] = spans(events, 35.0)
    assert (span.cause, span.since_s, span.until_s) == (WaitCause.MASTER, 10.0, 35.0)
    assert "Zoe was stopped" in span.sentence


def test_an_offer_waits_for_its_user_and_not_for_the_master() -> None:
    terms = FinishTerms(900.0, 0.9, 0, 5.0, 800.0)
    offers = PromiseOffers("no room", 60.0, (Offer(OfferKind.EARLIEST, terms),))
    story = [
        ev.Submitted(at_s=0.0),
        ev.PromiseOffered(at_s=1.0, offers=offers),
        ev.Promised(at_s=31.0, terms=terms),
        ev.Queued(at_s=31.0),
        started(32.0),
    ]
    assert [(share.cause, share.seconds) for share in shares(spans(story, now_s=500.0))] == [
        (WaitCause.CONDITIONS, 30.0),
        (WaitCause.MASTER, 2.0),
    ]


def test_each_condition_has_its_share() -> None:
    """Held, then before its begin, then after another, which ends."""
    on = Dependency(DependencyKind.ANY, "x1")
    story = [
        ev.Submitted(at_s=0.0, conditions=Conditions(held=Holder.USER, begin_at_s=50.0, after=(on,))),
        ev.Released(at_s=10.0),
        ev.DependencyEnded(at_s=30.0, on="x1", state=ExecutionState.FAILED),
        ev.Queued(at_s=50.0),
        started(52.0),
    ]
    assert [(share.cause, share.condition, share.seconds) for share in shares(spans(story, now_s=500.0))] == [
        (WaitCause.CONDITIONS, ReasonCode.BEGIN_TIME, 20.0),
        (WaitCause.CONDITIONS, ReasonCode.DEPENDENCIES, 20.0),
        (WaitCause.CONDITIONS, ReasonCode.HELD, 10.0),
        (WaitCause.MASTER, None, 2.0),
    ]
