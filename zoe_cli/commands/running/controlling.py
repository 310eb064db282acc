"""hold, release, requeue, scale, modify: control submitted executions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from zoe_cli.commands.words import dates
from zoe_cli.commands.words.arguments import Id, Ids, for_each
from zoe_cli.commands.words.array_rows import all_rows, is_array
from zoe_cli.commands.words.dates import coming, duration
from zoe_cli.commands.words.documents import Settings, set_in
from zoe_cli.commands.words.views import rows_of
from zoe_cli.context import options
from zoe_cli.exits import exit_of
from zoe_cli.output import Format, emit, note, report
from zoe_cli.registry import add, add_hint
from zoe_client.errors import NotFound, Refused, ZoeError
from zoe_client.quick.plain import Array, Execution
from zoe_client.quick.quick import QuickClient
from zoe_client.vocabulary import ACTIVE_STATES, TERMINAL_STATES, IndexState

if TYPE_CHECKING:
    from zoe_client.wire import ArraySummary

_NONE = "none"
MEMBER = re.compile(r"(a[0-9a-z]+)_(\d{1,9})")
_Action = Literal["cancel", "hold", "release", "requeue"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "hold", hold, ("zoe hold x1m7xhnzn3f4144",))
    add(app, "release", release, ("zoe release x1m7xhnzn3f4144",))
    add(app, "requeue", requeue, ("zoe requeue x1m7xhnzn3f4144",))
    add(app, "scale", scale, ("zoe scale x1m7xhnzn3f4144 worker=8",))
    examples = (
        "zoe modify x1m7xhnzn3f4144 --priority 10",
        "zoe modify x1m7xhnzn3f4144 --time-limit 4h --set main.resources.memory=8GiB",
        "zoe modify x1m7xhnzn3f4144 --begin 22:00",
    )
    add(app, "modify", modify, examples)


def hold(context: typer.Context, execution_ids: Ids) -> None:
    """Keep waiting executions or whole arrays out of the queue until they are released."""
    apply_to_each(context, execution_ids, "hold")


def release(context: typer.Context, execution_ids: Ids) -> None:
    """Let held executions and arrays into the queue."""
    with options(context).quick() as client:
        for one in execution_ids:
            _note_unless_held(client, one)
    apply_to_each(context, execution_ids, "release")


def _note_unless_held(client: QuickClient, unit_id: str) -> None:
    """Say that a release changes nothing; what cannot be released is refused later, with its reason."""
    with suppress(ZoeError):
        if is_array(unit_id):
            array = client.sdk.arrays.array(unit_id)
            held, state = array.conditions is not None and array.conditions.held is not None, array.state.value
        else:
            execution = client.execution(unit_id)
            conditions, state = execution["conditions"], execution["state"]
            held = conditions is not None and conditions["held"] is not None
        if not held and state not in TERMINAL_STATES:
            note(f"{unit_id} is not held: it stays {state}")


def requeue(
    context: typer.Context,
    execution_ids: Ids,
    hold: Annotated[bool, typer.Option("--hold", help="Hold them before their next attempt; not for arrays.")] = False,
) -> None:
    """Stop running executions and queue them for another attempt, which does not count against their retries.

    For an array, run failed and cancelled indices again.
    """
    if hold and (arrays := [id_ for id_ in execution_ids if is_array(id_)]):
        raise typer.BadParameter(f"--hold is not for arrays; hold the array first: zoe hold {arrays[0]}")
    requeue_each(context, execution_ids, held=hold)


def requeue_each(context: typer.Context, ids: Sequence[str], *, held: bool = False) -> None:
    """Requeue executions and arrays, and say which arrays have nothing to run again."""
    with options(context).quick() as client:
        for array_id in filter(is_array, ids):
            with suppress(ZoeError):  # what cannot be requeued is refused below, with its reason
                note_if_none_failed(client.sdk.arrays.array(array_id))
    apply_to_each(context, ids, "requeue", held=held)


def note_if_none_failed(array: ArraySummary) -> None:
    """Say that a requeue of an array changes nothing."""
    if not any(array.counts.get(state) for state in (IndexState.FAILED, IndexState.CANCELLED)):
        note(f"no index of {array.id} has failed or was cancelled: nothing runs again")


def scale(
    context: typer.Context,
    execution_id: Id,
    counts: Annotated[list[str], typer.Argument(metavar="COMPONENT=N", help="How many instances of a component.")],
) -> None:
    """Change the number of instances of a running execution: elastic services start when there is room, or stop."""
    total_counts = dict(_count(text) for text in counts)
    if len(total_counts) < len(counts):
        raise typer.BadParameter("a component is named twice")
    with options(context).quick() as client:
        before = client.execution(execution_id)
        execution = client.scale(execution_id, total_counts)
    if execution["version"] == before["version"]:
        note(f"{execution_id} has these numbers of instances already")
    elif execution["state"] not in ACTIVE_STATES:
        note(f"{execution_id} waits: the new numbers of instances count once it starts")
    emit(execution, options(context).output, rows_of([execution]))


def _count(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not name or not (number.isascii() and number.isdecimal()):
        raise typer.BadParameter(f"{text!r} is not COMPONENT=N")
    if len(number) > len("10000"):
        raise typer.BadParameter(f"{text!r}: a component has at most 10000 instances")
    return name, int(number)


def modify(
    context: typer.Context,
    execution_ids: Ids,
    priority: Annotated[int | None, typer.Option(help="New priority.")] = None,
    deadline: Annotated[
        str | None,
        typer.Option(metavar="TIME|none", help="When it should have ended: +3h, 08:00 (the next), or a date."),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(metavar="TIME|none", help="When it may enter the queue: +3h, 08:00 (the next), or a date."),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option("--time-limit", metavar="DURATION|none", help="Longest run time.")
    ] = None,
    settings: Settings = None,
) -> None:
    """Change waiting executions: priority, deadline, begin, time limit, and component settings."""
    changes: dict[str, Any] = {}
    if priority is not None:
        changes["priority"] = priority
    if deadline is not None:
        changes |= {"deadline_s": None} if deadline == _NONE else {"deadline": dates.deadline(deadline)}
    if begin is not None:
        changes["begin_at_s"] = None if begin == _NONE else coming(begin)
    if time_limit is not None:
        changes["time_limit_s"] = None if time_limit == _NONE else duration(time_limit)
    if not changes and not settings:
        raise typer.BadParameter("say what to change: --priority, --deadline, --begin, --time-limit or --set")
    for_each(context, execution_ids, partial(_modify, context, changes, settings))


def _modify(context: typer.Context, changes: dict[str, Any], settings: list[str] | None, execution_id: str) -> None:
    version: int | None = None
    with options(context).quick() as client:
        if settings:
            read = client.execution(execution_id)
            version = read["version"]
            changes = {**changes, "application": set_in(dict(read["description"]), settings)}
        execution = client.modify(execution_id, changes, version)
    emit(execution, options(context).output, rows_of([execution]))


def _cancel_member(
    client: QuickClient, execution_id: str, member: re.Match[str], done: list[Execution], arrays: list[Array]
) -> None:
    """Cancel the execution of an index, or the index if it has not begun and therefore has no execution."""
    try:
        done.append(client.control(execution_id, "cancel"))
    except NotFound as unknown:
        try:
            arrays.append(client.cancel_indices(member[1], member[2]))
        except NotFound:
            raise unknown from None


def apply_to_each(context: typer.Context, ids: Sequence[str], action: _Action, *, held: bool = False) -> None:
    """Apply an action to each execution or array, report each refusal, and fail with the code of the first."""
    done: list[Execution] = []
    arrays: list[Array] = []
    refused: Refused | None = None
    with options(context).quick() as client:
        for execution_id in ids:
            try:
                if is_array(execution_id):
                    arrays.append(client.control_array(execution_id, action))
                elif held:
                    done.append(client.requeue_held(execution_id))
                elif action == "cancel" and (member := MEMBER.fullmatch(execution_id)):
                    _cancel_member(client, execution_id, member, done, arrays)
                else:
                    done.append(client.control(execution_id, action))
            except Refused as error:
                note(f"{execution_id}:")
                add_hint(context, error)
                report(error)
                refused = refused or error
    result = {"executions": done, "arrays": arrays} if arrays else {"executions": done}
    if not done and not arrays and options(context).output is Format.TABLE:
        raise typer.Exit(exit_of(refused) if refused is not None else 0)
    emit(result, options(context).output, all_rows(arrays, done) if arrays else rows_of(done))
    if refused is not None:
        raise typer.Exit(exit_of(refused))
