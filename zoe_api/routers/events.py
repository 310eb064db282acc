"""The journal, as a list and as a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from zoe_api.dependencies import Reader, ServicesDep, StoreDep, visible_execution
from zoe_api.stream import JournalNews, sse, with_keep_alive
from zoe_lib.store.base import JournalEntry, Principal
from zoe_lib.wire import EventList, EventView

router = APIRouter(tags=["events"])


@router.get("/executions/{execution_id}/events", response_model=EventList)
def execution_events(
    execution_id: str,
    who: Reader,
    store: StoreDep,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
) -> EventList:
    """What happened to an execution, in order."""
    visible_execution(store, who, execution_id)
    return EventList(events=[_view(e) for e in store.journal(after, limit, execution_id=execution_id)])


@router.get("/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
def stream_events(
    who: Reader,
    its: ServicesDep,
    execution_id: str | None = None,
    all_tenants: Annotated[bool, Query(description="For admins.")] = False,
    after: Annotated[int | None, Query(ge=0, description="Begin after this id; default: with what comes now.")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Server-sent events with journal ids. A client that comes back with Last-Event-ID misses nothing."""
    if execution_id is not None:
        visible_execution(its.store, who, execution_id)
    if last_event_id is not None and last_event_id.isdecimal():
        after = int(last_event_id)
    if after is None:
        after = its.store.last_journal_id()
    tenant = None if _sees_all(who, all_tenants, execution_id) else who.tenant
    batches = _encoded(its.news, after, tenant, execution_id)
    return StreamingResponse(with_keep_alive(batches), media_type="text/event-stream")


def _sees_all(who: Principal, all_tenants: bool, execution_id: str | None) -> bool:
    return who.admin and (all_tenants or execution_id is not None)


async def _encoded(
    news: JournalNews, after: int, tenant: str | None, execution_id: str | None
) -> AsyncIterator[list[bytes]]:
    async for entries in news.follow(after, tenant, execution_id):
        yield [sse(e.id, e.kind, _view(e).model_dump(mode="json")) for e in entries]


def _view(entry: JournalEntry) -> EventView:
    return EventView(
        id=entry.id,
        kind=entry.kind,
        at_s=entry.at_s,
        cause_id=entry.cause_id,
        execution_id=entry.execution_id,
        version=entry.version,
        data=dict(entry.data),
    )
