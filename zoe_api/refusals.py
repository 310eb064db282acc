"""Which refusals go into the audit log, noted where they are made and written down when they are answered."""

from __future__ import annotations

from starlette.types import Scope

from zoe_api.codes import Code


def note_refused(scope: Scope, code: Code) -> None:
    """Have the request of an unknown asker written down as refused, if there is a place."""
    scope.setdefault("state", {})["refused"] = code
