"""Values of the domain as the API sends them, and policies as it receives them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import GIB, application, execution
from tests.support.plain_api import after
from tests.support.scheduling import node, started
from zoe_api.access import wire_forms
from zoe_client.vocabulary import DeadlineCause, DeadlineStatus, DependencyKind, Holder, OfferKind
from zoe_client.wire import PolicyView
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy, with_limits
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark, Outcome
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.executions.promises import Rates
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, Promise, PromiseOffers, PromiseWish
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.locality import InputObjects, InputPlaces, Places
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressReading
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import InputRead, Pushdown, StorageDemand, StorageObject
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.documents.codec import encode

FRESH = after(execution(1), ev.Submitted(at_s=1.0))
QUEUED = after(FRESH, ev.Queued(at_s=1.0))
STARTING = started(QUEUED, "n1", "n1", "n2")
FAILED = after(QUEUED, ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS, message="no"))
TERMS = FinishTerms(90.0, 0.9, 1, 5.0, 80.0, price="1.50", currency="EUR")


def test_a_summary_counts_services_and_tells_marks_in_order() -> None:
    one = started(QUEUED, "n1", "n1", "n1", "n1")
    first = one.core_services()[0]
    one = after(
        one,
        ev.ServiceStarting(at_s=2.0, service_id=first.id),
        ev.ServiceReady(at_s=3.0, service_id=first.id),
    )
    told = wire_forms.execution_summary(one)
    assert (told.core_total, told.core_ready, told.elastic_total, told.elastic_ready) == (2, 1, 2, 0)
    assert list(told.marks) == [mark for mark in Mark if mark in one.marks]
    assert told.marks == one.marks
    assert (told.id, told.name, told.application, told.kind) == (one.id, "sums 1", "sums", "batch")
    assert (told.tenant, told.user, told.state, told.version) == ("iostack", "ada", one.state, one.version)
    assert (told.deadline, told.promise, told.offers, told.forecast, told.reason) == (None,) * 5


def test_a_summary_of_what_has_ended_tells_its_outcome() -> None:
    told = wire_forms.execution_summary(FAILED)
    assert (told.outcome, told.cause, told.message, told.exit_code) == ("failed", "never_fits", "no", None)


def test_a_view_has_all_that_is_stored_and_the_description() -> None:
    moved = StoreTransfers(1, 10, 20, 1.5, 2.5, at_s=9.0)
    one = replace(STARTING, notes=("note",), storage_problem="away", transfers=moved)
    told = wire_forms.execution_view(one, {"name": "x"})
    assert told.description == {"name": "x"}
    assert [service.node for service in told.services] == ["n1", "n1", "n2", None]
    assert (told.notes, told.storage_problem, told.conditions) == (["note"], "away", None)
    assert told.transfers is not None
    assert told.transfers.read_bytes == 10


# -- progress ----------------------------------------------------------------------------------------------------------
def test_the_rest_is_told_only_at_a_time() -> None:
    readings = tuple(ProgressReading(float(at_s), at_s / 100) for at_s in range(0, 60, 10))
    progress = ExecutionProgress("e", 1, 50.0, readings, "tasks", "odd")
    plain = wire_forms.progress_view(progress)
    assert (plain.share, plain.at_s, plain.text, plain.problem, plain.remaining_s) == (0.5, 50.0, "tasks", "odd", None)
    timed = wire_forms.progress_view(progress, 60.0)
    assert timed.remaining_s == pytest.approx(40)
    assert (timed.remaining_low_s, timed.remaining_high_s) == (pytest.approx(40), pytest.approx(40))
    assert wire_forms.progress_view(ExecutionProgress("e", 1, 1.0), 2.0).remaining_s is None


# -- transfers ---------------------------------------------------------------------------------------------------------
OLD, NEW = StoreTransfers(1, 10, 20, 1.0, 2.0, True, 5.0), StoreTransfers(2, 1, 2, 0.5, 0.25, True, 6.0)


@pytest.mark.parametrize(
    ("kept", "heard", "read", "final"),
    [
        (None, None, None, None),
        (OLD, None, 10, False),
        (OLD, OLD, 10, False),
        (OLD, replace(NEW, generation=1), 10, False),
        (OLD, NEW, 11, False),
        (None, NEW, 1, False),
    ],
)
def test_later_transfers_are_added_to_the_journals_total(
    kept: Any, heard: Any, read: int | None, final: bool | None
) -> None:
    told = wire_forms.transfers_view(replace(STARTING, transfers=kept), heard)
    assert (None if told is None else told.read_bytes) == read
    assert (None if told is None else told.final) == final


def test_transfers_are_final_once_it_has_ended_and_nothing_newer_is_heard() -> None:
    ended = replace(FAILED, transfers=replace(OLD, whole=False))
    told = wire_forms.transfers_view(ended, None)
    assert told is not None
    assert (told.final, told.whole, told.at_s) == (True, False, 5.0)
    assert (told.read_bytes, told.written_bytes, told.transferring_s, told.waiting_s) == (10, 20, 1.0, 2.0)
    more = wire_forms.transfers_view(ended, NEW)
    assert more is not None
    assert (more.final, more.whole, more.written_bytes) == (False, False, 22)
    fresh = wire_forms.transfers_view(STARTING, NEW)
    assert fresh is not None
    assert fresh.whole


# -- why it waits ------------------------------------------------------------------------------------------------------
def wishing(**changes: Any) -> Execution:
    return replace(FRESH, application=application(promise=PromiseWish()), deadline_s=1e12, **changes)


OFFERS = PromiseOffers("there is no room", 3600.0, (Offer(OfferKind.EARLIEST, TERMS),))


def test_unqueued_execution_waits_for_its_conditions_first() -> None:
    held = Conditions(held=Holder.USER)
    assert wire_forms.waits_for(FRESH) is None
    waits = wire_forms.waits_for(replace(FRESH, conditions=held))
    assert waits is not None
    assert waits.code is ReasonCode.HELD
    waits = wire_forms.waits_for(wishing(conditions=held))
    assert waits is not None
    assert waits.code is ReasonCode.HELD


def test_undecided_promise_is_the_reason_and_an_offer_comes_first() -> None:
    undecided = wire_forms.waits_for(wishing())
    assert undecided is not None
    assert undecided.code is ReasonCode.PROMISE
    assert undecided.sentence.startswith("The scheduler decides")
    held = Conditions(held=Holder.USER)
    offered = wire_forms.waits_for(wishing(conditions=held, offers=OFFERS))
    assert offered is not None
    assert offered.sentence == "there is no room. Offers wait for an answer until 1970-01-01 01:00:00 UTC. It is held."
    assert "zoe accept" in offered.hint
    promised = wire_forms.waits_for(wishing(conditions=held, offers=OFFERS, promise=Promise(TERMS, 1.0)))
    assert promised is not None
    assert promised.code is ReasonCode.HELD
    assert wire_forms.waits_for(wishing(promise=Promise(TERMS, 1.0))) is None


def test_queued_execution_has_the_reason_of_the_master() -> None:
    reason = Reason(ReasonCode.NO_RESOURCES, "no room", {"resources": 2}, "wait")
    assert wire_forms.waits_for(QUEUED) is None
    assert wire_forms.waits_for(replace(QUEUED, reason=reason)) is reason
    view = wire_forms.reason_view(reason, "x1")
    assert (view.code, view.sentence, view.counts, view.hint) == ("no_resources", "no room", {"resources": 2}, "wait")
    told = wire_forms.execution_summary(replace(QUEUED, reason=reason)).reason
    assert told == view
    refused = wire_forms.waits_for(replace(STARTING, storage_problem="the store refuses"))
    assert refused is None or refused.code in ReasonCode


# -- inputs and places -------------------------------------------------------------------------------------------------
def reading() -> Execution:
    inputs = tuple(StorageObject(name, f"swift2d://c.zoe/{name}", Pushdown(("x",))) for name in ("a", "b"))
    plain = StorageObject("c", "swift2d://c.zoe/c")
    one = replace(STARTING, application=application(storage=StorageDemand(inputs=(*inputs, plain))))
    return replace(one, inputs=(InputRead("b", "swift2d://c.zoe/b2", "v1", ("x",), "it is smaller"),))


def test_inputs_with_a_pushdown_are_told_decided_or_not() -> None:
    first, second = wire_forms.input_reads(reading())
    assert (first.name, first.decided, first.view) == ("a", False, None)
    assert first.why.startswith("not decided: it is decided after")
    assert (second.uri, second.decided, second.view, second.columns) == ("swift2d://c.zoe/b2", True, "v1", ["x"])
    over = wire_forms.input_reads(replace(reading(), state=ExecutionState.FAILED))[0]
    assert over.why == "not decided: it ended before"


def test_places_count_the_services_that_live_there() -> None:
    held = {"n2": InputObjects(1, 50), "n3": InputObjects(2, 70)}
    places = Places(InputObjects(5, 500), InputObjects(3, 120), held, complete=False)
    one = replace(STARTING, places=(InputPlaces("a", places), InputPlaces("b")))
    first, second = wire_forms.stored_places(one)
    assert (first.known, first.objects, first.bytes, first.listed, first.complete) == (True, 3, 120, 5, False)
    assert [(n.node, n.objects, n.bytes, n.services) for n in first.nodes] == [
        ("n3", 2, 70, 0),
        ("n2", 1, 50, 1),
        ("n1", 0, 0, 2),
    ]
    assert (second.name, second.known) == ("b", False)
    (reported,) = wire_forms.reported_places([InputPlaces("a", places)])
    assert [n.node for n in reported.nodes] == ["n3", "n2"]


# -- nodes and policies ------------------------------------------------------------------------------------------------
def test_a_node_tells_amounts_in_cores_and_its_earliest_hold() -> None:
    seen = node("n1", cores=2.5, memory_gib=4, devices={"gpu": 1}, labels={"a": "b"}, foreign=Resources(250, GIB))
    holds = [NodeHold("red", 5.0, 6.0, "first"), NodeHold(None, 7.0, 8.0)]
    view = wire_forms.node_view(seen, Resources(1500, 2 * GIB), Resources(500, GIB), 3, holds)
    assert (view.cores, view.memory_bytes, view.devices, view.labels) == (2.5, 4 * GIB, {"gpu": 1}, {"a": "b"})
    assert (view.foreign_cores, view.foreign_memory_bytes) == (0.25, GIB)
    assert (view.reserved_cores, view.reserved_memory_bytes) == (1.5, 2 * GIB)
    assert (view.elastic_cores, view.elastic_memory_bytes, view.services) == (0.5, GIB, 3)
    assert view.hold is not None
    assert (view.hold.tenant, [hold.tenant for hold in view.holds]) == ("red", ["red", None])
    assert wire_forms.node_view(seen, Resources(), Resources(), 0).hold is None


def policy() -> Policy:
    hold, window = NodeHold("red", note="x"), NodeHold(None, 5.0, 6.0)
    made = Policy(node_holds={"n1": hold}, node_windows={"n1": (window,)}, version=4)
    limits = made.limits.with_changed_amounts(LimitSubject("red"), {"cores_milli": 1000, "executions": 7})
    return with_limits(made, limits)


def test_a_policy_comes_back_from_its_document_with_limits_that_documents_do_not_have() -> None:
    document = wire_forms.policy_view(policy()).model_dump(mode="json")
    assert document["tenant_limits"]["red"]["cores_milli"] == 1000
    assert "executions" not in document["tenant_limits"]["red"]
    back = wire_forms.policy_of(PolicyView.model_validate(document), policy())
    assert back == policy()
    alone = wire_forms.policy_of(PolicyView.model_validate(document))
    assert alone.limits.for_subject("red").executions is None
    assert (alone.node_holds, alone.node_windows) == (policy().node_holds, policy().node_windows)
    assert isinstance(back.filters, tuple)


def test_a_document_without_windows_leaves_them_and_an_empty_one_removes_them() -> None:
    document = wire_forms.policy_view(policy()).model_dump(mode="json")
    older = PolicyView.model_validate({k: v for k, v in document.items() if k != "node_windows"})
    assert wire_forms.policy_of(older, policy()).node_windows == policy().node_windows
    assert wire_forms.policy_of(older).node_windows == {}
    empty = PolicyView.model_validate({**document, "node_windows": {}})
    assert wire_forms.policy_of(empty, policy()).node_windows == {}


def test_rates_are_bytes_per_second_each_way() -> None:
    view = wire_forms.bandwidth_view(Rates(5, 7))
    assert (view.read_bytes_per_s, view.write_bytes_per_s) == (5, 7)
    assert wire_forms.known_bandwidth(Rates(5, 7)) == view
    assert wire_forms.known_bandwidth(None) is None


# -- deadlines and promises --------------------------------------------------------------------------------------------
def test_a_deadline_tells_how_it_stands_and_why_it_was_missed() -> None:
    assert wire_forms.deadline_view(FRESH) is None
    one = replace(QUEUED, deadline_s=time.time() + 1000, application=application(expected_run_s=50.0))
    told = wire_forms.deadline_view(one)
    assert told is not None
    assert (told.at_s, told.status, told.expected_run_s, told.cause) == (one.deadline_s, None, 50.0, None)
    late = wire_forms.deadline_view(replace(one, deadline_s=time.time() + 10))
    assert late is not None
    assert late.status is DeadlineStatus.AT_RISK
    miss = DeadlineMiss(5.0, DeadlineCause.QUEUE, {DeadlineCause.QUEUE: 4.0}, 40.0)
    missed = wire_forms.deadline_view(replace(one, missed=miss))
    assert missed is not None
    assert (missed.status, missed.cause, missed.costs_s) == ("missed", "queue", {"queue": 4.0})
    assert missed.expected_run_s == 40.0


def test_offers_are_numbered_from_one() -> None:
    assert wire_forms.offers_view(None) is None
    told = wire_forms.offers_view(replace(OFFERS, offers=OFFERS.offers * 2))
    assert told is not None
    assert [(offer.number, offer.kind) for offer in told.offers] == [(1, "earliest"), (2, "earliest")]
    assert (told.why, told.ends_s, told.offers[0].terms.price) == ("there is no room", 3600.0, "1.50")
    assert wire_forms.promise_view(None) is None
    promise = wire_forms.promise_view(Promise(TERMS, 7.0, 2))
    assert promise is not None
    assert (promise.at_s, promise.offer, promise.terms.finish_s) == (7.0, 2, 90.0)


def test_commands_of_hints_name_the_execution() -> None:
    reason = Reason(ReasonCode.NO_RESOURCES, "no room", hint="`zoe explain` shows it, `zoe logs x2` not")
    assert wire_forms.reason_view(reason, "x1").hint == "`zoe explain x1` shows it, `zoe logs x2` not"


def test_a_cancellation_withdraws_offers() -> None:
    asked = replace(FRESH, offers=OFFERS)
    assert wire_forms.execution_summary(asked).offers is not None
    assert wire_forms.execution_summary(replace(asked, cause=Cause.NO_PROMISE)).offers is not None
    assert wire_forms.execution_summary(replace(asked, cause=Cause.CANCELLED)).offers is None


def test_an_outlook_is_what_the_master_tells() -> None:
    assert wire_forms.promise_outlook(None) is None
    told = wire_forms.promise_outlook({"terms": encode(TERMS), "offers": None})
    assert told is not None
    assert told.terms is not None
    assert (told.terms.finish_s, told.offers) == (90.0, None)
    told = wire_forms.promise_outlook({"terms": None, "offers": encode(OFFERS)})
    assert told is not None
    assert told.terms is None
    assert told.offers is not None
    assert told.offers.why == "there is no room"


def test_without_conditions_none_are_told() -> None:
    assert wire_forms.conditions_view(NO_CONDITIONS) is None
    told = wire_forms.conditions_view(Conditions(after=(Dependency(DependencyKind.ANY, "x", True),), keep=True))
    assert told is not None
    assert (told.after[0].on, told.after[0].met, told.keep) == ("x", True, True)


def test_a_forecast_is_told() -> None:
    told = wire_forms.execution_summary(replace(QUEUED, forecast=Forecast(1.0, 2.0, 3.0))).forecast
    assert told is not None
    assert (told.at_s, told.run_s) == (1.0, 3.0)
