"""explain, eta, why-waited: why an execution waits and how long."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, cast

import typer

from zoe_cli.commands.watching.workflow_promises import array_lines
from zoe_cli.commands.watching.workflow_views import entries_text
from zoe_cli.commands.words.arguments import Id, Ids, for_each
from zoe_cli.commands.words.array_rows import array_rows, counts_text, is_array, is_workflow, plain
from zoe_cli.commands.words.changes import change_words, own_use_words
from zoe_cli.commands.words.deadline_words import deadline_words
from zoe_cli.commands.words.places import places_words
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit, note, table, write
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import clock, duration
from zoe_client.quick.plain import Deadline, InputPlaces
from zoe_client.vocabulary import (
    ACTIVE_STATES,
    TERMINAL_STATES,
    Cause,
    ExecutionState,
    IndexState,
    ReasonCode,
    WaitCause,
)
from zoe_client.wire import ArrayView, DependencyView, Eta, Explanation, ReasonView, WaitShare
from zoe_client.words import documentation
from zoe_client.words.instances import instances_words

if TYPE_CHECKING:
    from zoe_client import Client

WAIT_CAUSES = {
    WaitCause.MASTER: "the master had not yet considered it",
    WaitCause.CONDITIONS: (
        "it was held, was not to begin yet, was to run after others, or its offers waited for an answer"
    ),
    WaitCause.CLUSTER_FULL: "the cluster had no room for its essential services",
    WaitCause.NODES_AWAY: "the nodes that it needs were down, drained or reserved",
    WaitCause.FOREIGN_USE: "programs that Zoe does not run used the nodes' resources",
    WaitCause.OTHERS_AHEAD: "others were ahead by the policy, and the first of them had no room",
    WaitCause.QUOTA: "its tenant had reached a limit",
    WaitCause.STORAGE: (
        "the bandwidth that it requires was not free, or the master was asking the store where its inputs are"
    ),
    WaitCause.IMAGE: "an image was being pulled",
    WaitCause.MAKING_ROOM: "services were leaving its nodes",
    WaitCause.OWN_FAILURE: "it had failed and was waiting for its next attempt",
    WaitCause.POLICY: "one pass considers only a limited number of executions",
    WaitCause.NEVER_FITS: "it could not fit on the present nodes",
}
CONDITIONS: dict[str, str] = {
    ReasonCode.HELD: "it was held",
    ReasonCode.BEGIN_TIME: "it was not to begin yet",
    ReasonCode.DEPENDENCIES: "it was to run after others",
    ReasonCode.PROMISE: "its promise was not decided, or its offers waited for an answer",
}
NODES_AWAY = "the nodes that it needs are down, drained or reserved"
NO_FORECAST: dict[str, str] = {
    ReasonCode.NODES_AWAY: NODES_AWAY,
    ReasonCode.NO_NODES: NODES_AWAY,
    ReasonCode.WINDOW_AHEAD: "it may not have ended when nodes that it needs are drained or reserved",
    ReasonCode.FOREIGN_USE: "programs that Zoe does not run use resources that it needs",
}
_OLD_S = 60.0
# The master keeps at most 100 executions of an array in the queue.
_EXAMINED_MAX = 200
_WAITING_STATES = frozenset(ExecutionState) - ACTIVE_STATES - TERMINAL_STATES
SOURCES = {
    "declared": "as declared",
    "past_runs": "the mean of the most similar past runs of the same program",
    "time_limit": "its time limit",
    "idle": "the time after which it is stopped as unused",
    "unknown": "unknown: neither declared nor limited, and this program has not run before",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "explain", explain, ("zoe explain x1m7xhnzn3f4144", "zoe explain $(zoe ls --state waiting -o name)"))
    add(app, "eta", eta, ("zoe eta x1m7xhnzn3f4144", "zoe eta x1m7xhnzn3f4144 -o json"))
    add(app, "why-waited", why_waited, ("zoe why-waited x1m7xhnzn3f4144",))


def _check_one(unit_id: str) -> None:
    """Exit if an id is that of a workflow, whose executions have reasons and forecasts of their own."""
    if is_workflow(unit_id):
        note(f"zoe: {unit_id} is a workflow: name the execution of a step (zoe workflow show {unit_id})")
        raise typer.Exit(Exit.NOT_FOUND)


def _execution_of(client: Client, unit_id: str, form: Format) -> tuple[str, ArrayView | None]:
    """Return the id of the execution to explain, for an array that of its next index, and the array. Print why the
    array waits, and exit, if none of its indices is in the queue.
    """
    _check_one(unit_id)
    if not is_array(unit_id):
        return unit_id, None
    array = client.arrays.array(unit_id)
    found = client.arrays.indices(unit_id, [IndexState.ACTIVE]) if array.counts.get(IndexState.ACTIVE) else ()
    queued = [index.execution_id for index in islice(found, _EXAMINED_MAX) if index.execution_state in _WAITING_STATES]
    if (next_id := next(iter(queued), None)) is not None and not (array.conditions and array.conditions.held):
        note(f"{unit_id}: {_counts(array)}. Its next execution is {next_id}.")
        return next_id, array
    if form is Format.TABLE:
        _print_lines(_about_array(array))
    else:
        emit(array, form, array_rows([plain(array)]))
    raise typer.Exit


def _print_lines(lines: Iterable[str]) -> None:
    write("".join(f"{printable(line)}\n" for line in lines))


def _counts(array: ArrayView) -> str:
    shown = plain(array)
    return counts_text(shown["counts"], shown["active_states"])


def _about_array(array: ArrayView) -> list[str]:
    """Return why the indices of an array wait, if none of them is in the queue."""
    if array.ended_at_s is not None:
        why = array.message or (array.promise.why if array.promise is not None else "")
        return [ended_words(array.state, array.cause, why if array.state is ExecutionState.FAILED else array.message)]
    lines = [f"Its indices: {_counts(array)}."]
    if array.entries is not None and array.entries.count is None:
        lines.append(f"Its entries: {entries_text(array.entries)}.")
    lines += _of_array(array)
    if array.reason is None:
        waits = array.counts.get(IndexState.WAITING)
        lines.append(
            "The master has not made executions of its waiting indices yet." if waits else "None of them waits."
        )
    return lines


def _of_array(array: ArrayView, shown: ReasonView | None = None) -> Iterator[str]:
    """Yield why an array waits, unless it is shown already, which arrays it runs after, and its promise."""
    offers = array.promise is not None and array.promise.offers
    if array.reason is not None and not offers and (shown is None or array.reason.sentence != shown.sentence):
        yield array.reason.sentence
        yield from [f"Hint: {array.reason.hint}"] if array.reason.hint else []
    after = [] if array.conditions is None else [entry for entry in array.conditions.after if entry.met is None]
    yield from _after(after, array.corr)
    yield from array_lines(array)
    if offers and array.conditions is not None and array.conditions.held is not None:
        yield f"It is held, too; release it with `zoe release {array.id}`."


def _after(after: Sequence[DependencyView], corr: Sequence[str] = ()) -> Iterator[str]:
    """Yield the executions and arrays that must end first."""
    found = [*(f"{entry.kind.value}:{entry.on}" for entry in after), *(f"corr:{one}" for one in corr)]
    if found:
        yield f"Runs after: {', '.join(found)}."


def ended_words(state: ExecutionState, cause: Cause | None, message: str) -> str:
    """Return how an execution or array has ended, or that it does not wait."""
    has = "has" if state in (ExecutionState.SUCCEEDED, ExecutionState.FAILED) else "is"
    why = f", cause {cause}" if cause is not None and state is ExecutionState.FAILED else ""
    return f"It does not wait: it {has} {state.value}{why}{f': {message}' if message else ''}."


def explain(context: typer.Context, execution_ids: Ids) -> None:
    """Explain why an execution is not running, which nodes refuse it and why, and how and where its inputs are read; of
    a placed one, which services do not run as they should. The id of an array stands for its next execution, or for
    all its indices while it has none.
    """
    for_each(context, execution_ids, partial(_explain, context))


def _explain(context: typer.Context, execution_id: str) -> None:
    with options(context).client() as client:
        unit_id, array = _execution_of(client, execution_id, options(context).output)
        answer = client.explain(unit_id)
    form = options(context).output
    rows = [(node, part, text) for node, parts in answer.nodes.items() for part, text in parts.items()]
    refusals = Rows(("node", "component", "refused because"), rows)
    if not answer.detailed:
        why = f": {answer.problem}" if answer.problem else ""
        note(f"note: the master gives no answer on it now{why}; this is the last stored one")
    if form is not Format.TABLE:
        emit(answer, form, refusals)
        return
    if array is not None and array.promise is not None:
        answer.deadline = None  # that of one index; the promise of the array is for all
    _print_lines([*_sentences(answer, execution_id), *(() if array is None else _of_array(array, answer.reason))])
    if rows:
        write("\n" + table(refusals))
    if answer.reason is not None:
        note(f"What each reason means: {options(context).page(documentation.WAITING)}")


def eta(context: typer.Context, execution_ids: Ids) -> None:
    """Show when a waiting execution is expected to start and end, or a running one to end, and how accurate such
    forecasts have been. The id of an array stands for its next execution.
    """
    for_each(context, execution_ids, partial(_eta, context))


def _eta(context: typer.Context, execution_id: str) -> None:
    with options(context).client() as client:
        unit_id, array = _execution_of(client, execution_id, options(context).output)
        answer = client.eta(unit_id)
    forecast = answer.forecast
    rows = []
    if forecast is not None:
        started = answer.state in ACTIVE_STATES
        rows += [] if started else [("start", *_times_text(forecast.start_p50_s, forecast.start_p90_s))]
        rows += [("end", *_times_text(forecast.end_p50_s, forecast.end_p90_s))]
    form, times = options(context).output, Rows(("", "50 % likely by", "90 % likely by"), rows)
    if form is not Format.TABLE:
        emit(answer, form, times)
        return
    if forecast is not None:
        write(table(times) + "\n")
    _print_lines([*_about(answer), *(() if array is None else array_lines(array))])


def why_waited(context: typer.Context, execution_id: Id) -> None:
    """Show the causes of the time before the start; every second of waiting has one."""
    _check_one(execution_id)
    if is_array(execution_id):
        note(f"zoe: {execution_id} is an array: name the execution of an index (zoe array show {execution_id})")
        raise typer.Exit(Exit.NOT_FOUND)
    with options(context).client() as client:
        answer = client.why_waited(execution_id)
    rows = [(_cause_words(share), duration(share.seconds), f"{share.percent} %") for share in answer.causes]
    if not rows:
        note("it did not wait")
    emit(answer, options(context).output, Rows(("cause", "waited", "share"), rows))


def _cause_words(share: WaitShare) -> str:
    return CONDITIONS.get(share.condition or "", WAIT_CAUSES[share.cause])


def _times_text(*times_s: float | None) -> list[str]:
    return [
        "unknown" if at_s is None else clock(at_s) if at_s > time.time() else f"overdue ({clock(at_s)})"
        for at_s in times_s
    ]


def _about(answer: Eta) -> list[str]:
    """Yield the basis of the forecast times."""
    forecast = answer.forecast
    if forecast is None:
        if answer.reason is not None:
            return [f"There is no forecast. {answer.reason.sentence}"]
        return [f"There is no forecast: it {_has_or_is(answer.state)} {answer.state.value}."]
    lines = []
    if forecast.wait_s is None:
        code = "" if answer.reason is None else answer.reason.code
        why = NO_FORECAST.get(code, "an execution ahead of it has no known end")
        lines.append(f"No forecast is possible: {why}.")
    if answer.run_time_source is not None:
        run = "unknown" if forecast.run_s is None else duration(forecast.run_s)
        why = SOURCES[answer.run_time_source].removeprefix("unknown: ")
        lines.append(f"Its expected run time: {run} ({why}).")
    if answer.forecast_age_s is not None and answer.forecast_age_s >= _OLD_S:
        lines.append(f"This was computed {duration(answer.forecast_age_s)} ago: things may have changed since.")
    if forecast.start_p50_s is not None and answer.reason is not None and answer.state not in ACTIVE_STATES:
        lines.append("Executions ahead count with their declared or learned run times, else with their time limits.")
    if forecast.extrapolated:
        lines.append("The queue is too long to simulate all of it; the rest is extrapolated.")
    if answer.told:
        share = f"{100 * answer.held / answer.told:.0f} %"
        lines.append(f"Of {answer.told} earlier forecasts, {share} started by the time given as 90 % likely.")
    if not forecast.samples and (forecast.start_p50_s if answer.state not in ACTIVE_STATES else forecast.end_p50_s):
        lines.append("Too few forecasts have been checked to calibrate them: these times are a rule of thumb.")
    return lines


def _sentences(answer: Explanation, execution_id: str) -> list[str]:
    inputs = (f"Input {read.name}: {read.why}." for read in answer.inputs)
    places = (f"Input {place.name}: {places_words(cast(InputPlaces, place.model_dump()))}." for place in answer.places)
    secrets = [f"It will fail to start: {answer.missing_secrets}."] if answer.missing_secrets else []
    scaling = [f"{answer.scaling_problem[:1].upper()}{answer.scaling_problem[1:]}."] if answer.scaling_problem else []
    services = [f"{one.name} on {one.node}: {one.sentence}." for one in answer.services]
    counts = [*services, *_instances(answer)] if answer.state in ACTIVE_STATES else []
    stored = [*_storage_sentences(answer), *inputs, *places]
    return [*_reason_sentences(answer, execution_id), *_deadline(answer), *counts, *secrets, *scaling, *stored]


def _instances(answer: Explanation) -> Iterator[str]:
    for count in answer.instances:
        yield f"Instances of {count.component}: {instances_words(count.given, count.preferred, count.total)}."
    if answer.fewer is not None:
        yield f"Fewer than preferred: {answer.fewer.sentence}"
        if answer.fewer.hint:
            yield f"Hint: {answer.fewer.hint}"


def _deadline(answer: Explanation) -> list[str]:
    if answer.deadline is None:
        return []
    return [f"Deadline: {deadline_words(cast(Deadline, answer.deadline.model_dump(mode='json')))}."]


def _storage_sentences(answer: Explanation) -> list[str]:
    """Return the part that the reason does not already contain."""
    if answer.reason is not None or not answer.storage_problem:
        return []
    when = "was not granted at its end" if answer.state in TERMINAL_STATES else "is not granted"
    return [f"The requested bandwidth {when}: {answer.storage_problem}"]


def _reason_sentences(answer: Explanation, execution_id: str) -> list[str]:
    if answer.reason is None:
        sentences = [ended_words(answer.state, answer.cause, answer.message)]
        if answer.state is ExecutionState.FAILED and answer.cause is Cause.EXITED:
            sentences.append(f"`zoe show {execution_id}` has its exit code and last lines.")
            sentences.append(f"`zoe logs {execution_id}` prints all of its output.")
        return [*sentences, *(["Some of its services wait for nodes that are not ready."] if answer.nodes else [])]
    unnamed = [entry for entry in answer.after if entry.on not in answer.reason.sentence]
    lines = [answer.reason.sentence, *_after(unnamed)]
    if answer.own_use is not None:
        lines.append(own_use_words(answer.own_use, answer.start_p50_s))
    if answer.ahead:
        lines.append(ahead_words(answer.ahead, answer.ahead_of_tenant, answer.ahead_ids))
    if answer.change is not None:
        lines.append(f"It would start now with {change_words(answer.change)}.")
    elif answer.cut_after_steps is not None:
        steps = f"{answer.cut_after_steps:,}"
        lines.append(
            f"Not all changes with which it might start now were tried: the search was cut after {steps} steps."
        )
    if answer.reason.hint:
        lines.append(f"Hint: {answer.reason.hint}")
    return lines


def _has_or_is(state: ExecutionState) -> str:
    return "has" if state in (ExecutionState.SUCCEEDED, ExecutionState.FAILED) else "is"


def ahead_words(count: int, of_tenant: int, ids: Sequence[str]) -> str:
    """Return how many executions are ahead; `ids`: the first ones of the tenant that the user may see."""
    named = f" ({', '.join(ids)}{', ...' if of_tenant > len(ids) else ''})" if ids else ""
    parts = [f"{of_tenant} of its tenant{named}"] if of_tenant else []
    parts += [f"{count - of_tenant} of other tenants"] if count > of_tenant else []
    return f"{count} {'execution is' if count == 1 else 'executions are'} ahead of it: {', '.join(parts)}."
