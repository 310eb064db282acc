"""The object store's bandwidth."""

from __future__ import annotations

from fastapi import APIRouter, Request

from zoe_api.access import Reader
from zoe_api.dependencies import MasterDep, StoreDep, ask
from zoe_lib.domain.execution import WAITING_STATES
from zoe_lib.domain.reasons import ReasonCode
from zoe_lib.wire import StorageView, StorageWaitView

router = APIRouter(tags=["storage"])


@router.get("/storage", response_model=StorageView)
def get_storage(who: Reader, store: StoreDep, master: MasterDep, request: Request) -> StorageView:
    """Capacity, what is granted and achieved, and who waits; of other tenants only operators are told."""
    told = StorageView(**ask(master, "storage", {}, request))
    waiting = [
        StorageWaitView(execution_id=e.id, tenant=e.tenant, user=e.user, sentence=e.reason.sentence)
        for e in store.active()
        if e.state in WAITING_STATES and e.reason is not None and e.reason.code is ReasonCode.STORAGE_BANDWIDTH
    ]
    return told.model_copy(
        update={
            "tenants": [one for one in told.tenants if who.operator or one.tenant == who.tenant],
            "waiting": [one for one in waiting if who.operator or one.tenant == who.tenant],
        }
    )
