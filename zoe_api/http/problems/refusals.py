"""Note refusals for the audit log where they are made; they are written when they are answered."""

from __future__ import annotations

from starlette.types import Scope

from zoe_api.http.problems.codes import Code


def note_refused(scope: Scope, code: Code) -> None:
    """Note that the request of an unknown client was refused, if there is a place."""
    scope.setdefault("state", {})["refused"] = code
