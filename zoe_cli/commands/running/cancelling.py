"""cancel: cancel executions by id, by name and state, or with the descendants of a job."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from zoe_cli.commands.running.controlling import MEMBER, apply_to_each
from zoe_cli.commands.words.arguments import OptionalIds
from zoe_cli.commands.words.array_rows import all_rows, counts_text, is_array
from zoe_cli.commands.words.list_options import States
from zoe_cli.context import on_terminal, options
from zoe_cli.exits import Exit, exit_of
from zoe_cli.output import Format, emit, note, report
from zoe_cli.registry import add, add_hint
from zoe_cli.rows import Rows
from zoe_client.errors import Conflict, NotFound, Refused
from zoe_client.quick.plain import Array
from zoe_client.quick.quick import QuickClient
from zoe_client.vocabulary import TERMINAL_STATES, ExecutionState, IndexState, ReasonCode
from zoe_client.words.state_choices import StateChoice, states_of

_PAGE = 500
# Each pass cancels executions that began since the last one; cancel a faster loop with its descendants.
_PASSES_MAX = 20


# What may still be cancelled; `stopping` is on its way already.
_OPEN = tuple(state.value for state in ExecutionState if state not in TERMINAL_STATES | {ExecutionState.STOPPING})
_OF_INDICES = frozenset({StateChoice.WAITING, StateChoice.PENDING, StateChoice.SUBMITTED})
"""Words for indices of arrays that have not begun."""
_SHOWN_MAX = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = (
        "zoe cancel x1m7xhnzn3f4144",
        "zoe cancel a1m7xhnzn3f4144 --index 3-5,9",
        "zoe cancel x1m7xhnzn3f4144 --descendants",
        "zoe cancel --name sweep --state waiting",
        "zoe cancel --mine",
    )
    add(app, "cancel", cancel, examples)


def cancel(
    context: typer.Context,
    execution_ids: OptionalIds = None,
    index: Annotated[
        str | None, typer.Option(help="Only these indices of an array, such as 3-5,9, even if they have not begun.")
    ] = None,
    descendants: Annotated[
        bool,
        typer.Option(
            "--descendants",
            help="Also cancel all that they and their descendants submitted as jobs. They cannot submit any more, "
            "so a job that submits its successor ends for good, even if the named one has ended.",
        ),
    ] = False,
    name: Annotated[str | None, typer.Option(help="Your executions and arrays with this name.")] = None,
    state: States = None,
    mine: Annotated[bool, typer.Option("--mine", help="All your waiting and running executions and arrays.")] = False,
    user: Annotated[
        str | None,
        typer.Option(
            metavar="USER", help="Those of this user, in all tenants; for operators. With --name or --state, too."
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask on a terminal before --name, --state, --mine or --user act.")
    ] = False,
) -> None:
    """Cancel executions or whole arrays; those already stopping are skipped."""
    ids, by_filter = execution_ids or [], name is not None or state is not None or mine or user is not None
    if bool(ids) == by_filter:
        raise typer.BadParameter("give ids, or choose yours by --name, --state or --mine, or a user's by --user")
    if mine and user is not None:
        raise typer.BadParameter("give --mine or --user, not both")
    if index is not None and (by_filter or descendants or len(ids) != 1 or not is_array(ids[0])):
        raise typer.BadParameter("--index is for one array")
    if by_filter:
        if state and not (states_of(state) - TERMINAL_STATES) and StateChoice.HELD not in state:
            raise typer.BadParameter("what has ended cannot be cancelled", param_hint="--state")
        _cancel_matching(context, _Chosen(name, tuple(state or ()), user), descendants, yes=yes)
    elif descendants:
        _families(context, ids)
    elif index is None:
        apply_to_each(context, ids, "cancel")
    else:
        with options(context).quick() as client:
            array = client.cancel_indices(ids[0], index)
        emit(array, options(context).output, all_rows([array], []))


def _families(context: typer.Context, ids: Sequence[str]) -> None:
    """Cancel each with its descendants, report each refusal, and fail as the first one."""
    done: list[str] = []
    refused: Refused | None = None
    with options(context).quick() as client:
        for id_ in ids:
            try:
                done += client.sdk.cancel_descendants(id_).ids
            except Refused as error:
                note(f"{id_}:")
                add_hint(context, error)
                report(error)
                refused = refused or error
    _print_ids(context, done)
    if refused is not None:
        raise typer.Exit(exit_of(refused))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Which executions and arrays; user: None for the caller's."""

    name: str | None
    states: tuple[str, ...]
    user: str | None


@dataclass(frozen=True, slots=True)
class _Found:
    """An execution, an array, or indices of one; shown: its name and state."""

    id: str
    shown: str


