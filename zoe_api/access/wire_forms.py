"""Convert domain values to responses, and a policy from a request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from zoe_client.wire import (
    BandwidthView,
    ConditionsView,
    DeadlineView,
    ExecutionSummary,
    ExecutionView,
    FinishTermsView,
    ForecastView,
    HeldView,
    InputPlacesView,
    InputReadView,
    InstancesView,
    NodeHoldView,
    NodeView,
    OffersView,
    OfferView,
    PolicyView,
    ProgressView,
    PromiseOutlookView,
    PromiseView,
    ReasonView,
    ServiceView,
    TransfersView,
)
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.cluster.policy import Policy, shown_limits, with_shown_limits
from zoe_lib.domain.executions.arrays import member_of
from zoe_lib.domain.executions.deadline_misses import expected_run_s, status_of
from zoe_lib.domain.executions.execution import TERMINAL_STATES, Execution, ExecutionState, Mark, ServiceState, ran_s
from zoe_lib.domain.executions.guaranteed import awaits_promise, standing_offers
from zoe_lib.domain.executions.instances import instance_counts
from zoe_lib.domain.executions.promises import Rates, pushed_down, refusal_reason
from zoe_lib.domain.values.clock import utc_text
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, reason_of
from zoe_lib.domain.values.finish_times import Promise, PromiseOffers
from zoe_lib.domain.values.locality import InputObjects, InputPlaces
from zoe_lib.domain.values.progress import ExecutionProgress, remaining_s
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import InputRead, StorageObject
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.documents.codec import decode

# Reasons of the scheduler know no ids.
_WITHOUT_ID = re.compile(r"`zoe (show|explain|eta|logs|release)(?=`)")


def execution_summary(execution: Execution) -> ExecutionSummary:
    """Return an execution without its services."""
    return ExecutionSummary(**_summary(execution))


def execution_view(execution: Execution, description: Mapping[str, Any]) -> ExecutionView:
    """Return an execution with its services; `description` is its application's canonical document."""
    return ExecutionView(
        **_summary(execution),
        services=[ServiceView.model_validate(service) for service in execution.services],
        inputs=input_reads(execution),
        places=stored_places(execution),
        notes=list(execution.notes),
        instances=instances_views(execution),
        conditions=conditions_view(execution.conditions),
        storage_problem=execution.storage_problem,
        transfers=transfers_view(execution, None),
        description=dict(description),
    )


def progress_view(progress: ExecutionProgress, now_s: float | None = None) -> ProgressView:
    """Return the progress of an execution; with the time, also how long the rest takes."""
    rest = None if now_s is None else remaining_s(progress.readings, now_s)
    return ProgressView(
        share=progress.share,
        at_s=progress.at_s,
        text=progress.text,
        problem=progress.problem,
        remaining_s=None if rest is None else rest.seconds,
        remaining_low_s=None if rest is None else rest.low_s,
        remaining_high_s=None if rest is None else rest.high_s,
    )


def transfers_view(execution: Execution, so_far: StoreTransfers | None) -> TransfersView | None:
    """Return the transfers of an execution: those in its journal, plus later reports about credentials that are active
    or not in the journal yet; None if there are neither.
    """
    before = execution.transfers
    newer = so_far is not None and (before is None or so_far.generation > before.generation)
    known = so_far.with_earlier(before) if so_far is not None and newer else before
    if known is None:
        return None
    return TransfersView(
        read_bytes=known.read_bytes,
        written_bytes=known.written_bytes,
        transferring_s=known.transferring_s,
        waiting_s=known.waiting_s,
        whole=before is None or before.whole,
        final=execution.terminal and not newer,
        at_s=known.at_s,
    )


def waits_for(execution: Execution, clock: Clock = SYSTEM_CLOCK) -> Reason | None:
    """Return the stored reason why an execution waits; None if it does not, or the master has not stored one yet."""
    if execution.state is not ExecutionState.SUBMITTED:
        return execution.reason or refusal_reason(execution)
    kept = reason_of(execution.conditions, clock.now_s())
    if awaits_promise(execution) and execution.offers is not None:  # the user has little time to answer
        return offers_reason(execution.offers, kept)
    if kept is not None and kept.code == ReasonCode.DEPENDENCIES:
        return _lane_reason(execution) or kept
    if kept is None and awaits_promise(execution):
        return Reason(ReasonCode.PROMISE, "The scheduler decides whether it can be promised to end in time.")
    return kept


def offers_reason(offers: PromiseOffers, kept: Reason | None) -> Reason:
    """Return that its user may accept an offer; `kept`: what keeps it from the queue as well."""
    sentence = f"{offers.why}. Offers wait for an answer until {utc_text(offers.ends_s)}."
    hint = "`zoe show` shows the offers, and `zoe accept ID NUMBER` accepts one"
    if kept is None:
        return Reason(ReasonCode.PROMISE, sentence, hint=hint)
    more = f"; {kept.hint}" if kept.hint else ""
    return Reason(ReasonCode.PROMISE, f"{sentence} {kept.sentence}", hint=f"{hint}{more}")


