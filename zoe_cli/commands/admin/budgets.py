"""admin budget: what tenants and users may spend in a month."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.commands.account.statements import budget_rows
from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.wire import BudgetChange
from zoe_client.words.amounts import money

app = typer.Typer(help="Budgets: what tenants and users may spend in a month.", no_args_is_help=True)
Tenant = Annotated[str, typer.Option(metavar="TENANT", help="Tenant of the budget.")]
User = Annotated[str | None, typer.Option(metavar="USER", help="User in the tenant (default: the tenant as a whole).")]


def _amount(text: str) -> str:
    try:
        return money(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def set_budget(
    context: typer.Context,
    amount: Annotated[str, typer.Argument(parser=_amount, metavar="AMOUNT", help="Amount for a month, such as 250.")],
    tenant: Tenant,
    user: User = None,
    refuse: Annotated[
        bool, typer.Option("--refuse", help="Refuse submissions once it is spent; else only warn.")
    ] = False,
    warn: Annotated[int, typer.Option("--warn", min=1, max=100, help="Warn when this percentage is spent.")] = 80,
) -> None:
    """Set the budget of a tenant or a user. Running executions never end because of it."""
    change = BudgetChange(tenant=tenant, user=user, amount=amount, refuses=refuse, warn_percent=warn)
    with options(context).client() as client:
        found = client.admin.set_budget(change)
    rows = [(found.tenant, found.user or "", found.amount, "refuses" if found.refuses else "warns")]
    emit(found, options(context).output, Rows(("tenant", "user", "amount", "then"), rows))


def list_budgets(context: typer.Context) -> None:
    """List all budgets, and how much of them is spent this month."""
    with options(context).client() as client:
        found = client.admin.budgets()
    emit(found, options(context).output, budget_rows(found))


def clear_budget(context: typer.Context, tenant: Tenant, user: User = None) -> None:
    """Clear a budget."""
    with options(context).client() as client:
        client.admin.clear_budget(tenant, user)


add(
    app,
    "set",
    set_budget,
    ("zoe admin budget set 250 --tenant red --refuse", "zoe admin budget set 20 --tenant red --user ada"),
)
add(app, "ls", list_budgets, ("zoe admin budget ls",))
add(app, "clear", clear_budget, ("zoe admin budget clear --tenant red",), results=False)
