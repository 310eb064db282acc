"""storage history: requests of executions to the object store, with their rules, over time."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import Format, emit, note, table, write
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import clock, duration, megabytes, rate
from zoe_client.wire import ExecutionStorageView, StoragePointView

_BAR = 40
_HOUR_S = 3600.0


def history(
    context: typer.Context,
    execution: Annotated[
        str | None, typer.Argument(metavar="[EXECUTION]", help="An execution (default: all executions of a tenant).")
    ] = None,
    hours: Annotated[float, typer.Option(min=0.01, max=168, help="Length of the window, in hours.")] = 1.0,
    tenant: Annotated[
        str | None, typer.Option(help="Tenant (default: yours); another than your own needs an operator.")
    ] = None,
) -> None:
    """Show requests of executions to the object store, the rules applied, and bytes over time. History is kept for a
    week.
    """
    form = options(context).output
    with options(context).client() as client:
        if execution is not None:
            one = client.execution_storage(execution)
            emit(one, form, _requests(one)) if form is not Format.TABLE else _show(one)
            return
        answer = client.storage_history(time.time() - hours * _HOUR_S, tenant=tenant)
    if form is not Format.TABLE:
        emit(answer, form, _executions(answer.executions, answer.from_s, answer.to_s))
        return
    if not answer.executions:
        note(f"No execution of {answer.tenant} moved bytes in the last {duration(hours * _HOUR_S)}.")
        return
    write(table(_executions(answer.executions, answer.from_s, answer.to_s)))


def _show(one: ExecutionStorageView) -> None:
    write(f"{printable(one.name)} of {printable(one.user)} ({printable(one.tenant)}), {one.state}\n\n")
    if not one.requests:
        note("No requests of this execution are recorded: it had no credential of its own, or they are too old.")
        return
    write(table(_requests(one)))
    if one.rules:
        met = [(_number(r.rule), r.filter, r.way, str(r.requests)) for r in one.rules]
        write("\n" + table(Rows(("rule", "filter", "way", "requests"), met)))
    if one.points:
        rows = [(clock(p.at_s), *(_rate(amount, one.stretch_s) for amount in _amounts(p))) for p in one.points]
        write("\n" + table(Rows(("from", "read", "written"), rows)))


def _requests(one: ExecutionStorageView) -> Rows:
    heads = ("method", "container", "requests", "refused", "read", "written", "cpu")
    rows = [
        (
            *(r.method, r.container, str(r.done + r.refused), str(r.refused)),
            *(_size(r.read_bytes), _size(r.written_bytes), f"{r.cpu_s:.2f} s" if r.cpu_s else ""),
        )
        for r in one.requests
    ]
    return Rows(heads, rows)


def _executions(executions: list[ExecutionStorageView], from_s: float, to_s: float) -> Rows:
    heads = ("execution", "name", "user", "read", "written", "rules", "time")
    return Rows(heads, [_row(execution, from_s, to_s) for execution in executions])


def _row(one: ExecutionStorageView, from_s: float, to_s: float) -> tuple[str, ...]:
    read, written = (sum(amounts) for amounts in zip(*map(_amounts, one.points), strict=True)) if one.points else (0, 0)
    rules = ", ".join(sorted({f"{_number(r.rule)} {r.filter}".strip() for r in one.rules}))
    return one.execution_id, one.name, one.user, _size(read), _size(written), rules, _bar(one, from_s, to_s)


def _bar(one: ExecutionStorageView, from_s: float, to_s: float) -> str:
    """Return the life of an execution on the common axis: `-` while it ran, `#` while it moved bytes."""
    place_s = (to_s - from_s) / _BAR
    begin_s, end_s = one.placed_s or from_s, one.ended_s or to_s

    def mark(at: int) -> str:
        from_, to = from_s + at * place_s, from_s + (at + 1) * place_s
        if any(point.at_s < to and point.at_s + one.stretch_s > from_ for point in one.points):
            return "#"
        return "-" if begin_s < to and end_s > from_ else "."

    return "".join(map(mark, range(_BAR)))


def _number(rule: int | None) -> str:
    return "" if rule is None else str(rule)


def _amounts(point: StoragePointView) -> tuple[int, int]:
    return point.read_bytes, point.written_bytes


def _size(count: int) -> str:
    return megabytes(count)


def _rate(count: int, seconds: float) -> str:
    return rate(round(count / seconds))
