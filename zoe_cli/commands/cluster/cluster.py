"""top, status, whoami, and the list of nodes: the state of the installation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from zoe_cli.commands.words.dates import date, since
from zoe_cli.commands.words.usage_of import use_data, use_rows, uses_of
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock, duration, rate, size
from zoe_client.wire import Meter, NodeView, StatusView


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "top", top, ("watch zoe top", "zoe top x1m7xhnzn3f4144"))
    add(app, "quota", quota, ("zoe quota",))
    add(app, "usage", usage, ("zoe usage", "zoe usage --from 2026-11-01 -o json"))
    add(app, "status", status, ("zoe status",))
    add(app, "whoami", whoami, ("zoe whoami",))


def nodes(context: typer.Context) -> None:
    """List nodes: capacity, reservations of Zoe, and foreign load."""
    with options(context).client() as client:
        answer = client.nodes()
    rows = [
        (
            n.name,
            _state(n),
            n.services,
            f"{n.reserved_cores:g}/{n.cores:g}",
            f"{size(n.reserved_memory_bytes)} / {size(n.memory_bytes)}",
            f"{n.foreign_cores:g}, {size(n.foreign_memory_bytes)}",
            ", ".join(f"{kind}: {count}" for kind, count in n.devices.items()),
            ", ".join(f"{key}={value}" for key, value in n.labels.items()),
        )
        for n in answer.nodes
    ]
    columns = ("node", "state", "services", "cores", "memory", "foreign", "devices", "labels")
    emit(answer, options(context).output, Rows(columns, rows))


def usage(
    context: typer.Context,
    begin: Annotated[
        float | None,
        typer.Option("--from", parser=since, metavar="TIME", help="First day, such as 2026-11-01, or an age [30d]."),
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", parser=date, metavar="DATE", help="Until this day (default: today).")
    ] = None,
) -> None:
    """Show what users of your tenant reserved on each day (UTC); operators see all tenants."""
    with options(context).client() as client:
        answer = client.daily_use(since("30d") if begin is None else begin, end)
    rows = [
        (d.day, d.tenant, d.user, f"{d.core_hours:.2f}", f"{d.memory_gib_hours:.2f}", f"{d.store_gib:.2f}")
        for d in answer.days
    ]
    columns = ("day", "tenant", "user", "core-hours", "GiB-hours", "GiB of the store")
    emit(answer, options(context).output, Rows(columns, rows))


def quota(context: typer.Context) -> None:
    """Show how much of their limits you and your tenant use now."""
    with options(context).client() as client:
        answer = client.quota()
    meters: tuple[tuple[str, Meter, Callable[[int], str]], ...] = (
        ("executions", answer.executions, str),
        ("your executions", answer.executions_of_user, str),
        ("cores", answer.cores_milli, _cores),
        ("memory", answer.memory_bytes, size),
        ("your cores", answer.cores_milli_of_user, _cores),
        ("your memory", answer.memory_bytes_of_user, size),
        ("reading", answer.read_bytes_per_s, rate),
        ("writing", answer.write_bytes_per_s, rate),
    )
    rows = [(name, text(m.used), "no limit" if m.limit is None else text(m.limit)) for name, m, text in meters]
    longest_s = answer.time_limit_s_max
    rows.append(("longest time limit", "-", "no limit" if longest_s is None else duration(longest_s)))
    emit(answer, options(context).output, Rows(("what", "used", "limit"), rows))


def top(
    context: typer.Context,
    execution_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Show the services of this execution, now and at their peak."),
    ] = None,
) -> None:
    """Show what running services use now, most memory first; with ID, present and past use of one execution.

    Peaks are those of the stored samples: 720 of each service, one hour at one sample in five seconds.
    """
    if execution_id is not None:
        _top_of(context, execution_id)
        return
    with options(context).client() as client:
        answer = client.usage()
    ordered = sorted(answer.usage, key=lambda u: -u.memory_bytes)
    rows = [(u.service_id, u.node, f"{u.cpu_s:.1f}", size(u.memory_bytes)) for u in ordered]
    emit(answer, options(context).output, Rows(("service", "node", "cpu s", "memory"), rows))


def _top_of(context: typer.Context, execution_id: str) -> None:
    with options(context).quick() as client:
        execution = client.execution(execution_id)
        uses = uses_of(execution, client.execution_usage(execution_id)["usage"])
    if not uses:
        note("no service of it has been sampled yet")
    emit(use_data(execution, uses), options(context).output, use_rows(uses))


def status(context: typer.Context) -> None:
    """Show the state of the installation: the master, whether submissions are closed, and executions by state."""
    with options(context).client() as client:
        answer = client.status()
    rows = [("version", answer.version), ("master", _master(answer))]
    if answer.submissions_closed:
        rows.append(("submissions", f"closed: {answer.submissions_closed}; operators and admins can submit"))
    rows += _nodes_of(answer.master or {})
    rows += [(f"{state.value} executions", str(count)) for state, count in answer.executions.items()]
    emit(answer, options(context).output, Rows(("what", "how"), rows))


def whoami(context: typer.Context) -> None:
    """Show the user, tenant and scopes of your token."""
    with options(context).client() as client:
        answer = client.me()
    row = (answer.user, answer.tenant, answer.role, ", ".join(answer.scopes))
    emit(answer, options(context).output, Rows(("user", "tenant", "role", "scopes"), [row]))


def _state(node: NodeView) -> str:
    state = ("ready" if node.ready else "not ready") + (f": {node.message}" if node.message else "")
    if not node.holds:
        return state
    hold, more = node.holds[0], len(node.holds) - 1
    until = "" if hold.until_s is None else f" until {clock(hold.until_s)}"
    since = "" if hold.since_s <= time.time() else f" from {clock(hold.since_s)}"
    kept = "drained" if hold.tenant is None else f"reserved for {hold.tenant}"
    others = f", and {more} more: zoe nodes holds" if more else ""
    return f"{state}, {kept}{since}{until}" + (f" ({hold.note})" if hold.note else "") + others


def _cores(milli: int) -> str:
    return f"{milli / 1000:g}"


def _nodes_of(master: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the number of ready nodes, if some are not ready."""
    nodes, ready = master.get("nodes", 0), master.get("nodes_ready")
    return [] if ready in (None, nodes) else [("nodes", f"{ready} of {nodes} ready (see zoe nodes)")]


def _master(answer: StatusView) -> str:
    if answer.master is None:
        return answer.master_message
    ticked_at_s = answer.master.get("ticked_at_s")
    ticked = "" if ticked_at_s is None else f", last tick {duration(time.time() - ticked_at_s)} ago"
    return f"{answer.master['leader']} leads, epoch {answer.master['epoch']}{ticked}"
