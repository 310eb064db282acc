"""nodes: list them; drain, reserve and release one."""

from __future__ import annotations

import math
import time
from typing import Annotated

import typer

from zoe_cli.commands.cluster import nodes as listed
from zoe_cli.commands.dates import date, duration
from zoe_cli.context import options
from zoe_cli.output import note
from zoe_cli.registry import add, with_output
from zoe_client.wire import NodeHoldView

app = typer.Typer(
    help="List nodes: what they have, what Zoe reserves on them, and what foreign work takes. Drain or reserve nodes.",
    invoke_without_command=True,
    epilog="Examples:\n\n  zoe nodes\n\n  zoe nodes -o json | jq '.nodes[].labels'",
)

Nodes = Annotated[list[str] | None, typer.Argument(metavar="NODE", help="Nodes.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="All nodes.")]
Reason = Annotated[str, typer.Option("--note", help="Reason, which all users see.")]
ReasonOfTenant = Annotated[str, typer.Option("--note", help="Reason, which operators and users of the tenant see.")]
After = Annotated[str, typer.Option("--in", metavar="DURATION", help="Start after this time (90m, 12h, or seconds).")]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="DATE", help="Start then ('2026-11-01 08:30', in this machine's time zone)."),
]
For = Annotated[
    str | None, typer.Option("--for", metavar="DURATION", help="End after this time (default: when released).")
]


def listing(context: typer.Context) -> None:
    """List all nodes, unless a subcommand is given."""
    if context.invoked_subcommand is None:
        listed(context)


def drain(
    context: typer.Context,
    node: Nodes = None,
    every: All = False,
    reason: Reason = "",
    after: After = "0",
    at: At = None,
    lasts: For = None,
) -> None:
    """Drain nodes (admins and operators): they get no new work, and what runs there continues. Before a later start,
    only what is expected to end in time begins there.
    """
    _hold(context, node, every, _kept(None, _start_s(after, at), lasts, reason))


def reserve(
    context: typer.Context,
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant for which the nodes are kept.")],
    node: Nodes = None,
    every: All = False,
    reason: ReasonOfTenant = "",
    after: After = "0",
    at: At = None,
    lasts: For = None,
) -> None:
    """Reserve nodes for one tenant (admins and operators). Until then, others use them only if they are expected to end
    in time.
    """
    _hold(context, node, every, _kept(tenant, _start_s(after, at), lasts, reason))


def release(context: typer.Context, node: Nodes = None, every: All = False) -> None:
    """Release drained or reserved nodes (admins and operators)."""
    _hold(context, node, every, None)


def _start_s(after: str, at: str | None) -> float:
    if at is None:
        return time.time() + duration(after)
    if after != "0":
        raise typer.BadParameter("give --in or --at, not both")
    return date(at)


def _kept(tenant: str | None, since_s: float, lasts: str | None, reason: str) -> NodeHoldView:
    until_s = None if lasts is None else since_s + duration(lasts)
    if until_s is not None and until_s <= max(since_s, time.time()):
        raise typer.BadParameter("that would end before it begins")
    return NodeHoldView(tenant=tenant, since_s=since_s, until_s=until_s, note=reason)


def _hold(context: typer.Context, named: list[str] | None, every: bool, hold: NodeHoldView | None) -> None:
    if every is bool(named):
        raise typer.BadParameter("name nodes, or give --all")
    with options(context).client() as client:
        known = [node.name for node in client.nodes().nodes]
        for name in named or ():
            if name not in known:
                note(f"note: node {name} is not known now")
        policy = client.policy()
        kept = policy.node_holds
        wanted = named or sorted({*known, *(kept if hold is None else ())})
        others = {name: one for name, one in kept.items() if name not in wanted}
        still = [name for name in wanted if name in kept and (kept[name].until_s or math.inf) > time.time()]
        if hold is not None and still:
            note(f"note: this replaces what was set for {', '.join(still)}")
        changed = others if hold is None else {**others, **dict.fromkeys(wanted, hold)}
        client.set_policy(policy.model_copy(update={"node_holds": changed}))
        listed(context)


app.callback()(with_output(listing))
add(
    app,
    "drain",
    drain,
    ("zoe nodes drain node-2 --note 'new disks'", "zoe nodes drain --all --at '2026-12-01 06:00' --for 4h"),
)
add(app, "reserve", reserve, ("zoe nodes reserve node-3 --tenant physics --in 1h --for 2h",))
add(app, "undrain", release, ("zoe nodes undrain node-2",))
add(app, "release", release, ("zoe nodes release node-3",))
