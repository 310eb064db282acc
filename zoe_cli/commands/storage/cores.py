"""storage cores: CPU limits of tenants' filters and views at each proxy."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.commands.words.arguments import tenant_of_the_store
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.wire import StorageCoresRequest, StorageCoresView

app = typer.Typer(help="CPU limits of tenants' filters and views, for admins.", no_args_is_help=True)

Tenant = Annotated[
    str,
    typer.Argument(
        metavar="TENANT", help="Name of the tenant; '*' for all other tenants.", callback=tenant_of_the_store
    ),
]
Cores = Annotated[float, typer.Argument(min=0.01, max=1024.0, help="Cores at each proxy; 1024: no limit.")]


def set_cores(context: typer.Context, tenant: Tenant, cores: Cores) -> None:
    """Limit the CPU time of a tenant's filters and views at each proxy, until the limit is removed."""
    with options(context).client() as client:
        answer = client.set_storage_cores(tenant, StorageCoresRequest(cores=cores))
    for text in answer.notes:
        note(f"note: {text}")
    emit(answer, options(context).output, _rows([answer]))


def list_cores(context: typer.Context) -> None:
    """List the limits in force, and their origin."""
    with options(context).client() as client:
        answer = client.storage_cores()
    emit(answer, options(context).output, _rows(answer.cores))
    if not answer.cores:
        note("There is no limit: filters and views may use all cores.")


def remove_cores(context: typer.Context, tenant: Tenant) -> None:
    """Remove the limit of a tenant; the setting of the storage controller applies again."""
    with options(context).client() as client:
        client.remove_storage_cores(tenant)
    emit({"removed": tenant}, options(context).output, Rows(("removed",), [(tenant,)]))


def _rows(found: list[StorageCoresView]) -> Rows:
    rows = [
        (cores.tenant, f"{cores.cores:g}", _set_by(cores), clock(cores.at_s) if cores.at_s else "") for cores in found
    ]
    return Rows(("tenant", "cores", "set by", "at"), rows)


def _set_by(one: StorageCoresView) -> str:
    return (one.author or "an admin") if one.standing else "settings"


add(app, "set", set_cores, ("zoe storage cores set acme 0.5", "zoe storage cores set '*' 2"))
add(app, "ls", list_cores, ("zoe storage cores ls",))
add(app, "rm", remove_cores, ("zoe storage cores rm acme",))
