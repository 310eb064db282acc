"""admin user, tenant, role, limit, quota, prices, statement, budget, token, audit: people, for admins."""

from __future__ import annotations

import typer

from zoe_cli.commands.admin import audit, budgets, limits, prices, tenants, tokens, users

app = typer.Typer(
    help="Users, tenants, roles, limits, prices, budgets, all users' tokens and the audit log.", no_args_is_help=True
)
app.add_typer(users.app, name="user")
app.add_typer(tenants.app, name="tenant")
app.add_typer(tenants.roles, name="role")
app.add_typer(limits.app, name="limit")
app.add_typer(tenants.quotas, name="quota")
app.add_typer(prices.app, name="prices")
app.add_typer(prices.statements, name="statement")
app.add_typer(budgets.app, name="budget")
app.add_typer(tokens.app, name="token")
audit.register(app)
