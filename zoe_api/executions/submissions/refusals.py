"""Check a description before it is stored; what is wrong with it is the answer to the request."""

from __future__ import annotations

from typing import Any

from zoe_api.http.problems.problems import as_problems
from zoe_api.services.dependencies import Caller
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.submission import checking
from zoe_lib.submission.checking import Checked


def checked(
    document: dict[str, Any],
    caller: Caller,
    priority: int | None = None,
    versions: TermsVersions | None = None,
) -> Checked:
    """Return the application of a description, unless it can never run here: 422 with all reasons."""
    with as_problems():
        return checking.checked(document, caller.services, caller.principal, priority, versions)


def checked_priority(wish: int, caller: Caller, tenant: str) -> int:
    """Return the priority that a principal wishes for an execution of a tenant; 422 if it is too high."""
    with as_problems():
        return checking.checked_priority(wish, caller.services, caller.principal, tenant)
