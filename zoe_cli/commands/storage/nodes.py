"""storage nodes, storage restart: health of the store's servers, and a restart of one."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import emit, note
from zoe_cli.rows import Rows
from zoe_cli.units import duration
from zoe_client import Client
from zoe_client.wire import StorageNodeView

_LOOK_S = 0.5
_LOOKED_S_MAX = 10.0  # the controller asks its nodes within some seconds after a restart
_WAIT_S_MAX = 3700.0  # no controller allows a restart of more than an hour


def nodes(context: typer.Context) -> None:
    """Show the health of each of the store's servers, since when and why; for admins."""
    with options(context).client() as client:
        answer = client.storage_nodes()
    emit(answer, options(context).output, _rows(answer.nodes))
    if not answer.nodes:
        note("No nodes are watched: set swift_nodes of the storage controller.")


def restart(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NODE", help="Name of the node, as in zoe storage nodes.")],
    wait: Annotated[bool, typer.Option(help="Wait until its program has ended.")] = True,
) -> None:
    """Restart a server of the object store with the command in the storage controller's settings; for admins."""
    with options(context).client() as client:
        one = client.restart_storage_node(name)
        if wait:
            one = _wait_for_restart(client, one)
            if one.restart is not None and one.restart.output:
                note(one.restart.output)
            one = _node_after_restart(client, one)
    emit(one, options(context).output, _rows([one]))
    if one.restart is None or one.restart.ended_s is None:
        note("It is being restarted; see zoe storage nodes.")
    elif one.restart.code != 0:
        how = "did not start, or was killed" if one.restart.code is None else f"ended with {one.restart.code}"
        note(f"The program that restarts {name} {how}.")
        raise typer.Exit(Exit.CONFLICT)


def _wait_for_restart(client: Client, begun: StorageNodeView) -> StorageNodeView:
    give_up_s, one = time.monotonic() + _WAIT_S_MAX, begun
    while one.restart is not None and one.restart.ended_s is None and time.monotonic() < give_up_s:
        one = _poll_node(client, one)
    return one


def _node_after_restart(client: Client, ended: StorageNodeView) -> StorageNodeView:
    """Return the health of a node after a successful restart. A check may have begun before the restart ended, so the
    first that finds it away does not count.
    """
    give_up_s, one = time.monotonic() + _LOOKED_S_MAX, ended
    while _is_to_be_looked_at(one) and time.monotonic() < give_up_s:
        one = _poll_node(client, one)
    return one


def _is_to_be_looked_at(one: StorageNodeView) -> bool:
    if one.restart is None or one.restart.ended_s is None or one.restart.code != 0 or one.at_s is None:
        return False
    return one.at_s <= one.restart.ended_s or one.state == "away"


def _poll_node(client: Client, one: StorageNodeView) -> StorageNodeView:
    time.sleep(_LOOK_S)
    return next((found for found in client.storage_nodes().nodes if found.name == one.name), one)


def _rows(found: list[StorageNodeView]) -> Rows:
    return Rows(("node", "kind", "state", "since", "restart", "reason"), [_row(node) for node in found])


def _row(one: StorageNodeView) -> tuple[str, ...]:
    since = "" if one.since_s is None else duration(time.time() - one.since_s)
    return one.name, one.kind, one.state, since, _restart(one), one.reason


def _restart(one: StorageNodeView) -> str:
    if one.restart is None:
        return "possible" if one.restartable else "no command"
    if one.restart.ended_s is None:
        return "runs"
    return "done" if one.restart.code == 0 else "failed"
