"""The journal, as a list and as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import aclosing
from typing import Annotated

from fastapi import Header, Query
from fastapi.responses import StreamingResponse

from zoe_api.access.access import AsReader, check
from zoe_api.access.views import all_entries, event_view
from zoe_api.access.visibility import note_look, seen_execution, still_visible
from zoe_api.executions.arrays import seen_array
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller, stream_place
from zoe_api.services.journal_news import JournalNews
from zoe_api.services.sse import sse
from zoe_api.services.stream import Batches, EventStream, resume_point
from zoe_client.wire import EventList, WaitShare, WaitSpan, WhyWaited
from zoe_client.wire.base import ID_MAX
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, is_array
from zoe_lib.domain.executions.events import EVENT_TYPES, Ended, Event, Refused
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.waiting import shares, spans
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import event_of
from zoe_lib.store.people import Principal
from zoe_lib.store.values import JournalEntry

router = api_router(tag="events")

_LAST_KINDS = (Ended.kind, Refused.kind)


@router.get("/executions/{execution_id}/events", response_model=EventList)
def execution_events(
    execution_id: str,
    caller: AsReader,
    after: Annotated[int, Query(ge=0, le=ID_MAX)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
) -> EventList:
    """Return the events of an execution, in order; with the id of an array, those of the whole array."""
    _visible_subject(execution_id, caller)
    entries = caller.store.journal(after, limit, execution_id=execution_id)
    return EventList(events=[event_view(e, caller.principal) for e in entries])


@router.get("/executions/{execution_id}/waits", response_model=WhyWaited)
def execution_waits(execution_id: str, caller: AsReader) -> WhyWaited:
    """Return the causes of the time before its start; every second of waiting has one."""
    seen_execution(caller, execution_id)
    waits = spans(_all_events(caller.store, execution_id), caller.services.clock.now_s())
    return WhyWaited(
        waited_s=sum(span.until_s - span.since_s for span in waits),
        causes=[WaitShare.model_validate(share) for share in shares(waits)],
        spans=[WaitSpan.model_validate(span) for span in waits],
    )


@router.get("/events", response_class=StreamingResponse)
def stream_events(
    caller: AsReader,
    execution_id: str | None = None,
    all_tenants: Annotated[bool, Query(description="For operators.")] = False,
    after: Annotated[
        int | None, Query(ge=0, le=ID_MAX, description="Start after this id (default: with new events).")
    ] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventStream:
    """Stream events as server-sent events with journal ids. A client that reconnects with Last-Event-ID misses nothing.

    The stream of one execution or array closes with an event `end` when it has ended and all events were sent.
    """
    if all_tenants:
        check(caller.principal, Scope.OPERATE)
    resumed = resume_point(last_event_id)
    after = after if resumed is None else resumed
    newest = caller.store.last_journal_id()
    # An id that does not exist yet comes from before a restore: waiting for it would miss the events until then.
    after = newest if after is None else min(after, newest)
    # Read after that id, or an end between the two would be missed.
    seen = None if execution_id is None else _visible_subject(execution_id, caller)
    visibility = ALL if all_tenants or seen is not None else caller.principal.visibility
    if seen is None and caller.principal.operator:
        note_look(caller, caller.request.url.path)
    over = seen is not None and (seen.ended_at_s is not None if isinstance(seen, Array) else seen.terminal)
    # An array is not shared, so it stays visible as long as its owner may sign in.
    execution = None if isinstance(seen, Array) else seen
    batches = _encode_batches(caller.services.news, after, visibility, execution_id, over, caller.principal)
    place = stream_place(caller)
    return EventStream(batches, lambda: still_visible(caller, execution), place, caller.services.stopping)


def _visible_subject(subject_id: str, caller: Caller) -> Execution | Array:
    """Return the execution or array with this id, if the principal sees it; NotFound."""
    if is_array(subject_id):
        return seen_array(subject_id, caller)
    return seen_execution(caller, subject_id)


async def _encode_batches(
    news: JournalNews,
    after: int,
    visibility: Visibility,
    execution_id: str | None,
    over: bool,
    principal: Principal,
) -> Batches:
    """Yield batches of events; `over`: the execution ended before the first read, so nothing follows an empty batch."""
    async with aclosing(news.follow(after, visibility, execution_id)) as batches:
        async for entries in batches:
            if entries:
                after = entries[-1].id
                yield [_text(news, entry, principal) for entry in entries]
            else:
                yield []
            ended = _is_over(entries) if entries else over
            if execution_id is not None and entries is not None and ended:
                yield [sse(after, "end", {})]
                return


def _is_over(entries: Sequence[JournalEntry]) -> bool:
    """Return whether these include the end: an array may run again after it, an execution ends once."""
    return any(entry.kind in _LAST_KINDS for entry in entries) or entries[-1].kind == ArrayEventKind.ENDED


def _text(news: JournalNews, entry: JournalEntry, principal: Principal) -> bytes:
    """Return the events as sent to the principal; all users of a shared execution get the same text, and all
    operators.
    """

    def make() -> bytes:
        return sse(entry.id, entry.kind, event_view(entry, principal).model_dump(mode="json"))

    shared = principal.operator or entry.execution_id is not None
    return news.recent.text(entry, principal.operator, make) if shared else make()


def _all_events(store: ExecutionStore, execution_id: str) -> Iterator[Event]:
    for e in all_entries(store, execution_id):
        if e.kind in EVENT_TYPES:
            yield event_of(e.kind, e.at_s, e.cause_id, e.data)
