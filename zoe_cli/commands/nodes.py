"""nodes: list them; drain, reserve and release one."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from zoe_cli.commands.cluster import nodes
from zoe_cli.context import options
from zoe_cli.output import note
from zoe_cli.registry import add, with_output
from zoe_lib.sdk import Client
from zoe_lib.wire import NodeHoldView

app = typer.Typer(
    help="List nodes: what they have, what Zoe reserves there, what foreign work takes; keep some of them.",
    invoke_without_command=True,
    epilog="Examples:\n\n  zoe nodes\n\n  zoe nodes -o json | jq '.nodes[].labels'",
)

Node = Annotated[str, typer.Argument(metavar="NODE")]
Reason = Annotated[str, typer.Option("--note", help="Why; everybody sees it.")]
ReasonOfTenant = Annotated[str, typer.Option("--note", help="Why; operators and users of the tenant see it.")]
After = Annotated[float, typer.Option("--in", min=0, metavar="SECONDS", help="From so many seconds from now on.")]
For = Annotated[
    float | None, typer.Option("--for", min=1, metavar="SECONDS", help="For so long; default: until released.")
]


def listing(context: typer.Context) -> None:
    """List all nodes unless one of the commands is meant."""
    if context.invoked_subcommand is None:
        nodes(context)


def drain(context: typer.Context, node: Node, reason: Reason = "", after: After = 0.0, lasts: For = None) -> None:
    """Give a node no new work, as an admin; what runs there goes on."""
    _hold(context, node, _kept(None, after, lasts, reason))


def reserve(
    context: typer.Context,
    node: Node,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose executions it is kept for.")],
    reason: ReasonOfTenant = "",
    after: After = 0.0,
    lasts: For = None,
) -> None:
    """Keep a node for one tenant, as an admin. Before, others use it only if they are expected to end in time."""
    _hold(context, node, _kept(tenant, after, lasts, reason))


def release(context: typer.Context, node: Node) -> None:
    """Let everybody use a node again, as an admin."""
    _hold(context, node, None)


def _kept(tenant: str | None, after: float, lasts: float | None, reason: str) -> NodeHoldView:
    since_s = time.time() + after
    until_s = None if lasts is None else since_s + lasts
    return NodeHoldView(tenant=tenant, since_s=since_s, until_s=until_s, note=reason)


def _hold(context: typer.Context, node: str, hold: NodeHoldView | None) -> None:
    with options(context).client() as client:
        if node not in {known.name for known in client.nodes().nodes}:
            note(f"note: no node {node} is known now")
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
