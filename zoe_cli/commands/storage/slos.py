"""storage slo: permanent bandwidth guarantees of tenants."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.commands.words.arguments import tenant_of_the_store
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import rate
from zoe_client.documents.quantities import bytes_per_s_of
from zoe_client.wire import StorageSloRequest, StorageSloView
from zoe_client.wire.storage.slos import SLO_MIN

app = typer.Typer(help="Bandwidth guarantees of tenants, for admins.", no_args_is_help=True)

Tenant = Annotated[str, typer.Argument(metavar="TENANT", help="Name of the tenant.", callback=tenant_of_the_store)]


def rate_of(text: str) -> int:
    """Return bytes per second from an option; typer's BadParameter if it is invalid."""
    try:
        found = bytes_per_s_of(text)
    except ValueError:
        found = 0
    if found <= 0:
        raise typer.BadParameter(f"{text!r} is not a rate: write one such as 40MB/s")
    return found


def _rate_or_none(text: str) -> int:
    found = 0 if text == "none" else rate_of(text)
    if 0 < found < SLO_MIN:
        raise typer.BadParameter(f"{text!r} is less than {rate(SLO_MIN)}, the least that can be guaranteed")
    return found


Rate = Annotated[
    int | None,
    typer.Option(
        parser=_rate_or_none, metavar="RATE", help="Rate such as 40MB/s; none: no guarantee (default: unchanged)."
    ),
]


def set_slo(context: typer.Context, tenant: Tenant, read: Rate = None, write: Rate = None) -> None:
    """Guarantee a tenant bandwidth to read, to write, or both, until the SLO is removed."""
    given = {"read_bytes_per_s": read, "write_bytes_per_s": write}
    wanted = {name: number or None for name, number in given.items() if number is not None}
    if not wanted:
        raise typer.BadParameter("give --read, --write or both")
    with options(context).client() as client:
        answer = client.set_storage_slo(tenant, StorageSloRequest(**wanted))
    for text in answer.notes:
        note(f"note: {text}")
    emit(answer, options(context).output, _rows([answer]))


def list_slos(context: typer.Context) -> None:
    """List the guarantees of tenants and their origin; of several for a tenant, the highest rate applies."""
    with options(context).client() as client:
        answer = client.storage_slos()
    emit(answer, options(context).output, _rows(answer.slos))


def remove_slo(context: typer.Context, tenant: Tenant) -> None:
    """Remove the SLO of a tenant; guarantees of executions and rules stay."""
    with options(context).client() as client:
        client.remove_storage_slo(tenant)
    emit({"removed": tenant}, options(context).output, Rows(("removed",), [(tenant,)]))


def _rows(slos: list[StorageSloView]) -> Rows:
    rows = [
        (slo.tenant, _rate_text(slo.read_bytes_per_s), _rate_text(slo.write_bytes_per_s), slo.set_by) for slo in slos
    ]
    return Rows(("tenant", "read", "write", "set by"), rows)


def _rate_text(bytes_per_s: int | None) -> str:
    return "" if bytes_per_s is None else rate(bytes_per_s)


add(app, "set", set_slo, ("zoe storage slo set acme --read 40MB/s --write 20MB/s",))
add(app, "ls", list_slos, ("zoe storage slo ls",))
add(app, "rm", remove_slo, ("zoe storage slo rm acme",))
