"""storage cores: how many cores filters and views of tenants may take at each proxy."""

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

app = typer.Typer(help="Cores that filters and views of tenants may take, for admins.", no_args_is_help=True)

Tenant = Annotated[
    str,
    typer.Argument(
        metavar="TENANT", help="Name of the tenant; '*' for all that are not named.", callback=tenant_of_the_store
    ),
]
Cores = Annotated[float, typer.Argument(min=0.01, max=1024.0, help="Cores at each proxy; 1024: no bound.")]


def set_cores(context: typer.Context, tenant: Tenant, cores: Cores) -> None:
    """Bound the CPU time of a tenant's filters and views at each proxy, until it is removed."""
    with options(context).client() as client:
        answer = client.set_storage_cores(tenant, StorageCoresRequest(cores=cores))
    for text in answer.notes:
        note(f"note: {text}")
    emit(answer, options(context).output, _rows([answer]))


def list_cores(context: typer.Context) -> None:
    """List the bounds that hold, and what set them."""
    with options(context).client() as client:
        answer = client.storage_cores()
    emit(answer, options(context).output, _rows(answer.cores))
    if not answer.cores:
        note("There is no bound: filters and views take as much as there is.")


def remove_cores(context: typer.Context, tenant: Tenant) -> None:
    """Remove what was set for a tenant; a setting of the storage controller holds again."""
    with options(context).client() as client:
        client.remove_storage_cores(tenant)
    emit({"removed": tenant}, options(context).output, Rows(("removed",), [(tenant,)]))


def _rows(found: list[StorageCoresView]) -> Rows:
    rows = [(one.tenant, f"{one.cores:g}", _set_by(one), clock(one.at_s) if one.at_s else "") for one in found]
    return Rows(("tenant", "cores", "set by", "at"), rows)


def _set_by(one: StorageCoresView) -> str:
    return (one.author or "an admin") if one.standing else "settings"


add(app, "set", set_cores, ("zoe storage cores set acme 0.5", "zoe storage cores set '*' 2"))
add(app, "ls", list_cores, ("zoe storage cores ls",))
add(app, "rm", remove_cores, ("zoe storage cores rm acme",))
