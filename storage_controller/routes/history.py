"""Use of the store by executions, under `/v1/owners/{owner}/history`: requests, rules and bytes over time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from storage_controller.answers import RequestRefusedError
from storage_controller.database.use_rows import SPAN_S
from storage_controller.routes.parameters import LedgerDep
from zoe_client.wire.storage.history import ExecutionUsesView, StorageUsesView

_TIME_MAX = 2.0**40
At = Annotated[float, Query(ge=0, le=_TIME_MAX, allow_inf_nan=False)]
Stretch = Annotated[float, Query(ge=SPAN_S, le=_TIME_MAX, allow_inf_nan=False)]
Name = Annotated[str | None, Query(min_length=1, max_length=256)]
_STRETCHES_MAX = 1000


router = APIRouter(prefix="/v1/owners/{owner}/history")


@router.get("")
def history(
    ledger: LedgerDep, owner: str, from_s: At, to_s: At, stretch_s: Stretch, execution: Name = None, tenant: Name = None
) -> StorageUsesView:
    """Return the executions that moved bytes in that time: their subjects in total, their bytes by interval."""
    if (to_s - from_s) / stretch_s > _STRETCHES_MAX:
        raise RequestRefusedError(400, f"at most {_STRETCHES_MAX} intervals are returned: ask for longer ones")
    spans = ledger.spans(owner, (from_s, to_s, stretch_s), execution, tenant)
    named = {*spans, *([execution] if execution is not None else [])}
    executions = {
        text: ExecutionUsesView.model_validate(
            {"points": spans.get(text, ()), "uses": ledger.uses_of_execution(owner, text)}
        )
        for text in sorted(named)
    }
    return StorageUsesView(stretch_s=stretch_s, executions=executions)
