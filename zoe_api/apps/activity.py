"""Tells what is a use of an application from what its pages ask by themselves; the store is told of uses."""

from __future__ import annotations

import time
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from zoe_lib.domain.execution import ExecutionId
from zoe_lib.store.base import ExecutionStore, StoreUnavailable

EVERY_S = 60.0
_REMEMBERED_MAX = 10_000
_REPEATED = ("GET", "HEAD", "OPTIONS", "PUT")
_NAVIGATE = "navigate"


def is_use(request: Request) -> bool:
    """Whether somebody opens a page or does something; a page that is left open reads on, and saves, by itself.

    JupyterLab 4 asks for its kernels and puts its layout every ten seconds, as long as it is open. Browsers say which
    it is (Fetch Metadata, W3C) to hosts they trust: over HTTPS, and below `localhost`. What says nothing is a use.
    """
    return request.method not in _REPEATED or request.headers.get("sec-fetch-mode", _NAVIGATE) == _NAVIGATE


class Activity:
    """Of one API process: each application's use at most once a minute."""

    def __init__(self, store: ExecutionStore) -> None:
        self._store = store
        self._told_s: dict[ExecutionId, float] = {}

    async def seen(self, execution_id: ExecutionId) -> None:
        """It is used now. What cannot be written now is written with a later use."""
        now_s = time.monotonic()
        if now_s < self._told_s.get(execution_id, -EVERY_S) + EVERY_S:
            return
        if len(self._told_s) >= _REMEMBERED_MAX:
            self._told_s.clear()
        self._told_s[execution_id] = now_s
        with suppress(StoreUnavailable):
            await run_in_threadpool(self._store.add_use_of, execution_id, time.time())
