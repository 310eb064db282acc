"""Output of services, in pieces or followed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from zoe_api.dependencies import MasterDep, Reader, StoreDep, visible_execution
from zoe_api.problems import from_master
from zoe_api.stream import sse, with_keep_alive
from zoe_lib.domain.execution import Execution
from zoe_lib.messaging.client import MasterClient, MasterRefused, MasterUnreachable
from zoe_lib.store.base import NotFound
from zoe_lib.wire import LogChunkView

router = APIRouter(prefix="/executions/{execution_id}/services/{service_id}/logs", tags=["logs"])

_BYTES_DEFAULT = 65536
_BYTES_MAX = 1 << 20
_FOLLOW_POLL_S = 0.3


@router.get("", response_model=LogChunkView)
def read_logs(
    execution_id: str,
    service_id: str,
    who: Reader,
    store: StoreDep,
    master: MasterDep,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=_BYTES_MAX)] = _BYTES_DEFAULT,
) -> LogChunkView:
    """A piece of the output from an offset; also after the end, as long as the back-end keeps it."""
    _check(visible_execution(store, who, execution_id), service_id)
    return LogChunkView(**_ask(master, service_id, offset, limit))


@router.get("/stream", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
def follow_logs(
    execution_id: str,
    service_id: str,
    who: Reader,
    store: StoreDep,
    master: MasterDep,
    offset: Annotated[int, Query(ge=0)] = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """The output as server-sent events until the service has ended. The id of each is the next offset.

    Events: `log` with a LogChunk, `waiting` while the master does not answer, `end`.
    """
    _check(visible_execution(store, who, execution_id), service_id)
    start = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else offset
    return StreamingResponse(with_keep_alive(_follow(master, service_id, start)), media_type="text/event-stream")


def _check(execution: Execution, service_id: str) -> None:
    if all(service.id != service_id for service in execution.services):
        raise NotFound(f"execution {execution.id} has no service {service_id}")


def _ask(master: MasterClient, service_id: str, offset: int, limit: int) -> dict[str, Any]:
    try:
        return master.ask("logs", {"service_id": service_id, "offset": offset, "limit": limit})
    except MasterRefused as refused:
        raise from_master(refused) from None


async def _follow(master: MasterClient, service_id: str, offset: int) -> AsyncIterator[list[bytes]]:
    told = False
    while True:
        try:
            body = {"service_id": service_id, "offset": offset, "limit": _BYTES_DEFAULT}
            chunk = await anyio.to_thread.run_sync(master.ask, "logs", body)
        except MasterUnreachable:
            yield [] if told else [sse(offset, "waiting", {"why": "the master is not reachable"})]
            told = True
        except MasterRefused as refused:
            # A service that was not started yet has no output; its stream begins later.
            yield [] if told else [sse(offset, "waiting", {"why": str(refused)})]
            told = True
        else:
            told = False
            offset = int(chunk["next_offset"])
            yield [sse(offset, "log", chunk)] if chunk["data"] or chunk["complete"] else []
            if chunk["complete"]:
                yield [sse(offset, "end", {})]
                return
            if chunk["data"]:
                continue
        await asyncio.sleep(_FOLLOW_POLL_S)
