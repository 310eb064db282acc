"""Tell users' activity from automatic requests of pages, and report activity to the store."""

from __future__ import annotations

from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import StoreUnavailable

EVERY_S = 60.0
_REMEMBERED_MAX = 10_000
_REPEATED = ("GET", "HEAD", "OPTIONS", "PUT")
_NAVIGATE = "navigate"
_SHARED_DOCUMENTS = "/api/collaboration/room/"
# In the protocol of Yjs, the first byte is the kind of the message, the second one that of a synchronization.
_CHANGE = b"\x00\x02"


def is_use(request: Request) -> bool:
    """Return whether a person opens a page or acts; a page that is left open also reads and saves by itself.

    JupyterLab 4 requests its kernels and saves its layout every ten seconds while it is open. Browsers mark such
    requests (Fetch Metadata, W3C) for hosts that they trust: over HTTPS, and below `localhost`. A request without the
    mark counts as activity."""
    return request.method not in _REPEATED or request.headers.get("sec-fetch-mode", _NAVIGATE) == _NAVIGATE


def is_use_of_socket(path: str, message: str | bytes) -> bool:
    """Return whether a person acts by a message of a WebSocket. Pages of JupyterLab with shared documents also tell
    each other every few seconds that they are there; there, only changes of the document count."""
    if not path.startswith(_SHARED_DOCUMENTS):
        return True
    return isinstance(message, bytes) and message.startswith(_CHANGE)


class Activity:
    """Record activity of this API process, at most once a minute for each application."""

    def __init__(self, store: ExecutionStore, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._store = store
        self._told_s: dict[ExecutionId, float] = {}

    async def record_use(self, execution_id: ExecutionId) -> None:
        """Record activity now. If it cannot be written, the next activity writes it."""
        now_s = self._clock.monotonic_s()
        if now_s < self._told_s.get(execution_id, -EVERY_S) + EVERY_S:
            return
        if len(self._told_s) >= _REMEMBERED_MAX:
            self._told_s.clear()
        self._told_s[execution_id] = now_s
        with suppress(StoreUnavailable):
            await run_in_threadpool(self._store.add_use_of, execution_id, self._clock.now_s())
