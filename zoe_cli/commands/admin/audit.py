"""admin audit."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import Rows, emit, note
from zoe_cli.registry import add
from zoe_cli.units import clock


def audit(
    context: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only what this user asked for.")] = None,
    before: Annotated[int | None, typer.Option(min=1, help="Only entries with a lower id: the next page.")] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="At most so many.")] = 50,
) -> None:
    """Who asked for which change, newest first; also what was refused. `-` says that the end was not seen."""
    with options(context).client() as client:
        answer = client.admin.audit(user=user, before=before, limit=limit)
    rows = [
        (e.id, clock(e.at_s), e.user, e.tenant, e.action, e.target, "-" if e.status is None else e.status, e.by)
        for e in answer.entries
    ]
    emit(answer, options(context).output, Rows(("id", "at", "user", "tenant", "action", "path", "status", "by"), rows))
    if answer.next_before is not None:
        note(f"more: zoe admin audit --before {answer.next_before}")


def register(app: typer.Typer) -> None:
    """Add it."""
    add(app, "audit", audit, ("zoe admin audit --user ada",))
