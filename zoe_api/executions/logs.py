"""Output of services, in pieces or followed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query
from fastapi.responses import StreamingResponse

from zoe_api.access.access import AsReader
from zoe_api.access.visibility import seen_execution, still_visible
from zoe_api.executions.log_tail import LogTail, is_alive
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import ask, stream_place
from zoe_api.services.stream import EventStream, resume_point
from zoe_client.wire import LogChunkView

router = api_router("/executions/{execution_id}/services/{service_id}/logs", tag="logs")

_BYTES_DEFAULT = 65536
_BYTES_MAX = 1 << 20
_OFFSET_MAX = 2**53 - 1  # the largest integer that every JSON reader holds


@router.get("", response_model=LogChunkView)
def read_logs(
    execution_id: str,
    service_id: str,
    caller: AsReader,
    offset: Annotated[int, Query(ge=0, le=_OFFSET_MAX)] = 0,
    limit: Annotated[int, Query(ge=1, le=_BYTES_MAX)] = _BYTES_DEFAULT,
) -> LogChunkView:
    """Return a piece of a service's output from an offset, for as long as the back-end keeps the output.

    It is empty if the service has not started yet.
    """
    alive = is_alive(seen_execution(caller, execution_id), service_id)
    try:
        body = {"service_id": service_id, "offset": offset, "limit": limit}
        return LogChunkView(**ask(caller.services.master, "logs", body, caller.request, caller.user))
    except ApiProblem as refused:
        if alive and refused.problem.status == 404:
            return LogChunkView(data="", offset=offset, next_offset=offset, complete=False)
        raise


@router.get("/stream", response_class=StreamingResponse)
def stream_logs(
    execution_id: str,
    service_id: str,
    caller: AsReader,
    offset: Annotated[int, Query(ge=0, le=_OFFSET_MAX)] = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventStream:
    """Stream a service's output as server-sent events until the service has ended. The id of each event is the next
    offset.

    Events: `log` with a LogChunk, `waiting` while there is nothing to read from, `end`.
    """
    execution = seen_execution(caller, execution_id)
    is_alive(execution, service_id)
    resumed = resume_point(last_event_id)
    tail = LogTail(caller.store, caller.services.output, caller.services.news, execution, service_id)
    batches = tail.follow(offset if resumed is None else resumed)
    place = stream_place(caller)
    return EventStream(batches, lambda: still_visible(caller, execution), place, caller.services.stopping)
