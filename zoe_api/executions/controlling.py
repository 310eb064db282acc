"""Hold, release, modify and requeue executions for users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zoe_api.access.visibility import is_owner
from zoe_api.executions.changing import change
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller
from zoe_client.documents.diagnostics import pointer
from zoe_client.vocabulary import Holder
from zoe_client.wire import Diagnostic, ModifyRequest, ScaleRequest
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.descriptions.bounds import SERVICES_MAX
from zoe_lib.domain.applications.application import Application, same_instances
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import is_array
from zoe_lib.domain.executions.execution import WAITING_STATES, Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.executions.guaranteed import guaranteed_counts
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseOffers
from zoe_lib.store.quotas import with_time_limit
from zoe_lib.submission.checking import check_description, checked_priority
from zoe_lib.submission.deadlines import given_deadline

_STARTED = (ExecutionState.STARTING, ExecutionState.RUNNING)


def hold(caller: Caller, execution_id: str, if_match: str | None = None) -> Execution:
    """Return the held execution; idempotent. 409 if it does not wait."""

    return change(
        caller,
        execution_id,
        if_match,
        lambda execution: hold_event(execution, caller, clock=caller.services.clock),
    )


def hold_event(execution: Execution, caller: Caller, clock: Clock = SYSTEM_CLOCK) -> ev.Event | None:
    """Return the event of a hold; None if it is held already. 409 if it does not wait."""
    _check_waits(execution)
    by = Holder.OPERATOR if caller.principal.operator and not is_owner(caller.principal, execution) else Holder.USER
    if execution.conditions.held in (Holder.OPERATOR, by):
        return None
    return ev.Held(at_s=clock.now_s(), cause_id=caller.request_id, by=by, user=caller.user)


def release(caller: Caller, execution_id: str, if_match: str | None = None) -> Execution:
    """Return the execution after its release; unchanged if it is not held. 403 if only operators may release it; 409 if
    it has ended.
    """

    def decide(execution: Execution) -> ev.Event | None:
        if execution.terminal:
            raise ApiProblem(Code.ILLEGAL_STATE, f"it has ended: it is {execution.state}")
        return release_event(execution, caller, clock=caller.services.clock)

    return change(caller, execution_id, if_match, decide)


def release_event(execution: Execution, caller: Caller, clock: Clock = SYSTEM_CLOCK) -> ev.Event | None:
    """Return the event of a release; None if it is not held. 403 if only operators may release it."""
    holder = execution.conditions.held
    if holder is None or execution.state not in (ExecutionState.SUBMITTED, ExecutionState.STOPPING):
        return None
    if holder is Holder.OPERATOR and not caller.principal.operator:
        raise ApiProblem(Code.HELD_BY_OPERATOR, hint="ask an operator to release it")
    return ev.Released(at_s=clock.now_s(), cause_id=caller.request_id, user=caller.user)


def requeue(
    caller: Caller,
    execution_id: str,
    if_match: str | None = None,
    hold: bool = False,
) -> Execution:
    """Return the execution while it stops for another attempt, before which it is held if `hold`; unchanged if it is
    already stopping for one. 409 if it is not running.
    """

    def decide(execution: Execution) -> Sequence[ev.Event]:
        return requeue_events(execution, caller, hold=hold, clock=caller.services.clock)

    return change(caller, execution_id, if_match, decide)


def requeue_events(
    execution: Execution, caller: Caller, *, hold: bool, clock: Clock = SYSTEM_CLOCK
) -> Sequence[ev.Event]:
    """Return the events of a requeue, none if one is in progress. 409 if it is not running."""
    how: Mapping[str, Any] = {"at_s": clock.now_s(), "cause_id": caller.request_id}
    found: list[ev.Event] = []
    timed_out = execution.state is ExecutionState.STOPPING and execution.cause is Cause.TIME_LIMIT
    if execution.state in _STARTED or timed_out:
        why = f"requeued by {caller.user}"
        found.append(ev.Stopping(**how, outcome=Outcome.FAILED, cause=Cause.REQUEUED, message=why))
    elif execution.state is not ExecutionState.STOPPING or execution.cause is not Cause.REQUEUED:
        waits = execution.state in WAITING_STATES
        hint = (
            "it waits for its start"
            if waits
            else f"submit it again: `zoe show {execution.id} --description` prints its description"
        )
        raise ApiProblem(Code.ILLEGAL_STATE, f"it is not running: it is {execution.state}", hint)
    if hold and execution.conditions.held is None:
        found.append(ev.Held(**how, by=Holder.USER, user=caller.user))
    return found


def modify(
    caller: Caller,
    execution_id: str,
    body: ModifyRequest,
    if_match: str | None = None,
) -> Execution:
    """Return the execution after the changes; unchanged if they have no effect. 409 if it does not wait; 422 as for a
    submission.
    """

    def decide(execution: Execution) -> ev.Event | None:
        _check_waits(execution)
        before = ev.Requested.of_execution(execution)
        after = _requested_changes(body, execution, caller)
        if after == before:
            return None
        if execution.promise is not None and replace(after, priority=before.priority) != before:
            hint = "cancel it, and submit it again"
            raise ApiProblem(Code.ILLEGAL_STATE, "its promise depends on this, so it cannot change", hint)
        return ev.Modified(
            at_s=caller.services.clock.now_s(),
            cause_id=caller.request_id,
            before=before,
            after=after,
            user=caller.user,
            what="; ".join(differences(before, after)),
        )

    return change(caller, execution_id, if_match, decide)


def terms_of_offer(offers: PromiseOffers, number: int, now_s: float) -> FinishTerms:
    """Return the terms of an offer accepted now; 409 if there is no such offer, or it has expired."""
    terms, several = offers.terms(number, now_s), len(offers.offers)
    if terms is None:
        hint = f"it has the offers 1 to {several}" if several else ""
        raise ApiProblem(Code.ILLEGAL_STATE, f"there is no offer {number}", hint)
    if now_s >= offers.ends_of(number):
        others = [str(other) for other in range(1, several + 1) if now_s < offers.ends_of(other)]
        hint = f"still open: offer {', '.join(others)}" if others else "submit it again to get new offers"
        raise ApiProblem(Code.ILLEGAL_STATE, f"offer {number} has expired", hint)
    return terms


def already_promised(promise: Promise) -> str:
    """Return why no offer can be accepted any more."""
    return f"its offer {promise.offer} was accepted already" if promise.offer else "it is promised already as asked for"


def accept(
    caller: Caller,
    execution_id: str,
    number: int,
    if_match: str | None = None,
) -> Execution:
    """Return the execution with the promise of this offer; unchanged if it has that already. 409 if it has another one,
    or if the offer does not exist or has expired.
    """

    def decide(execution: Execution) -> ev.Event | None:
        if execution.promise is not None:
            if execution.promise.offer == number and not execution.terminal:
                return None
            raise ApiProblem(Code.ILLEGAL_STATE, already_promised(execution.promise))
        if whole := execution.conditions.whole:
            command = "zoe accept" if is_array(whole) else "zoe workflow accept"
            kind = "indices of its array" if is_array(whole) else "steps of its workflow"
            hint = f"`{command} {whole} NUMBER` accepts it for all"
            raise ApiProblem(Code.ILLEGAL_STATE, f"it is promised together with the other {kind}", hint)
        now_s, offers = caller.services.clock.now_s(), execution.offers
        if execution.state is not ExecutionState.SUBMITTED or offers is None or now_s >= offers.ends_s:
            raise ApiProblem(Code.ILLEGAL_STATE, "there are no offers to accept", "submit it again to get new offers")
        terms = terms_of_offer(offers, number, now_s)
        how: Mapping[str, Any] = {"at_s": now_s, "cause_id": caller.request_id, "user": caller.user}
        return ev.promised_event(execution, terms, offer=number, **how)

    return change(caller, execution_id, if_match, decide)


def scale(
    caller: Caller,
    execution_id: str,
    body: ScaleRequest,
    if_match: str | None = None,
) -> Execution:
    """Return the execution with other instance counts; unchanged if it has them. 409 if it has ended or stops; 422 for
    an unknown component, and for fewer than the essential instances or more than the maximum of an application.
    """

    def decide(execution: Execution) -> ev.Event | None:
        if execution.state not in (*WAITING_STATES, *_STARTED):
            raise ApiProblem(Code.ILLEGAL_STATE, f"it is not running any more: it is {execution.state}")
        counts = {c.name: c.total_count for c in execution.application.components}
        errors = list(_wrong_counts(body, execution.application))
        if errors:
            raise ApiProblem(Code.INVALID_REQUEST, errors[0].message, errors=errors)
        if counts == {**counts, **body.total_counts}:
            return None
        how: Mapping[str, Any] = {"at_s": caller.services.clock.now_s(), "cause_id": caller.request_id}
        _check_guaranteed(execution, {**counts, **body.total_counts})
        before = {name: counts[name] for name in body.total_counts}
        return ev.Scaled(**how, before=before, total_counts=body.total_counts, user=caller.user)

    return change(caller, execution_id, if_match, decide)


def _check_guaranteed(execution: Execution, counts: Mapping[str, int]) -> None:
    """Raise ApiProblem if a promised execution would have fewer services than its promise guarantees."""
    if execution.promise is None:
        return
    guaranteed = guaranteed_counts(execution.application, execution.promise.terms.elastic)
    for name, count in guaranteed.items():
        if counts[name] < count:
            why = f"{count} instances of {name} are guaranteed by its promise"
            raise ApiProblem(Code.ILLEGAL_STATE, why, "cancel it, and submit it again")


def _wrong_counts(body: ScaleRequest, application: Application) -> Iterator[Diagnostic]:
    essential = {c.name: c.essential_count for c in application.components}
    rules = {c.name: c.scaling for c in application.components if c.scaling is not None}
    ending = application.ending_component.name if application.ending_component is not None else None
    for name, count in body.total_counts.items():
        at = pointer("total_counts", name)
        if name not in essential:
            known = ", ".join(sorted(essential))
            yield Diagnostic(pointer=at, code="unknown", message=f"it has no component {name}; it has {known}")
        elif name == ending and count != 1:
            yield Diagnostic(pointer=at, code="too_high", message=f"{name} ends the application: it has one instance")
        elif count < essential[name]:
            message = f"{essential[name]} instances of {name} are essential, and stay"
            yield Diagnostic(pointer=at, code="too_low", message=message)
        elif name in rules and count > rules[name].maximum:
            message = f"the scaling rule of {name} has a maximum of {rules[name].maximum} instances"
            yield Diagnostic(pointer=at, code="too_high", message=message)
        elif count == 0:
            message = f"{name} has at least one instance"
            yield Diagnostic(pointer=at, code="too_low", message=message)
    total = sum({**{c.name: c.total_count for c in application.components}, **body.total_counts}.values())
    if total > SERVICES_MAX:
        message = f"that would be {total} services; an application has at most {SERVICES_MAX}"
        yield Diagnostic(pointer="/total_counts", code="too_high", message=message)


def _requested_changes(body: ModifyRequest, execution: Execution, caller: Caller) -> ev.Requested:
    given, conditions = body.model_fields_set, execution.conditions
    priority, deadline_s = execution.priority, execution.deadline_s
    if "priority" in given and body.priority is not None:
        priority = checked_priority(body.priority, caller.services, caller.principal, execution.tenant)
    if "deadline_s" in given:
        deadline_s = None if body.deadline_s is None else caller.services.clock.now_s() + body.deadline_s
    if body.deadline is not None:
        given_time = given_deadline(body.deadline, None, caller.services.clock.now_s())
        deadline_s = None if given_time is None else given_time.at_s
    application = execution.application
    if body.application is not None:
        application = changed_description(
            body.application,
            application,
            execution.tenant,
            execution.priority,
            caller,
            owned=is_owner(caller.principal, execution),
        )
    if "time_limit_s" in given:
        wanted = replace(application, time_limit_s=body.time_limit_s)
        application, _ = with_time_limit(wanted, execution.tenant, caller.store.policy().limits)
    return ev.Requested(
        priority=priority,
        deadline_s=deadline_s,
        begin_at_s=body.begin_at_s if "begin_at_s" in given else conditions.begin_at_s,
        application=application,
    )


def changed_description(
    document: dict[str, object],
    application: Application,
    tenant: str,
    priority: int,
    caller: Caller,
    *,
    owned: bool,
) -> Application:
    """Return the new application of a waiting execution; 422 if it is invalid, or would need other services.

    403 for all but its owner: it runs as the owner, with the owner's files and secrets.
    """
    if not owned:
        hint = "others may change priority, deadline, begin and time limit"
        raise ApiProblem(Code.SHARE_TOO_LOW, "only its owner may change its description", hint)
    asked = check_description(document, caller.services, caller.principal, priority).application
    if not same_instances(asked, application):
        message = "a waiting execution cannot change its components or instance counts"
        error = Diagnostic(pointer="/application/components", code="other_instances", message=message)
        raise ApiProblem(Code.INVALID_DESCRIPTION, message, "cancel it, and submit the new description", [error])
    limited, _ = with_time_limit(asked, tenant, caller.store.policy().limits)
    return limited


def differences(before: ev.Requested, after: ev.Requested) -> Iterator[str]:
    """Yield the differences of another request as text."""
    if after.priority != before.priority:
        yield f"priority {before.priority} to {after.priority}"
    if after.deadline_s != before.deadline_s:
        yield "deadline"
    if after.begin_at_s != before.begin_at_s:
        yield "begin"
    old, new = before.application, after.application
    if new.time_limit_s != old.time_limit_s:
        yield f"time limit {_seconds(old.time_limit_s)} to {_seconds(new.time_limit_s)}"
    for component, other in zip(old.components, new.components, strict=True):
        if component != other:
            yield f"component {component.name}"
    if replace(old, time_limit_s=None, components=()) != replace(new, time_limit_s=None, components=()):
        yield "other parts of its description"


def _seconds(seconds: float | None) -> str:
    return "none" if seconds is None else f"{seconds:g} s"


def _check_waits(execution: Execution) -> None:
    if execution.state not in WAITING_STATES:
        raise ApiProblem(Code.ILLEGAL_STATE, f"it no longer waits: it is {execution.state}")
