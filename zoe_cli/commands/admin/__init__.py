"""admin user, tenant, role, limit, quota, prices, statement, budget, token, audit: people, for admins."""

from __future__ import annotations

import typer

from zoe_cli.commands.admin import audit, budgets, limits, prices, tenants, tokens, users
from zoe_cli.lazy_group import PlainGroup

app = typer.Typer(
    help="Users, tenants, roles, limits, prices, budgets, all users' tokens and the audit log.", no_args_is_help=True
)
app.add_typer(users.app, name="user", cls=PlainGroup)
app.add_typer(tenants.app, name="tenant", cls=PlainGroup)
app.add_typer(tenants.roles, name="role", cls=PlainGroup)
app.add_typer(limits.app, name="limit", cls=PlainGroup)
app.add_typer(tenants.quotas, name="quota", cls=PlainGroup)
app.add_typer(prices.app, name="prices", cls=PlainGroup)
app.add_typer(prices.statements, name="statement", cls=PlainGroup)
app.add_typer(budgets.app, name="budget", cls=PlainGroup)
app.add_typer(tokens.app, name="token", cls=PlainGroup)
audit.register(app)