def _lane_reason(execution: Execution) -> Reason | None:
    """Return which index of its own array it runs after, since the array limits how many run at once; None if it runs
    after others.
    """
    member, awaited = member_of(execution.id), [*execution.conditions.undecided_dependencies]
    others = [member_of(dependency.on) for dependency in awaited]
    if member is None or len(others) != 1 or others[0] is None or others[0].array_id != member.array_id:
        return None
    sentence = f"It runs after {awaited[0].on}: its array limits how many indices run at once."
    return Reason(ReasonCode.DEPENDENCIES, sentence, {"executions": 1})


def reason_view(reason: Reason, unit_id: str) -> ReasonView:
    """Return why an execution or an array waits; commands in the hint name its id."""
    hint = hint_about(reason.hint, unit_id)
    return ReasonView(code=reason.code.value, sentence=reason.sentence, counts=dict(reason.counts), hint=hint)


def hint_about(hint: str, unit_id: str) -> str:
    """Return a hint whose commands name an execution or an array."""
    return _WITHOUT_ID.sub(rf"`zoe \1 {unit_id}", hint).replace("`zoe accept ID ", f"`zoe accept {unit_id} ")


def input_reads(execution: Execution) -> list[InputReadView]:
    """Return every input with a pushdown, decided or undecided."""
    decided = {read.name: read for read in execution.inputs}
    return [
        _input_read(decided[entry.name], True)
        if entry.name in decided
        else _input_read(_undecided_read(execution, entry), False)
        for entry in pushed_down(execution.application)
    ]


def stored_places(execution: Execution) -> list[InputPlacesView]:
    """Return the places recorded when the present attempt was placed."""
    alive = (s.node for s in execution.services if s.alive and s.node is not None)
    services = Counter(alive)
    return [_places(place, services) for place in execution.places]


def reported_places(places: Iterable[InputPlaces]) -> list[InputPlacesView]:
    """Return the places that the master reports for a waiting execution."""
    return [_places(place, Counter()) for place in places]


def node_view(
    node: Node, reserved: Resources, elastic: Resources, services: int, holds: Iterable[NodeHold] = ()
) -> NodeView:
    """Return a node and Zoe's reservations on it; `holds` are present and future ones, earliest first."""
    shown = [NodeHoldView.model_validate(hold) for hold in holds]
    return NodeView(
        name=node.name,
        ready=node.ready,
        message=node.message,
        labels=dict(node.labels),
        cores=node.total.cores_milli / 1000,
        memory_bytes=node.total.memory_bytes,
        devices=dict(node.total.devices),
        foreign_cores=node.foreign.cores_milli / 1000,
        foreign_memory_bytes=node.foreign.memory_bytes,
        reserved_cores=reserved.cores_milli / 1000,
        reserved_memory_bytes=reserved.memory_bytes,
        elastic_cores=elastic.cores_milli / 1000,
        elastic_memory_bytes=elastic.memory_bytes,
        services=services,
        hold=next(iter(shown), None),
        holds=shown,
    )


def policy_view(policy: Policy) -> PolicyView:
    """Return a policy."""
    tenants, users = shown_limits(policy)
    return PolicyView.model_validate(replace(policy, tenant_limits=tenants, user_limits=users))


def policy_of(view: PolicyView, present: Policy | None = None) -> Policy:
    """Return the policy in a document, with the current policy's limits where documents have none.

    A document without `node_windows` comes from an older client, and leaves them unchanged.
    """
    holds = {node: _hold(hold) for node, hold in view.node_holds.items()}
    windows = {node: tuple(map(_hold, several)) for node, several in view.node_windows.items()}
    if present is not None and "node_windows" not in view.model_fields_set:
        windows = dict(present.node_windows)
    given = {"filters": tuple(view.filters), "node_holds": holds, "node_windows": windows}
    policy = Policy(**{**view.model_dump(), **given})
    return policy if present is None else with_shown_limits(present, policy)


def _hold(view: NodeHoldView) -> NodeHold:
    return NodeHold(**view.model_dump())


def bandwidth_view(rates: Rates) -> BandwidthView:
    """Return rates."""
    return BandwidthView(read_bytes_per_s=rates.read, write_bytes_per_s=rates.write)


def known_bandwidth(rates: Rates | None) -> BandwidthView | None:
    """Return rates, or None if they are unknown."""
    return None if rates is None else bandwidth_view(rates)


