"""statement, budget: what executions cost."""

from __future__ import annotations

import time
from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import Format, emit, note, write
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.wire import BudgetList, StatementView
from zoe_client.words.times import zone_of


class _Form(StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    examples = (
        "zoe statement",
        "zoe statement --month 2026-11 -o csv > statement.csv",
        "zoe statement --month 2026-11 --tenant red -o json",
    )
    add(app, "statement", statement, examples, results=False)
    add(app, "budget", budget, ("zoe budget",))


def statement(
    context: typer.Context,
    month: Annotated[
        str | None, typer.Option(metavar="MONTH", help="Month, such as 2026-11.", show_default="this month")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="TENANT", help="Tenant, `*` for all; operators only (default: yours).")
    ] = None,
    form: Annotated[
        _Form | None, typer.Option("--output", "-o", help="Output format; csv: one line each.", show_default=False)
    ] = None,
) -> None:
    """Show what executions cost in a month: your own, or all of a tenant for operators.

    UNUSED is the part of the amount for resources that were reserved and not used, if samples exist.
    """
    wanted = month or time.strftime("%Y-%m", time.gmtime())
    with options(context).client() as client:
        if form is _Form.CSV:
            write(client.statement_csv(wanted, tenant))
            return
        found = client.statement(wanted, tenant)
    shown = options(context).output if form is None else Format(form.value)
    emit(found, shown, _rows(found))
    for text in found.gaps:
        note(f"note: {text}")
    if shown is Format.TABLE:
        state = "closed" if found.closed else f"until {_moment(found.until_s, found.zone)}"
        note(f"total of {found.month} in {found.zone} ({state}): {found.total} {found.currency or ''}".rstrip())


def budget(context: typer.Context) -> None:
    """Show your budget and your tenant's, and how much of them is spent this month."""
    with options(context).client() as client:
        found = client.budgets()
    emit(found, options(context).output, budget_rows(found))


def budget_rows(found: BudgetList) -> Rows:
    """Return budgets as a table."""
    rows = [
        (
            budget.tenant,
            budget.user or "",
            budget.spent,
            budget.amount,
            budget.currency or "",
            budget.hourly,
            _then(budget.refuses),
        )
        for budget in found.budgets
    ]
    return Rows(("tenant", "user", "spent", "budget", "currency", "an hour", "then"), rows)


def _then(refuses: bool) -> str:
    return "refuses" if refuses else "warns"


def _moment(at_s: float, zone: str) -> str:
    """Return a border of a line's period in the zone of the price lists."""
    return datetime.fromtimestamp(at_s, zone_of(zone)).strftime("%Y-%m-%d %H:%M")


def _rows(found: StatementView) -> Rows:
    columns = (
        "tenant",
        "user",
        "application",
        "meter",
        "from",
        "to",
        "quantity",
        "rate",
        "amount",
        "discount",
        "credit",
        "total",
        "unused",
    )
    rows = [
        (
            *(line.tenant, line.user, line.application, line.meter + (f" {line.device}" if line.device else "")),
            *(_moment(line.from_s, found.zone), _moment(line.to_s, found.zone)),
            *(
                line.quantity,
                line.rate or "none",
                line.amount or "",
                line.discount,
                line.credit,
                line.total,
                line.unused or "",
            ),
        )
        for line in found.lines
    ]
    return Rows(columns, rows)
