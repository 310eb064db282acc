"""Old and new values of changed fields, for the audit log."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import HTTPConnection


def note_changes(request: HTTPConnection, before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """Add the differing values to the request's audit entry; values are JSON without secrets."""
    names = sorted(before.keys() | after.keys())
    changes = {name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)}
    request.state.audit_changes = {**getattr(request.state, "audit_changes", {}), **changes}
