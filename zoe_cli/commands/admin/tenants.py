"""admin tenant, admin role, admin quota."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from zoe_cli.commands.admin.limits import count
from zoe_cli.commands.admin.limits import hours as hours_of
from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.vocabulary import Role
from zoe_client.wire import QuotaView, TenantDetail

app = typer.Typer(help="Tenants.", no_args_is_help=True)
roles = typer.Typer(help="Roles of users in tenants: viewer, user, operator or admin.", no_args_is_help=True)
quotas = typer.Typer(help="Maximum executions of a tenant, and their longest time limit.", no_args_is_help=True)

User = Annotated[str, typer.Argument(metavar="USER")]
Tenant = Annotated[str, typer.Argument(metavar="TENANT")]


def ls(context: typer.Context) -> None:
    """List tenants with their members, quotas and executions."""
    with options(context).client() as client:
        answer = client.admin.tenants()
    emit(answer, options(context).output, _rows(answer.tenants))


def add_tenant(context: typer.Context, name: Tenant) -> None:
    """Make a tenant."""
    with options(context).client() as client:
        client.admin.add_tenant(name)
    emit({"added": name}, options(context).output, Rows(("added",), [(name,)]))


def set_role(
    context: typer.Context, user: User, tenant: Tenant, role: Annotated[Role, typer.Argument(metavar="ROLE")]
) -> None:
    """Make a user a member of a tenant, or change the user's role there."""
    with options(context).client() as client:
        member = client.admin.set_role(user, tenant, role)
    emit(member, options(context).output, Rows(("user", "tenant", "role"), [(user, tenant, role.value)]))


def remove_role(context: typer.Context, user: User, tenant: Tenant) -> None:
    """End a membership, with its tokens and sessions; executions continue."""
    with options(context).client() as client:
        client.admin.remove_member(user, tenant)
    emit({"removed": user, "tenant": tenant}, options(context).output, Rows(("removed", "tenant"), [(user, tenant)]))


def set_quota(
    context: typer.Context,
    tenant: Tenant,
    executions: Annotated[
        float | None, typer.Option(parser=count, metavar="N|none", help="Maximum executions of the tenant.")
    ] = None,
    of_user: Annotated[
        float | None, typer.Option(parser=count, metavar="N|none", help="Maximum executions of each of its users.")
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option(parser=hours_of, metavar="HOURS|none", help="Longest time limit of an execution, in hours."),
    ] = None,
) -> None:
    """Set the maximum executions of a tenant and of each of its users, and their longest run time.

    Values that you do not give stay unchanged; `none` is unlimited. With --hours, an execution without a time limit
    gets this one, and one with a longer limit is refused. `zoe admin limit set` sets these and all other limits.
    """
    changes = {
        "executions_max": executions,
        "executions_of_user_max": of_user,
        "time_limit_s_max": None if hours is None else hours * 3600,
    }
    named = {name: None if most == math.inf else most for name, most in changes.items() if most is not None}
    if not named:
        raise typer.BadParameter("name at least one of --executions, --of-user and --hours")
    with options(context).client() as client:
        changed = QuotaView.model_validate({**_present(client.admin.tenants().tenants, tenant), **named})
        quota = client.admin.set_quota(
            tenant, changed.executions_max, changed.executions_of_user_max, changed.time_limit_s_max
        )
    emit(
        quota,
        options(context).output,
        Rows(("tenant", "executions", "of a user", "hours of one"), [(tenant, *_bounds(quota))]),
    )


def _present(tenants: list[TenantDetail], name: str) -> dict[str, float | None]:
    """Return the quota of a tenant, or an empty quota for an unknown tenant, which the server then refuses."""
    found = next((tenant for tenant in tenants if tenant.name == name), None)
    return {bound: getattr(found, bound, None) for bound in QuotaView.model_fields}


def _rows(tenants: list[TenantDetail]) -> Rows:
    def members(tenant: TenantDetail) -> str:
        return ", ".join(f"{member.user} ({member.role})" for member in tenant.members)

    rows = [(t.name, t.executions, *_bounds(t), members(t)) for t in tenants]
    return Rows(("name", "executions", "at most", "of a user", "hours of one", "members"), rows)


def _bounds(quota: QuotaView | TenantDetail) -> tuple[str, str, str]:
    hours = None if quota.time_limit_s_max is None else quota.time_limit_s_max / 3600
    return _number(quota.executions_max), _number(quota.executions_of_user_max), _number(hours)


def _number(most: float | None) -> str:
    return "any number" if most is None else f"{most:.15g}"


add(app, "ls", ls, ("zoe admin tenant ls",))
add(app, "add", add_tenant, ("zoe admin tenant add physics",))
add(roles, "set", set_role, ("zoe admin role set ada physics operator",))
add(roles, "remove", remove_role, ("zoe admin role remove ada physics",))
add(quotas, "ls", ls, ("zoe admin quota ls",))
add(quotas, "set", set_quota, ("zoe admin quota set physics --executions 20 --of-user 4 --hours 12",))
