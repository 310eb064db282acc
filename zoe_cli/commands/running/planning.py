"""plan: predict the start and end of an application without submitting it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from zoe_cli.commands.running.submitting import Array, Deadline, counting_instances
from zoe_cli.commands.watching.promising import Budget, Confidence, FinishBy, PromiseOptions, RunTime
from zoe_cli.commands.words import dates
from zoe_cli.commands.words.changes import change_words, own_use_words
from zoe_cli.commands.words.documents import File, Settings, load_description, set_in
from zoe_cli.commands.words.promise_words import offer_lines, terms_words
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit, note, write
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import clock, duration
from zoe_client.vocabulary import DeadlineOutlook, ReasonCode
from zoe_client.wire import ArrayPlanView, EstimateView, PlanView, PromiseOutlookView, RunTimeView
from zoe_client.words.instances import instances_words


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "plan",
        plan,
        (
            "zoe plan app.json",
            "zoe plan app.json --set worker.resources.memory=4GiB",
            "zoe plan app.json --deadline 08:00",
            "zoe plan app.json --finish-by 08:00 --confidence 95% --budget 12",
            "zoe plan app.json --array 0-199%20",
            "zoe plan app.json --array 0-199%20 --finish-by +3h --run-time 10m",
        ),
    )


def plan(
    context: typer.Context,
    file: File,
    settings: Settings = None,
    priority: Annotated[
        int | None, typer.Option(help="Priority; executions with a higher one are considered first.")
    ] = None,
    deadline: Deadline = None,
    finish_by: FinishBy = None,
    confidence: Confidence = None,
    budget: Budget = None,
    run_time: RunTime = None,
    array: Array = None,
) -> None:
    """Show whether an application would start now; if not, when and why, and what would help; whether it would meet its
    deadline; and how much of an array would start, or be promised. Nothing is submitted.
    """
    if finish_by is not None and deadline is not None:
        raise typer.BadParameter("give --deadline or --finish-by, not both")
    document = set_in(load_description(file), settings)
    document = PromiseOptions(finish_by, confidence, budget, run_time).put_in(document)
    if array is not None and finish_by is not None:
        _print_array_plan(context, counting_instances(document), array, priority, finish_by)
        return
    if array is not None:
        document = counting_instances(document)
    print_plan(context, document, priority, deadline if finish_by is None else finish_by, array)


def _print_array_plan(
    context: typer.Context, document: dict[str, Any], indices: str, priority: int | None, finish_by: str
) -> None:
    from zoe_cli.commands.watching.workflow_promises import print_common_plan

    by = dates.requested_deadline(finish_by)[1]
    with options(context).client() as client:
        found = client.arrays.plan(document, indices, finish_by=by, priority=priority)
    print_common_plan(context, found)


def print_plan(
    context: typer.Context,
    document: dict[str, Any],
    priority: int | None,
    deadline: str | None = None,
    array: str | None = None,
) -> None:
    """Print the plan for a description; exit with DEADLINE if its deadline cannot be met, with WOULD_WAIT if it would
    not start now.
    """
    by = None if deadline is None else dates.requested_deadline(deadline)[1]
    with options(context).client() as client:
        answer = client.plan(document, priority=priority, deadline=by, indices=array)
    for text in answer.notes:
        note(f"note: {text}")
    if answer.price is not None:
        for text in answer.price.gaps:
            note(f"note: {text}")
    form = options(context).output
    if form is Format.TABLE:
        write("".join(f"{printable(line)}\n" for line in _sentences(answer)))
    else:
        emit(answer, form, Rows(("starts now",), [(str(answer.starts_now).lower(),)]))
    if answer.promise is not None:
        if answer.promise.terms is None:
            raise typer.Exit(Exit.DEADLINE)
        return
    if answer.deadline is not None and answer.deadline.outlook is DeadlineOutlook.CANNOT_BE_MET:
        raise typer.Exit(Exit.DEADLINE)
    if not answer.starts_now:
        raise typer.Exit(Exit.WOULD_WAIT)


_NEWEST = 64  # the newest runs of each kind
_BASIS = {
    "expected": "for its expected run time of {}",
    "forecast": "for the run time of {} that is forecast",
    "time_limit": "if it runs until its time limit of {}",
}


def price_words(price: EstimateView) -> str:
    """Return the price as part of a sentence."""
    if price.basis == "hour":
        return f"about {price.amount} {price.currency} an hour; the total is unknown, as its run time is"
    return f"about {price.amount} {price.currency} {_BASIS[price.basis].format(duration(price.run_s))}"


def _sentences(answer: PlanView) -> Iterator[str]:
    if answer.price is not None:
        yield f"With all services, it would cost {price_words(answer.price)}."
    if answer.array is not None:
        yield from _array(answer.array)
    yield from _start(answer)
    if answer.promise is not None:
        yield from _promise(answer.promise)
    elif answer.deadline is not None:
        yield answer.deadline.sentence
    yield from _run_times(answer.run_times)


def _array(found: ArrayPlanView) -> Iterator[str]:
    """Say how many indices would start now; the sentences after these are about one index."""
    bound = "" if found.at_once is None else f", at most {found.at_once:,} at once"
    indices = "1 index" if found.count == 1 else f"{found.count:,} indices"
    waiting = found.count - found.starts
    yield f"Of {indices}{bound}, {found.starts:,} would start now and {waiting:,} would wait."
    if found.starts and found.reason is not None:
        yield f"The next one would wait: {found.reason.sentence}"
    yield "For each index:"


def _promise(found: PromiseOutlookView) -> Iterator[str]:
    if found.terms is not None:
        yield f"It would be promised: {terms_words(found.terms.model_dump())}."
    if found.offers is not None:
        yield from offer_lines(found.offers.model_dump())


def _run_times(choices: Sequence[RunTimeView]) -> Iterator[str]:
    if not choices:
        return
    samples = choices[0].samples
    runs = "1 run" if samples == 1 else f"newest {samples} runs" if samples >= _NEWEST else f"{samples} runs"
    yield f"Run time, by your {runs} that ended:"
    for choice in choices:
        price = "" if choice.price is None else f", about {choice.price.amount} {choice.price.currency}"
        wide = "; a guess: few runs, or none with about as many cores" if choice.wide else ""
        with_what = (
            f"{choice.elastic} elastic {'service' if choice.elastic == 1 else 'services'}, {choice.cores:g} cores"
        )
        p50, p90 = duration(choice.p50_s), duration(choice.p90_s)
        yield f"  with {with_what}: 50 % within {p50}, 90 % within {p90}{price}{wide}"


def _instances(answer: PlanView) -> Iterator[str]:
    for count in answer.instances:
        words = instances_words(count.given, count.preferred, count.total)
        yield f"Instances of {count.component} at the start: {words}."
    if answer.fewer is not None:
        yield f"Fewer than preferred: {answer.fewer.sentence}"


def _start(answer: PlanView) -> Iterator[str]:
    if answer.starts_now:
        yield "It would start now."
        yield from _instances(answer)
        return
    if answer.reason is not None:
        yield f"It would wait: {answer.reason.sentence}"
        if answer.reason.code == ReasonCode.WINDOW_AHEAD:
            yield f"Way on: {answer.reason.hint}."
            return
    if answer.own_use is not None:
        yield own_use_words(answer.own_use, None if answer.forecast is None else answer.forecast.start_p50_s)
    if answer.ahead:
        yield f"Executions ahead of it: {answer.ahead}."
    forecast = answer.forecast
    if forecast is not None and forecast.start_p50_s is not None and forecast.start_p90_s is not None:
        if forecast.start_p50_s <= time.time():
            yield f"It is expected to start soon, 90 % likely by {clock(forecast.start_p90_s)}."
        else:
            p50, p90 = clock(forecast.start_p50_s), clock(forecast.start_p90_s)
            yield f"It is 50 % likely to start by {p50}, and 90 % likely by {p90}."
    if answer.change is not None:
        yield f"It would start now with {change_words(answer.change)}."
    elif answer.change_sought:
        yield "No smaller number of essential services would start now."
    else:
        yield f"Not all smaller applications were tried: {_cut_words(answer)}."
    if forecast is not None and forecast.extrapolated and answer.cut_after_steps is not None:
        yield f"The forecast was cut after {answer.cut_after_steps:,} steps, and extrapolated from there."


def _cut_words(answer: PlanView) -> str:
    steps = answer.cut_after_steps
    return "the queue is very long" if steps is None else f"the search was cut after {steps:,} steps"
