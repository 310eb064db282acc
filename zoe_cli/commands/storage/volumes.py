"""volume: create, list, show, remove volumes of blocks."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.wire import VolumeView
from zoe_client.words.amounts import size

app = typer.Typer(help="Volumes of blocks, which follow your executions.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the volume.")]


def create(
    context: typer.Context,
    name: Name,
    volume_size: Annotated[str, typer.Option("--size", metavar="SIZE", help="Size, such as 20GiB: whole MiB.")],
    policy: Annotated[str, typer.Option(help="Name of its policy; `zoe volume ls` lists them [plain].")] = "plain",
) -> None:
    """Create a volume with its whole space reserved. Name it in a description to mount it."""
    with options(context).client() as client:
        made = client.create_volume(name, volume_size, policy)
    emit(made, options(context).output, _rows([made]))


def show_all(context: typer.Context) -> None:
    """List your volumes, the space that is left in the tenant, and the policies for new ones."""
    with options(context).client() as client:
        answer = client.volumes()
    rows = _rows(answer.volumes)
    emit(answer, options(context).output, rows)
    if options(context).output == "table":
        policies = (f"{policy.name} ({', '.join(policy.filters) or 'no filters'})" for policy in answer.policies)
        left = max(answer.tenant_bytes_max - answer.tenant_bytes, 0)
        typer.echo(f"left in the tenant: {size(left)}; policies: {', '.join(policies)}", err=True)


def show(context: typer.Context, name: Name) -> None:
    """Show one of your volumes."""
    with options(context).client() as client:
        found = client.volume(name)
    emit(found, options(context).output, _rows([found]))


def remove(context: typer.Context, name: Name) -> None:
    """Remove a volume and its data for good; refused while it is attached."""
    with options(context).client() as client:
        client.remove_volume(name)
    emit({"removed": name}, options(context).output, Rows(("removed",), [(name,)]))


def _rows(volumes: list[VolumeView]) -> Rows:
    rows = [(v.name, size(v.size_bytes), v.policy, v.state, v.execution_id or "-", clock(v.made_at_s)) for v in volumes]
    head = ("name", "size", "policy", "state", "attached to", "created")
    return Rows(head, rows, "no volumes yet: `zoe volume create data --size 20GiB` creates one")


add(
    app,
    "create",
    create,
    ("zoe volume create data --size 20GiB", "zoe volume create keys --size 1GiB --policy encrypted"),
)
add(app, "ls", show_all, ("zoe volume ls",))
add(app, "show", show, ("zoe volume show data",))
add(app, "rm", remove, ("zoe volume rm data",))
