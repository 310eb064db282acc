"""Promises for whole arrays and workflows: the request, and the decision."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from zoe_cli.commands.watching.promising import checked_budget, share_of
from zoe_cli.commands.words.dates import deadline
from zoe_cli.commands.words.promise_words import offer_words, risk_words
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit, note, write
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_client.vocabulary import DeadlineStatus, ExecutionState
from zoe_client.words.times import in_full

if TYPE_CHECKING:
    from zoe_client import Client
    from zoe_client.wire import ArrayView, PromisePlan, WorkflowPromiseView, WorkflowTermsView, WorkflowView

_DECIDED_S = 30.0
_LOOK_S = 0.2
_STANDS = {
    DeadlineStatus.MET: "The promise was kept.",
    DeadlineStatus.MISSED: "The promise is broken: the time has passed, and it had not ended.",
}


def requested_promise(finish_by: str | None, confidence: str | None, budget: float | None) -> dict[str, Any]:
    """Return the requested promise by the names of the SDK; empty if there is none."""
    if finish_by is None:
        if confidence is not None or budget is not None:
            raise typer.BadParameter("--confidence and --budget need --finish-by")
        return {}
    budget = None if budget is None else checked_budget(budget)
    sure = None if confidence is None else share_of(confidence)
    return {"finish_by": deadline(finish_by), "confidence": sure, "budget": budget}


def wait_for_array_decision(client: Client, array_id: str) -> ArrayView:
    """Return an array once its promise is decided, or after some seconds; print the decision."""
    until_s = time.monotonic() + _DECIDED_S
    while _is_undecided(made := client.arrays.array(array_id)) and _decides_now(made) and time.monotonic() < until_s:
        time.sleep(_LOOK_S)
    for line in array_lines(made):
        note(line)
    if _is_undecided(made):
        later = "" if _decides_now(made) else " while it is held or runs after others"
        note(f"The promise is not decided yet{later}; see `zoe array show {array_id}`.")
    return made


def _decides_now(array: ArrayView) -> bool:
    """Return whether its promise is decided now: a time to begin is part of the decision."""
    conditions = array.conditions
    return conditions is None or (conditions.held is None and all(entry.met for entry in conditions.after))


def array_lines(array: ArrayView) -> Iterator[str]:
    """Yield the decision for all indices of an array, as sentences."""
    if array.promise is not None:
        accept = f"zoe accept {array.id}" if array.ended_at_s is None else ""
        cancelled = array.state is ExecutionState.CANCELLED
        yield from promise_lines_of(array.promise, accept, cancelled=cancelled)


def wait_for_workflow_decision(client: Client, made: WorkflowView) -> WorkflowView:
    """Return a workflow once a requested promise is decided, or after some seconds; print the decision."""
    until_s = time.monotonic() + _DECIDED_S
    while _is_undecided(made) and time.monotonic() < until_s:
        time.sleep(_LOOK_S)
        made = client.workflows.one(made.id)
    for line in workflow_lines(made):
        note(line)
    if _is_undecided(made):
        note("The promise is not decided yet; see `zoe workflow show`.")
    return made


def is_refused(made: WorkflowView | ArrayView) -> bool:
    """Return whether a requested promise was refused."""
    return made.promise is not None and made.promise.terms is None and not _is_undecided(made)


def exit_if_refused(made: WorkflowView) -> None:
    """Exit with DEADLINE if a requested promise was refused."""
    if is_refused(made):
        raise typer.Exit(Exit.DEADLINE)


def workflow_lines(found: WorkflowView) -> Iterator[str]:
    """Yield the decision, as sentences."""
    if found.promise is not None:
        accept = f"zoe workflow accept {found.id}" if found.ended_at_s is None else ""
        yield from promise_lines_of(found.promise, accept, cancelled=found.state.value == "cancelled")


def print_common_plan(context: typer.Context, plan: PromisePlan) -> None:
    """Print the promise for an array or workflow before its submission; exit with DEADLINE if there is none."""
    for text in plan.notes:
        note(f"note: {text}")
    terms, form = plan.promise.terms, options(context).output
    if form is Format.TABLE:
        lines = promise_lines_of(plan.promise, "") if terms is None else [f"It would be promised: {_words(terms)}."]
        write("".join(f"{printable(line)}\n" for line in lines))
    else:
        emit(plan, form, Rows(("promised",), [(str(terms is not None).lower(),)]))
    if terms is None:
        raise typer.Exit(Exit.DEADLINE)


def promise_lines_of(promise: WorkflowPromiseView, accept: str, *, cancelled: bool = False) -> Iterator[str]:
    """Yield the decision for a common promise; `accept`: the command that accepts an offer, empty after the end."""
    if promise.terms is not None:
        yield f"Promised: {_words(promise.terms)}."
        if cancelled and promise.status != DeadlineStatus.MISSED:
            yield "It was cancelled before."
        elif promise.status in _STANDS:
            yield _STANDS[promise.status]
        for risk in promise.risks:
            yield f"{risk_words(risk.model_dump(), risk.step)}."
    elif promise.why:
        yield f"It cannot be promised: {promise.why}."
    for offer in promise.offers:
        yield f"{offer_words(offer.model_dump(), _words(offer.terms))}."
    if accept and promise.offers and promise.ends_s is not None and time.time() < promise.ends_s:
        yield f"`{accept} NUMBER` accepts one until {in_full(promise.ends_s)}."


def _words(terms: WorkflowTermsView) -> str:
    price = "" if terms.price is None else f", for about {terms.price} {terms.currency}"
    return f"all of it ends by {in_full(terms.finish_s)} with {terms.confidence:.0%} confidence{price}"


def _is_undecided(made: WorkflowView | ArrayView) -> bool:
    promise = made.promise
    return made.ended_at_s is None and promise is not None and promise.terms is None and not promise.why
