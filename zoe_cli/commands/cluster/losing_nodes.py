"""zoe nodes lose: what the loss of nodes would do. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.rows import Rows
from zoe_cli.units import duration
from zoe_client.wire import LosingView, NodeLossRequest, NodeLossView

Chosen = Annotated[
    list[str],
    typer.Argument(metavar="NODE|LABEL=VALUE...", help="Names of nodes, or labels that nodes have: rack=b."),
]


def lose(context: typer.Context, chosen: Chosen) -> None:
    """Tell what would happen if nodes were lost now (admins and operators). Nothing is changed.

    Of several labels, nodes have all. EFFECT: what an execution with services there does. START: when it starts
    again, or when a waiting one starts, before and after.
    """
    labels = dict(word.split("=", 1) for word in chosen if "=" in word)
    wanted = NodeLossRequest(nodes=[word for word in chosen if "=" not in word], labels=labels)
    with options(context).client() as client:
        found = client.try_loss(wanted)
    emit(found, options(context).output, Rows(("id", "name", "user", "services", "effect", "start"), list(rows(found))))


def rows(found: NodeLossView) -> Iterator[tuple[str, ...]]:
    """Yield a row for each effect."""
    for row in found.failed:
        yield (*_who(row), "fails: its attempts are used up", "")
    for restart in found.restarts:
        start = "at once, on other nodes" if restart.starts_now else _after(restart.wait_s)
        why = "" if restart.reason is None else f" ({restart.reason.sentence.rstrip('.')})"
        late = "; misses its promise" if restart.misses_promise else ""
        yield (*_who(restart), f"starts again{late}", f"{start}{why}")
    for row in found.shrunk:
        yield (*_who(row), "goes on with fewer elastic services", "")
    for execution_id in found.booked:
        yield (execution_id, "", "", "", "loses the nodes booked for its promise", "")
    for wait in found.longer:
        start = f"{_after(wait.before_s)} before, {_after(wait.after_s)} then"
        yield (wait.id, wait.name, f"{wait.tenant}/{wait.user}", "", "waits", start)
    shown = len(found.failed) + len(found.restarts) + len(found.shrunk) + len(found.booked)
    whole = found.failed_total + found.restarts_total + found.shrunk_total + found.booked_total
    if shown < whole:
        yield (f"and {whole - shown} more", "", "", "", "", "")


def _who(row: LosingView) -> tuple[str, str, str, str]:
    return row.id, row.name, f"{row.tenant}/{row.user}", str(row.services)


def _after(wait_s: float | None) -> str:
    return "not known" if wait_s is None else f"in {duration(wait_s)}"