def _summary(execution: Execution) -> dict[str, Any]:
    core, elastic = execution.core_services(), execution.elastic_services()
    reason = waits_for(execution)
    return {
        "id": execution.id,
        "name": execution.name,
        "application": execution.application.name,
        "kind": execution.application.kind.value,
        "tenant": execution.tenant,
        "user": execution.user,
        "state": execution.state,
        "version": execution.version,
        "attempt": execution.attempt,
        "priority": execution.priority,
        "deadline_s": execution.deadline_s,
        "deadline": deadline_view(execution),
        "promise": promise_view(execution.promise),
        "offers": offers_view(standing_offers(execution)),
        "submitted_at_s": execution.submitted_at_s,
        "marks": {mark: execution.marks[mark] for mark in Mark if mark in execution.marks},
        "ran_s": ran_s(execution),
        "outcome": execution.outcome,
        "exit_code": execution.exit_code,
        "cause": execution.cause,
        "message": execution.message,
        "reason": None if reason is None else reason_view(reason, execution.id),
        "forecast": None if execution.forecast is None else ForecastView.model_validate(execution.forecast),
        "core_total": len(core),
        "core_ready": sum(s.state is ServiceState.READY for s in core),
        "elastic_total": len(elastic),
        "elastic_ready": sum(s.state is ServiceState.READY for s in elastic),
        "elastic_preferred": _preferred_elastic(execution.application),
    }


def _preferred_elastic(application: Application) -> int | None:
    """Return the number of preferred elastic instances; None if all are."""
    if not application.has_extra_instances:
        return None
    counts = ((min(c.preferred_count or c.total_count, c.total_count), c) for c in application.components)
    return sum(preferred - component.essential_count for preferred, component in counts)


def instances_views(execution: Execution) -> list[InstancesView]:
    """Return the counts of each component with elastic instances."""
    return [InstancesView(**asdict(count)) for count in instance_counts(execution)]


def deadline_view(execution: Execution, clock: Clock = SYSTEM_CLOCK) -> DeadlineView | None:
    """Return the state of an execution's deadline; None without one."""
    if execution.deadline_s is None:
        return None
    status, missed = status_of(execution, clock.now_s()), execution.missed
    if missed is None:
        return DeadlineView(at_s=execution.deadline_s, status=status, expected_run_s=expected_run_s(execution))
    return DeadlineView(
        at_s=execution.deadline_s,
        status=status,
        cause=missed.cause,
        costs_s=dict(missed.costs_s),
        expected_run_s=missed.expected_s,
    )


def promise_view(promise: Promise | None) -> PromiseView | None:
    """Return a promise."""
    return None if promise is None else PromiseView.model_validate(promise)


def promise_outlook(told: Mapping[str, Any] | None) -> PromiseOutlookView | None:
    """Return the promise that the master would make (`PromiseAnswer` as JSON); None if none was requested."""
    if told is None:
        return None
    offers = None if told["offers"] is None else decode(PromiseOffers, told["offers"])
    terms = None if told["terms"] is None else FinishTermsView.model_validate(told["terms"])
    return PromiseOutlookView(terms=terms, offers=offers_view(offers, at_s=0.0))


def offers_view(
    offers: PromiseOffers | None, at_s: float | None = None, clock: Clock = SYSTEM_CLOCK
) -> OffersView | None:
    """Return offers as they are if accepted at that time (None: now), with their numbers."""
    if offers is None:
        return None
    now_s = clock.now_s() if at_s is None else at_s
    several = [_offer_view(offers, number, now_s) for number in range(1, len(offers.offers) + 1)]
    return OffersView(why=offers.why, ends_s=offers.ends_s, offers=several)


def _offer_view(offers: PromiseOffers, number: int, now_s: float) -> OfferView:
    offer, ends_s = offers.offers[number - 1], offers.ends_of(number)
    terms = FinishTermsView.model_validate(offer.terms_at(min(now_s, ends_s)))
    return OfferView(number=number, kind=offer.kind, terms=terms, moves=offer.moves_until_end, ends_s=ends_s)


def conditions_view(conditions: Conditions) -> ConditionsView | None:
    """Return the conditions that keep an execution or an array out of the queue; None if it was submitted without
    any.
    """
    return None if conditions == NO_CONDITIONS else ConditionsView.model_validate(conditions)


def _input_read(read: InputRead, decided: bool) -> InputReadView:
    view, columns = read.view or None, list(read.columns)
    return InputReadView(
        name=read.name,
        uri=read.uri,
        view=view,
        columns=columns,
        why=read.why,
        decided=decided,
        unanswered=read.unanswered,
    )


def _undecided_read(execution: Execution, one: StorageObject) -> InputRead:
    over = execution.state in TERMINAL_STATES
    why = "it ended before" if over else "it is decided after the execution gets its nodes, before it starts anything"
    return InputRead(one.name, one.uri, why=f"not decided: {why}")


def _places(input_places: InputPlaces, services: Counter[str]) -> InputPlacesView:
    places = input_places.places
    if places is None:
        return InputPlacesView(name=input_places.name, known=False)
    nodes = [
        HeldView(node=node, objects=held.objects, bytes=held.bytes, services=services[node])
        for node in sorted(places.hosts.keys() | services.keys())
        for held in [places.hosts.get(node, InputObjects())]
    ]
    return InputPlacesView(
        name=input_places.name,
        known=True,
        objects=places.looked_at.objects,
        bytes=places.looked_at.bytes,
        listed=places.listed.objects,
        complete=places.complete,
        nodes=sorted(nodes, key=lambda held: (-held.bytes, held.node)),
    )
