"""Health and metrics. These answers need no thread of the requests' pool, which a hanging database can use up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from zoe_api.services.dependencies import Services
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.store.errors import StoreUnavailable

# A component that has not answered by then counts as away; clients give up after some seconds.
_WAIT_S = 3.0
_THREADS = 4


def install(app: FastAPI) -> None:
    """Add the routes, which need no token."""
    app.state.health_threads = anyio.CapacityLimiter(_THREADS)
    no_database: dict[int | str, dict[str, Any]] = {503: {"description": "No database."}}
    app.get("/healthz", response_class=PlainTextResponse, tags=["health"])(healthz)
    app.get("/readyz", response_class=JSONResponse, tags=["health"], responses=no_database)(readyz)
    app.get("/metrics", response_class=PlainTextResponse, tags=["health"])(metrics)


async def healthz() -> str:
    """Return 200 while the process runs."""
    return "ok"


async def readyz(request: Request) -> JSONResponse:
    """Return 200 if submissions are accepted, else 503, and whether the master answers."""
    services: Services = request.app.state.services
    checks = {"database": services.store.ping, "master": services.master_status.read}
    parts = dict.fromkeys(checks, "not reachable")
    async with anyio.create_task_group() as group:
        for name, check in checks.items():
            group.start_soon(_look, name, check, parts, request.app.state.health_threads)
    return JSONResponse(parts, 200 if parts["database"] == "ok" else 503)


async def metrics() -> Response:
    """Return the metrics of this process, for Prometheus."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _look(name: str, check: Callable[[], object], parts: dict[str, str], threads: anyio.CapacityLimiter) -> None:
    with anyio.move_on_after(_WAIT_S):
        if await anyio.to_thread.run_sync(_works, check, limiter=threads, abandon_on_cancel=True):
            parts[name] = "ok"


def _works(check: Callable[[], object]) -> bool:
    try:
        check()
    except (StoreUnavailable, MasterUnreachable, MasterRefused):
        return False
    return True
