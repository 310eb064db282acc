"""Old and new values of what a request changes, for the audit log."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request


def note_changes(request: Request, before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """Have the values that differ written into the request's audit entry; values are JSON, and no secrets."""
    names = sorted(before.keys() | after.keys())
    changes = {name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)}
    request.state.audit_changes = changes
