"""history: ended executions, their outcomes and their use of resources."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from zoe_cli.commands.words.dates import since
from zoe_cli.commands.words.states import states_option
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock, duration, size
from zoe_client import Client
from zoe_client.vocabulary import TERMINAL_STATES, DeadlineStatus, Mark
from zoe_client.wire import ExecutionSummary, ExecutionUseView
from zoe_client.words.state_choices import StateChoice

_PAGE_MAX = 100
_COLUMNS = (
    *("id", "name", "user", "state", "exit", "submitted", "waited", "ran", "try", "deadline"),
    *("cpu", "of reserved", "memory", "of reserved", "price", "unused"),
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = (
        "zoe history --since 1d",
        "zoe history --since 2026-11-01 --state failed",
        "zoe history -n 500 -o json | jq '.executions[] | select(.cpu_efficiency != null and .cpu_efficiency < 0.1)'",
    )
    add(app, "history", history, examples)


def history(
    context: typer.Context,
    begin: Annotated[
        float | None,
        typer.Option(
            "--since", parser=since, metavar="TIME", help="Submitted since this time: 90m, 12h, 3d or a date."
        ),
    ] = None,
    state: Annotated[
        list[str] | None,
        states_option(StateChoice, "Only in these states, such as failed,cancelled; may be repeated."),
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only executions of this user.")] = None,
    name: Annotated[str | None, typer.Option(help="Only names that contain this text.")] = None,
    missed: Annotated[bool, typer.Option("--missed", help="Only executions that missed their deadline.")] = False,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="Executions of all tenants; operators only.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of executions.")] = 50,
) -> None:
    """List ended executions, newest first, with waiting time, run time, and the used share of reservations.

    WAITED and RAN describe the last attempt: time in the queue, and from placement to end; other columns cover all
    attempts. CPU: CPU seconds of all services. MEMORY: the maximum of one service among the stored samples.
    """
    wanted: dict[str, Any] = {
        "states": state or sorted(TERMINAL_STATES),
        "user": user,
        "name": name,
        "submitted_from_s": begin,
        "deadline": DeadlineStatus.MISSED if missed else None,
        "all_tenants": all_tenants,
    }
    with options(context).client() as client:
        found, more = _list_executions(client, wanted, limit)
        used = _use_by_execution(client, [summary.id for summary in found])
    data = [_facts(summary, used.get(summary.id)) for summary in found]
    emit({"executions": data}, options(context).output, Rows(_COLUMNS, [_row(entry) for entry in data]))
    if more:
        note(f"note: there are more; -n {limit * 2} lists twice as many")


def _list_executions(client: Client, wanted: Mapping[str, Any], limit: int) -> tuple[list[ExecutionSummary], bool]:
    found: list[ExecutionSummary] = []
    cursor = None
    while len(found) < limit:
        page = client.executions(**wanted, limit=min(limit - len(found), _PAGE_MAX), cursor=cursor)
        found += page.executions
        cursor = page.next_cursor
        if cursor is None:
            break
    return found, cursor is not None


def _use_by_execution(client: Client, ids: Sequence[str]) -> dict[str, ExecutionUseView]:
    parts = (ids[first : first + _PAGE_MAX] for first in range(0, len(ids), _PAGE_MAX))
    return {use.execution_id: use for part in parts for use in client.use_of(part).use}


def _facts(one: ExecutionSummary, use: ExecutionUseView | None) -> dict[str, Any]:
    """Return the facts about an execution as data; durations in seconds, times in seconds since the epoch."""
    marks = one.marks
    placed_s, ended_s = marks.get(Mark.PLACED), marks.get(Mark.ENDED)
    queued_s = marks.get(Mark.QUEUED, placed_s)
    return {
        "id": one.id,
        "name": one.name,
        "tenant": one.tenant,
        "user": one.user,
        "state": one.state.value,
        "exit_code": one.exit_code,
        "cause": None if one.cause is None else one.cause.value,
        "attempt": one.attempt,
        "deadline_s": one.deadline_s,
        "deadline": None if one.deadline is None or one.deadline.status is None else one.deadline.status.value,
        "deadline_cause": None if one.deadline is None or one.deadline.cause is None else one.deadline.cause.value,
        "submitted_at_s": one.submitted_at_s,
        "started_at_s": marks.get(Mark.STARTED),
        "ended_at_s": ended_s,
        "waited_s": None if placed_s is None or queued_s is None else max(placed_s - queued_s, 0.0),
        "ran_s": one.ran_s,
        "cpu_s": None if use is None else use.cpu_s,
        "reserved_core_s": None if use is None else use.reserved_core_s,
        "cpu_efficiency": None if use is None else _share(use.cpu_s, use.reserved_core_s),
        "memory_peak_bytes": None if use is None else use.memory_peak_bytes,
        "price": None if use is None or use.price is None else use.price.amount,
        "currency": None if use is None or use.price is None else use.price.currency,
        "unused_price": None if use is None else use.unused,
        "memory_efficiency": None if use is None else _share(use.memory_peak_bytes, use.memory_reserved_bytes),
    }


def _share(used: float, reserved: float) -> float | None:
    return used / reserved if used and reserved and math.isfinite(used / reserved) else None


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        *(one["id"], one["name"], one["user"], one["state"], one["exit_code"], clock(one["submitted_at_s"])),
        *(_seconds(one["waited_s"]), _seconds(one["ran_s"]), one["attempt"], _deadline(one)),
        *(_seconds(one["cpu_s"]), _percent(one["cpu_efficiency"])),
        *(size(one["memory_peak_bytes"]) if one["memory_peak_bytes"] else "", _percent(one["memory_efficiency"])),
        *(_money(one["price"], one["currency"]), one["unused_price"] or ""),
    )


def _deadline(one: Mapping[str, Any]) -> str:
    cause = f" ({one['deadline_cause']})" if one["deadline_cause"] else ""
    return f"{one['deadline'] or ''}{cause}"


def _seconds(seconds: float | None) -> str:
    return duration(seconds) if seconds else ""


def _money(amount: str | None, currency: str | None) -> str:
    return "" if amount is None else f"{amount} {currency}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"
