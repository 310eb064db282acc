"""Collect refusals for the audit log where they occur; they are written with the response."""

from __future__ import annotations

from starlette.types import Scope

from zoe_api.http.problems.codes import Code


def note_refused(scope: Scope, code: Code) -> None:
    """Record the refusal of an unknown client, if there is a place."""
    scope.setdefault("state", {})["refused"] = code
