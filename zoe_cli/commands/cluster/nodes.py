"""nodes: list them and their holds; drain, reserve and release them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import typer

from zoe_cli.commands.cluster.cluster import nodes as listed
from zoe_cli.commands.cluster.losing_nodes import lose
from zoe_cli.commands.words.dates import date, duration
from zoe_cli.context import on_terminal, options
from zoe_cli.output import emit, note
from zoe_cli.registry import add, with_output
from zoe_cli.rows import Rows
from zoe_cli.units import clock, count_with_noun
from zoe_client.client import Client
from zoe_client.errors import ZoeError
from zoe_client.wire import NodeHoldView, PolicyView

app = typer.Typer(
    help="List nodes: capacity, reservations of Zoe, and foreign load. Drain or reserve nodes.",
    invoke_without_command=True,
    epilog="Examples:\n\n  zoe nodes\n\n  zoe nodes -o json | jq '.nodes[].labels'",
)

Nodes = Annotated[list[str] | None, typer.Argument(metavar="NODE", help="Names of nodes.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="All nodes.")]
Reason = Annotated[str, typer.Option("--note", help="Reason, which all users see.")]
ReasonOfTenant = Annotated[str, typer.Option("--note", help="Reason, which operators and users of the tenant see.")]
After = Annotated[str, typer.Option("--in", metavar="DURATION", help="Start after this time (90m, 12h, or seconds).")]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="DATE", help="Start at this time ('2026-11-01 08:30', in this machine's time zone)."),
]
For = Annotated[
    str | None, typer.Option("--for", metavar="DURATION", help="End after this time (default: when released).")
]

Begins = Annotated[
    str | None,
    typer.Option("--at", metavar="DATE", help="Only holds that begin at this minute, or second (default: all)."),
]

Dry = Annotated[bool, typer.Option("--dry-run", help="Show which executions would wait, and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


class _Asking(NamedTuple):
    """Whether only to tell the effect, and whether not to ask."""

    dry: bool
    yes: bool


def listing(context: typer.Context) -> None:
    """List all nodes, unless a subcommand follows."""
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
    dry: Dry = False,
    yes: Yes = False,
) -> None:
    """Drain nodes (admins and operators): they get no new work, and running services continue. Before a later start,
    only services expected to end in time begin on them.

    With --for, it is a maintenance window beside others. Without, it replaces an earlier hold without an end. Before it
    holds up waiting executions, it asks.
    """
    _hold(context, node, every, _hold_view(None, _start_s(after, at), lasts, reason), _Asking(dry, yes))


def reserve(
    context: typer.Context,
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant for which the nodes are kept.")],
    node: Nodes = None,
    every: All = False,
    reason: ReasonOfTenant = "",
    after: After = "0",
    at: At = None,
    lasts: For = None,
    dry: Dry = False,
    yes: Yes = False,
) -> None:
    """Reserve nodes for one tenant (admins and operators). Before it begins, executions of other tenants start there
    only if they are expected to end in time.

    With --for, it stands beside other holds. Without, it replaces an earlier hold without an end.
    """
    _hold(context, node, every, _hold_view(tenant, _start_s(after, at), lasts, reason), _Asking(dry, yes))


def release(context: typer.Context, node: Nodes = None, every: All = False, at: Begins = None) -> None:
    """Release drained or reserved nodes (admins and operators); with --at, cancel only the holds that begin at that
    time.
    """
    _release(context, node, every, None if at is None else date(at))


def holds(context: typer.Context) -> None:
    """List present and future holds: when nodes are drained or reserved."""
    with options(context).client() as client:
        answer, policy = client.nodes(), client.policy()
    found = [(node.name, hold) for node in answer.nodes for hold in node.holds]
    present = {node.name for node in answer.nodes}
    found += [(f"{name} (absent)", hold) for name, hold in _holds_of(policy) if name not in present]
    rows = [
        (name, "drained" if h.tenant is None else f"reserved for {h.tenant}", clock(h.since_s), _end(h), h.note)
        for name, h in found
    ]
    emit(answer, options(context).output, Rows(("node", "state", "from", "until", "note"), rows))


def _holds_of(policy: PolicyView) -> Iterator[tuple[str, NodeHoldView]]:
    """Yield the holds of the policy that have not ended, by node."""
    for name in sorted({*policy.node_holds, *policy.node_windows}):
        own = [policy.node_holds[name]] if name in policy.node_holds else []
        for hold in sorted([*policy.node_windows.get(name, ()), *own], key=lambda hold: hold.since_s):
            if hold.until_s is None or hold.until_s > time.time():
                yield name, hold


def _start_s(after: str, at: str | None) -> float:
    if at is None:
        return time.time() + duration(after)
    if after != "0":
        raise typer.BadParameter("give --in or --at, not both")
    return date(at)


def _hold_view(tenant: str | None, since_s: float, lasts: str | None, reason: str) -> NodeHoldView:
    until_s = None if lasts is None else since_s + duration(lasts)
    if until_s is not None and until_s <= since_s:
        raise typer.BadParameter("the hold would end when it begins: --for is longer than 0")
    if until_s is not None and until_s <= time.time():
        raise typer.BadParameter(f"the hold would have ended {clock(until_s)}: --at is too early")
    return NodeHoldView(tenant=tenant, since_s=since_s, until_s=until_s, note=reason)


def _end(hold: NodeHoldView) -> str:
    return "released" if hold.until_s is None else clock(hold.until_s)


def _hold(context: typer.Context, named: list[str] | None, every: bool, hold: NodeHoldView, asking: _Asking) -> None:
    _check_choice(named, every)
    with options(context).client() as client:
        known = [node.name for node in client.nodes().nodes]
        _check_known(named, known)
        policy = client.policy()
        for name in named or known:
            present = policy.node_holds.get(name)
            if hold.until_s is None and present is not None and present.until_s is None:
                note(f"note: this replaces the earlier hold of {name}")
            policy = _with_hold(policy, name, hold)
        if asking.dry or not asking.yes:
            _tell_effect(client, policy, asking)
        if not asking.dry:
            client.set_policy(policy)
            listed(context)


def _tell_effect(client: Client, policy: PolicyView, asking: _Asking) -> None:
    """Tell how many waiting executions a hold keeps from starting, and ask on a terminal; Abort for no."""
    try:
        answer = client.try_policy(policy)
    except ZoeError as error:
        if asking.dry:
            raise
        note(f"note: what it holds up is not known ({error})")
        return
    more = answer.wanted.window_ahead_total - answer.present.window_ahead_total
    unlimited = answer.wanted.window_ahead_without_limit - answer.present.window_ahead_without_limit
    fewer = answer.present.starts_total - answer.wanted.starts_total
    if more > 0:
        why = f"{unlimited} without a time limit, {more - unlimited} with one that reaches beyond its begin"
        note(
            f"note: {count_with_noun(more, 'waiting execution')} cannot start before the hold is over: {why}; "
            "`zoe explain` tells each user the limit that helps"
        )
    elif asking.dry:
        note(
            "note: it keeps no waiting execution from starting"
            if fewer <= 0
            else f"note: {fewer} fewer would start now"
        )
    if more > 0 and not asking.dry and sys.stdin.isatty() and on_terminal():
        typer.confirm("Hold the nodes?", abort=True, err=True)


def _with_hold(policy: PolicyView, node: str, hold: NodeHoldView) -> PolicyView:
    """Return the policy with another window of a node, or another hold without an end."""
    present, windows = policy.node_holds.get(node), policy.node_windows.get(node, [])
    if hold.until_s is not None:
        windows = [*(window for window in windows if window != hold), hold]
        return policy.model_copy(update={"node_windows": {**policy.node_windows, node: windows}})
    if present is not None and present.until_s is not None:  # holds in documents of older versions
        windows = [*windows, present]
    update = {"node_holds": {**policy.node_holds, node: hold}, "node_windows": {**policy.node_windows, node: windows}}
    return policy.model_copy(update=update)


def _release(context: typer.Context, named: list[str] | None, every: bool, begin_s: float | None) -> None:
    _check_choice(named, every)
    with options(context).client() as client:
        policy = client.policy()
        held = {*policy.node_holds, *(name for name, windows in policy.node_windows.items() if windows)}
        _check_known(named, [*(node.name for node in client.nodes().nodes), *held])
        if held.isdisjoint(named or held):
            note("note: none of these nodes is drained or reserved")
            listed(context)
            return
        stay = {name: _staying(named, begin_s, name, [hold]) for name, hold in policy.node_holds.items()}
        windows = {name: _staying(named, begin_s, name, several) for name, several in policy.node_windows.items()}
        if begin_s is not None and (_count(stay), _count(windows)) == (len(stay), _count(policy.node_windows)):
            raise typer.BadParameter(f"no hold of these nodes begins at {clock(begin_s)}; see zoe nodes holds")
        holds = {name: several[0] for name, several in stay.items() if several}
        client.set_policy(policy.model_copy(update={"node_holds": holds, "node_windows": windows}))
        listed(context)


def _staying(
    named: list[str] | None, begin_s: float | None, node: str, present: Sequence[NodeHoldView]
) -> list[NodeHoldView]:
    """Return the holds of a node that remain."""
    if named and node not in named:
        return list(present)
    return [] if begin_s is None else [hold for hold in present if not _begins_at(hold, begin_s)]


def _begins_at(hold: NodeHoldView, at_s: float) -> bool:
    """Return whether a hold begins in the given minute, or second if the date names one."""
    return at_s <= hold.since_s < at_s + (1 if at_s % 60 else 60)


def _count(holds: Mapping[str, Sequence[NodeHoldView]]) -> int:
    return sum(map(len, holds.values()))


def _check_choice(named: list[str] | None, every: bool) -> None:
    if every is bool(named):
        raise typer.BadParameter("name nodes, or give --all")


def _check_known(named: list[str] | None, known: Sequence[str]) -> None:
    if unknown := sorted({*(named or ())} - {*known}):
        raise typer.BadParameter(f"node {', '.join(unknown)} does not exist; see zoe nodes")


app.callback()(with_output(listing))
add(
    app,
    "drain",
    drain,
    ("zoe nodes drain node-2 --note 'new disks'", "zoe nodes drain --all --at '2026-12-01 06:00' --for 4h"),
)
add(app, "reserve", reserve, ("zoe nodes reserve node-3 --tenant physics --in 1h --for 2h",))
add(app, "release", release, ("zoe nodes release node-3", "zoe nodes release --all --at '2026-12-01 06:00'"))
add(app, "undrain", release, hidden=True)
add(app, "holds", holds, ("zoe nodes holds",))
add(app, "lose", lose, ("zoe nodes lose node-3", "zoe nodes lose rack=b"))