def _cancel_matching(context: typer.Context, chosen: _Chosen, descendants: bool, *, yes: bool) -> None:
    """Cancel matching executions until a pass finds none, since jobs may submit others meanwhile. On a terminal, list
    the first ones and ask.
    """
    done: list[str] = []
    seen: set[str] = set()
    with options(context).quick() as client:
        whose = {"user": client.sdk.me().user if chosen.user is None else chosen.user}
        if chosen.user is not None:
            whose["all_tenants"] = "true"
        for _ in range(_PASSES_MAX):
            found = [one for one in _matching(client, whose, chosen) if one.id not in seen]
            if not found:
                break
            if not seen and not yes:
                _ask(found)
            for one in found:
                seen.add(one.id)
                done += [text for text in _cancel_one(client, one.id, descendants) if text not in done]
        else:
            note("zoe: new ones are submitted faster than they are cancelled: zoe cancel ID --descendants")
            _print_ids(context, done)
            raise typer.Exit(Exit.CONFLICT)
        if not done and chosen.user is not None and not _has_any(client, whose):
            note(f"zoe: no user {chosen.user} has ever submitted anything here; see zoe ls --user")
            raise typer.Exit(Exit.NOT_FOUND)
    _print_ids(context, done)


def _has_any(client: QuickClient, whose: Mapping[str, str]) -> bool:
    """Return whether there are executions or arrays of this user, ended ones included."""
    return bool(client.executions(**whose, limit=1)["executions"] or client.arrays(**whose, limit=1)["arrays"])


def _cancel_one(client: QuickClient, one: str, descendants: bool) -> list[str]:
    """Return the cancelled ids; none if it has ended meanwhile."""
    try:
        if descendants and not MEMBER.fullmatch(one):
            return [one, *(other for other in client.sdk.cancel_descendants(one).ids if other != one)]
        array_id, _, indices = one.partition("_")
        if is_array(one):
            client.control_array(one, "cancel")
        elif is_array(array_id):
            client.cancel_indices(array_id, indices)
        else:
            client.control(one, "cancel")
    except (Conflict, NotFound):
        return []
    return [one]


def _ask(found: Sequence[_Found]) -> None:
    """On a terminal, show what would be cancelled, and end unless the user agrees."""
    if not (sys.stdin.isatty() and on_terminal()):
        return
    for one in found[:_SHOWN_MAX]:
        note(f"{one.id}  {one.shown}")
    if len(found) > _SHOWN_MAX:
        note(f"and {len(found) - _SHOWN_MAX} more")
    typer.confirm("Cancel it?" if len(found) == 1 else f"Cancel these {len(found)}?", abort=True, err=True)


def _matching(client: QuickClient, whose: Mapping[str, str], chosen: _Chosen) -> Iterator[_Found]:
    """Yield the user's open executions and arrays; indices of arrays if states are chosen."""
    name, states = chosen.name, frozenset(chosen.states)
    for array in _pages(client.arrays, "arrays", **whose, open="true"):
        if name is not None and array["name"] != name:
            continue
        shown = f"{array['name']}, {counts_text(array['counts'], array['active_states'])}"
        if not states:
            yield _Found(array["id"], shown)
        elif (states & _OF_INDICES or _is_held(array, states)) and (indices := _waiting(client, array["id"])):
            yield _Found(f"{array['id']}_{indices}", shown)
    query = {**whose, "name": name, "state": chosen.states or _OPEN, "arrays": None if states else "false"}
    for execution in _pages(client.executions, "executions", **query):
        if (name is None or execution["name"] == name) and execution["state"] in _OPEN:
            yield _Found(execution["id"], f"{execution['name']}, {execution['state']}")


def _is_held(array: Array, states: Collection[str]) -> bool:
    reason = array["reason"]
    return StateChoice.HELD in states and reason is not None and reason["code"] == ReasonCode.HELD


def _waiting(client: QuickClient, array_id: str) -> str:
    """Return the indices that have not begun; the next pass gets the rest of a truncated list."""
    return client.sdk.arrays.array(array_id).ranges.get(IndexState.WAITING, "").removesuffix(",...")


def _pages(ask: Any, kind: str, **query: Any) -> Iterator[Any]:
    cursor = None
    while True:
        page = ask(**query, limit=_PAGE, cursor=cursor)
        yield from page[kind]
        if (cursor := page["next_cursor"]) is None:
            return


def _print_ids(context: typer.Context, ids: Sequence[str]) -> None:
    """Print the cancelled ids."""
    if not ids and options(context).output is Format.TABLE:
        note("zoe: nothing of it was active")
        return
    emit({"ids": list(ids)}, options(context).output, Rows(("cancelled",), [(id_,) for id_ in ids]))
