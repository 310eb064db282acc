"""Promises for executions as a group: the decision, and the acceptance of an offer for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from zoe_api.access.visibility import seen_execution
from zoe_api.executions.controlling import already_promised, terms_of_offer
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller, ask
from zoe_client.documents.shortening import shortened_list
from zoe_client.vocabulary import Cause, DeadlineStatus
from zoe_client.wire import WorkflowOfferView, WorkflowPromiseView, WorkflowRiskView, WorkflowTermsView
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.arrays import member_of
from zoe_lib.domain.executions.events import promised_event
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.executions.guaranteed import standing_offers
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.finish_times import FinishTerms, PromiseOffers
from zoe_lib.pricing.displayed_prices import displayed_price
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.values import ExecutionChange

_ATTEMPTS_MAX = 5
_NAMED_MAX = 5
_CANCELLED = "it was cancelled before an offer was accepted"


def planned_promise(caller: Caller, members: Sequence[Execution]) -> WorkflowPromiseView:
    """Return the promise for a group of executions that are not stored. Raises ApiProblem."""
    answers = ask(caller.services.master, "plan_together", _question(members), caller.request, caller.user)["answers"]
    promised = [decode(FinishTerms, answer["terms"]) for answer in answers if answer["terms"] is not None]
    if len(promised) == len(answers):
        return WorkflowPromiseView(terms=_common_terms(promised), why="", ends_s=None, offers=[])
    offered = [decode(PromiseOffers, answer["offers"]) for answer in answers if answer["offers"] is not None]
    offers = _offers(offered, at_s=0.0)
    return WorkflowPromiseView(terms=None, why=offered[0].why, ends_s=None, offers=offers)


def _question(members: Sequence[Execution]) -> dict[str, Any]:
    """Return the master's request for these executions; each application once, as indices of an array share one."""
    applications = {id(member.application): member.application for member in members}
    places = {known: place for place, known in enumerate(applications)}
    asked = [
        {
            "id": member.id,
            "name": member.name,
            "application": places[id(member.application)],
            "deadline_s": member.deadline_s,
            "priority": member.priority,
            "after": encode(member.conditions.after),
        }
        for member in members
    ]
    first = members[0]
    return {
        "tenant": first.tenant,
        "user": first.user,
        "submitted_at_s": first.submitted_at_s,
        "applications": [encode(application) for application in applications.values()],
        "members": asked,
    }


def promise_of(members: Sequence[Execution], clock: Clock = SYSTEM_CLOCK) -> WorkflowPromiseView:
    """Return the decision for executions that requested a common promise."""
    promised = [member.promise.terms for member in members if member.promise is not None]
    if promised:
        together, risks = _common_terms(promised), _risks(members)
        status = _status(members, together.finish_s, risks, clock.now_s())
        return WorkflowPromiseView(terms=together, why="", ends_s=None, offers=[], status=status, risks=risks)
    if any(member.offers is not None and standing_offers(member) is None for member in members):
        return WorkflowPromiseView(terms=None, why=_CANCELLED, ends_s=None, offers=[])
    offered = [member.offers for member in members if member.offers is not None]
    if offered:
        first = offered[0]
        offers = _offers(offered, clock.now_s())
        return WorkflowPromiseView(terms=None, why=first.why, ends_s=first.ends_s, offers=offers)
    why = next((member.message for member in members if member.cause is Cause.NO_PROMISE), "")
    return WorkflowPromiseView(terms=None, why=why, ends_s=None, offers=[])


def accept_for(caller: Caller, ids: Sequence[str], number: int) -> bool:
    """Promise the terms of an offer to all of these in one transaction; no effect if that was done before. Return
    whether it had an effect. 409 if they have another promise, or if the offer does not exist or has expired.
    """
    now_s = caller.services.clock.now_s()  # the same for all: their times move together
    for _ in range(_ATTEMPTS_MAX):
        members = [seen_execution(caller, id_, ShareLevel.CONTROL) for id_ in ids]
        left = _to_be_promised(members, number, now_s)
        if not left:
            return False
        changes = []
        for execution, terms in left:
            cause, user = caller.request_id, caller.user
            event = promised_event(execution, terms, at_s=now_s, cause_id=cause, offer=number, user=user)
            changes.append(ExecutionChange(execution, [event], apply(execution, event)))
        stored = caller.store.append_all(changes, None)
        caller.services.master.hint()
        if len(stored) == len(changes):
            return True
    raise ApiProblem(Code.CONFLICT, "the executions change too often; try again")


