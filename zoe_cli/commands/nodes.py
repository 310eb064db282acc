"""nodes: list them; drain, reserve and release one."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from zoe_cli.commands.cluster import nodes
from zoe_cli.context import options
from zoe_cli.output import note
from zoe_cli.registry import add, with_output
from zoe_client import Client
from zoe_client.wire import NodeHoldView

app = typer.Typer(
    help="List nodes: what they have, what Zoe reserves on them, and what foreign work takes. Drain or reserve nodes.",
    invoke_without_command=True,
    epilog="Examples:\n\n  zoe nodes\n\n  zoe nodes -o json | jq '.nodes[].labels'",
)

Node = Annotated[str, typer.Argument(metavar="NODE")]
Reason = Annotated[str, typer.Option("--note", help="Reason, which all users see.")]
ReasonOfTenant = Annotated[str, typer.Option("--note", help="Reason, which operators and users of the tenant see.")]
After = Annotated[float, typer.Option("--in", min=0, metavar="SECONDS", help="Start after this many seconds.")]
For = Annotated[
    float | None,
    typer.Option("--for", min=1, metavar="SECONDS", help="End after this many seconds (default: when released)."),
]


def listing(context: typer.Context) -> None:
    """List all nodes, unless a subcommand is given."""
    if context.invoked_subcommand is None:
        nodes(context)


def drain(context: typer.Context, node: Node, reason: Reason = "", after: After = 0.0, lasts: For = None) -> None:
    """Drain a node (admins and operators): it gets no new work, and what runs there continues."""
    _hold(context, node, _kept(None, after, lasts, reason))


def reserve(
    context: typer.Context,
    node: Node,
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant for which the node is kept.")],
    reason: ReasonOfTenant = "",
    after: After = 0.0,
    lasts: For = None,
) -> None:
    """Reserve a node for one tenant (admins and operators). Until then, others use it only if they are expected to end
    in time.
    """
    _hold(context, node, _kept(tenant, after, lasts, reason))


def release(context: typer.Context, node: Node) -> None:
    """Release a drained or reserved node (admins and operators)."""
    _hold(context, node, None)


def _kept(tenant: str | None, after: float, lasts: float | None, reason: str) -> NodeHoldView:
    since_s = time.time() + after
    until_s = None if lasts is None else since_s + lasts
    return NodeHoldView(tenant=tenant, since_s=since_s, until_s=until_s, note=reason)


def _hold(context: typer.Context, node: str, hold: NodeHoldView | None) -> None:
    with options(context).client() as client:
        if node not in {known.name for known in client.nodes().nodes}:
            note(f"note: node {node} is not known now")
        _change(client, node, hold)
        nodes(context)


def _change(client: Client, node: str, hold: NodeHoldView | None) -> None:
    policy = client.policy()
    others = {name: kept for name, kept in policy.node_holds.items() if name != node}
    client.set_policy(policy.model_copy(update={"node_holds": others if hold is None else {**others, node: hold}}))


app.callback()(with_output(listing))
add(app, "drain", drain, ("zoe nodes drain node-2 --note 'new disks'",))
add(app, "reserve", reserve, ("zoe nodes reserve node-3 --tenant physics --in 3600 --for 7200",))
add(app, "undrain", release, ("zoe nodes undrain node-2",))
add(app, "release", release, ("zoe nodes release node-3",))
