"""Route that compares two executions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from zoe_api.access.access import AsReader
from zoe_api.access.visibility import may_see_secrets, seen_execution
from zoe_api.executions.diffing import diff_of
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller
from zoe_client.wire import DiffView
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.documents.cursors import encode_position
from zoe_lib.store.values import ExecutionQuery

router = api_router("/executions/{execution_id}/diff", tag="executions")
_PAGE, _PAGES_MAX = 100, 5


@router.get("", response_model=DiffView)
def diff_executions(
    execution_id: str,
    caller: AsReader,
    earlier: Annotated[
        str | None,
        Query(alias="from", max_length=256, description="The execution to compare with (default: the one before)."),
    ] = None,
) -> DiffView:
    """Return the differences from another execution, or from the previous one of the same name and user: fields of the
    description, outcome, times, and use. If one is only shared with you, environments and files are compared by name.
    """
    after = seen_execution(caller, execution_id)
    before = _previous_execution(after, caller) if earlier is None else None
    if earlier is not None:
        before = seen_execution(caller, earlier)
    if before is None:
        return DiffView(before=None, after=after.id, entries=[], hidden=False)
    use = {use.execution_id: use for use in caller.store.use_of([before.id, after.id], caller.services.clock.now_s())}
    hidden = not all(may_see_secrets(caller.principal, execution) for execution in (before, after))
    return diff_of(before, after, use, hidden)


def _previous_execution(after: Execution, caller: Caller) -> Execution | None:
    """Return the newest earlier execution with the same name and user; None if there is none."""
    cursor: str | None = encode_position((after.submitted_at_s, after.id))
    for _ in range(_PAGES_MAX):
        query = ExecutionQuery(
            visibility=caller.principal.visibility,
            user=after.user,
            name_contains=after.name,
            limit=_PAGE,
            cursor=cursor,
        )
        page = caller.store.executions(query)
        for execution in page.executions:
            if execution.name == after.name and execution.tenant == after.tenant:
                return execution
        if (cursor := page.next_cursor) is None:
            break
    return None
