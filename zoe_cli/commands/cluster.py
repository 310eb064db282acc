"""nodes, top, status: how the installation is."""

from __future__ import annotations

import typer

from zoe_cli.context import options
from zoe_cli.output import Format, Rows, emit, size


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("nodes")(nodes)
    app.command("top")(top)
    app.command("status")(status)


def nodes(context: typer.Context) -> None:
    """List nodes: what they have, what Zoe reserves, what foreign work takes."""
    with options(context).client() as client:
        answer = client.nodes()
    rows = [
        (
            n.name,
            "ready" if n.ready else f"not ready: {n.message}",
            n.services,
            f"{n.reserved_cores:g}/{n.cores:g}",
            f"{size(n.reserved_memory_bytes)} / {size(n.memory_bytes)}",
            f"{n.foreign_cores:g}, {size(n.foreign_memory_bytes)}",
            ", ".join(f"{kind}: {count}" for kind, count in n.devices.items()),
        )
        for n in answer.nodes
    ]
    columns = ("node", "state", "services", "cores", "memory", "foreign", "devices")
    emit(answer, options(context).output, Rows(columns, rows))


def top(context: typer.Context) -> None:
    """Show what running services use now, most memory first."""
    with options(context).client() as client:
        answer = client.usage()
    ordered = sorted(answer.usage, key=lambda u: -u.memory_bytes)
    rows = [(u.service_id, u.node, f"{u.cpu_s:.1f}", size(u.memory_bytes)) for u in ordered]
    emit(answer, options(context).output, Rows(("service", "node", "cpu s", "memory"), rows))


def status(context: typer.Context) -> None:
    """Show how the installation is: executions by state, and the master."""
    with options(context).client() as client:
        answer = client.status()
    rows: list[tuple[str, object]] = [("version", answer.version)]
    rows += [(f"executions {state.value}", count) for state, count in answer.executions.items()]
    if answer.master is None:
        rows.append(("master", answer.master_message))
    else:
        rows.append(("master", f"{answer.master['leader']} leads, epoch {answer.master['epoch']}"))
    form = options(context).output
    emit(answer, Format.TABLE if form is Format.NAME else form, Rows(("what", "how"), rows))