def _to_be_promised(members: Sequence[Execution], number: int, now_s: float) -> list[tuple[Execution, FinishTerms]]:
    """Return the executions without a promise, each with its part of this offer."""
    left = [member for member in members if member.promise is None and not member.terminal]
    other = next(
        (member.promise for member in members if member.promise is not None and member.promise.offer != number), None
    )
    if other is not None:
        raise ApiProblem(Code.ILLEGAL_STATE, already_promised(other))
    if len(left) + sum(member.promise is not None for member in members) == 0:
        raise ApiProblem(Code.ILLEGAL_STATE, "there are no offers to accept", "submit it again to get new offers")
    gone = [
        _label(member) for member in members if member.promise is None and member.terminal and member.offers is not None
    ]
    if gone and len(gone) + len(left) == len(members):
        why = f"its offers are for the whole, and parts have ended since: {shortened_list(gone, _NAMED_MAX)}"
        raise ApiProblem(Code.ILLEGAL_STATE, why, "submit it again to get new offers")
    found = []
    for execution in left:
        offers = execution.offers
        if execution.state is not ExecutionState.SUBMITTED or offers is None or now_s >= offers.ends_s:
            raise ApiProblem(Code.ILLEGAL_STATE, "there are no offers to accept", "submit it again to get new offers")
        found.append((execution, terms_of_offer(offers, number, now_s)))
    return found


def _label(execution: Execution) -> str:
    """Return the label of a member: all indices of an array have the same name."""
    return execution.id if member_of(execution.id) is not None else execution.name


def _risks(members: Sequence[Execution]) -> list[WorkflowRiskView]:
    """Return the steps that are expected to end too late, the first notice first."""
    noted = [
        (member, member.promise.notice) for member in members if member.promise is not None and not member.terminal
    ]
    risks = sorted(
        ((notice.at_s, execution.name, notice) for execution, notice in noted if notice is not None),
        key=lambda r: r[:2],
    )
    return [WorkflowRiskView(step=name, risk=notice.risk, end_s=notice.end_s) for _, name, notice in risks]


def _status(
    members: Sequence[Execution], finish_s: float, risks: Sequence[WorkflowRiskView], now_s: float
) -> DeadlineStatus | None:
    """Return the status of the group against the promised time. Members that were cancelled or failed before have
    neither met nor missed it.
    """
    ends_s = [member.marks.get(Mark.ENDED, math.inf) if member.terminal else now_s for member in members]
    open_ = any(not member.terminal for member in members)
    succeeded = all(member.state is ExecutionState.SUCCEEDED for member in members)
    if max(ends_s) > finish_s and (open_ or succeeded or any(member.missed is not None for member in members)):
        return DeadlineStatus.MISSED
    if open_:
        return DeadlineStatus.AT_RISK if risks else None
    return DeadlineStatus.MET if succeeded else None


def _offers(offered: Sequence[PromiseOffers], at_s: float) -> list[WorkflowOfferView]:
    """Return the offers for the group as they are if accepted at that time, with their numbers."""
    first = offered[0]
    return [
        WorkflowOfferView(
            number=number,
            kind=offer.kind,
            terms=_common_terms(_terms_with_number(offered, number, min(at_s, first.ends_of(number)))),
            moves=offer.moves_until_end,
            ends_s=first.ends_of(number),
        )
        for number, offer in enumerate(first.offers, start=1)
    ]


def _terms_with_number(offered: Sequence[PromiseOffers], number: int, at_s: float) -> list[FinishTerms]:
    return [terms for offers in offered if (terms := offers.terms(number, at_s)) is not None]


def _common_terms(several: Sequence[FinishTerms]) -> WorkflowTermsView:
    """Return the terms of the group: it ends with its last member, and costs the sum."""
    prices = [terms.price for terms in several]
    known = all(price is not None for price in prices)
    price = f"{displayed_price(sum((Decimal(price or 0) for price in prices), Decimal(0))):f}" if known else None
    return WorkflowTermsView(
        finish_s=max(terms.finish_s for terms in several),
        confidence=min(terms.confidence for terms in several),
        price=price,
        currency=several[0].currency,
    )
