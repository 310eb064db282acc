"""admin audit."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.wire import AuditEntryView


def audit(
    context: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only changes that this user requested.")] = None,
    action: Annotated[str | None, typer.Option(help="Only changes of this kind, such as set_policy.")] = None,
    before: Annotated[int | None, typer.Option(min=1, help="Only entries with a lower id: the next page.")] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Maximum number of entries.")] = 50,
) -> None:
    """List who requested which change, newest first, also if it was refused. `-`: the answer was not recorded."""
    with options(context).client() as client:
        answer = client.admin.audit(user=user, action=action, before=before, limit=limit)
    columns = ("id", "at", "user", "tenant", "action", "path", "status", "by", "address", "changes")
    emit(answer, options(context).output, Rows(columns, [_row(entry) for entry in answer.entries]))
    if answer.next_before is not None:
        note(f"more: zoe admin audit --before {answer.next_before}")


def _row(entry: AuditEntryView) -> tuple[object, ...]:
    status = "-" if entry.status is None else entry.status
    changes = ", ".join(f"{name}: {json.dumps(old)} -> {json.dumps(new)}" for name, (old, new) in entry.changes.items())
    about = (entry.id, clock(entry.at_s), entry.user, entry.tenant, entry.action, entry.target)
    return (*about, status, entry.by, entry.address, changes)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "audit", audit, ("zoe admin audit --user ada",))
