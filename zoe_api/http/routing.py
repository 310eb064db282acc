"""Routes of the API. One thread works on a request, from the look-up of its client to the text of its answer.

The framework changes threads for each part that may wait: the look-up of the client, the route's function, and the
check of its answer. On a busy machine each of these changes waits for a core."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from zoe_api.http.openapi import operation_id
from zoe_api.http.request_context import PREFIX

P = ParamSpec("P")
T = TypeVar("T")
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class OneThreadRoute(APIRoute):
    """A route whose function, dependencies and answer share one thread, unless the function is a coroutine.

    Dependencies that may wait call `in_a_thread`. No dependency may wait for the event loop."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self._waits = not inspect.iscoroutinefunction(endpoint)
        super().__init__(path, _as_coroutine(endpoint) if self._waits else endpoint, **options)

    def get_route_handler(self) -> _Handler:
        """Return what answers requests."""
        handler = super().get_route_handler()
        if not self._waits:
            return handler

        async def answer(request: Request) -> Response:
            if self.body_field is not None:
                await request.body()  # kept in the request, so that the thread need not wait for it
            return await run_in_threadpool(_run, handler, request)

        return answer


def api_router(prefix: str = "", tag: str = "") -> APIRouter:
    """Return a router below the prefix of the API."""
    return APIRouter(
        prefix=PREFIX + prefix, tags=[tag], route_class=OneThreadRoute, generate_unique_id_function=operation_id
    )


async def in_a_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function returns that may wait. If this is the event loop's thread, it runs in another one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work(*args, **kwargs)
    return await run_in_threadpool(work, *args, **kwargs)


def _as_coroutine(endpoint: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the function as the framework wants it, which would give a plain one a thread of its own."""

    @wraps(endpoint)
    async def called(*args: P.args, **kwargs: P.kwargs) -> T:
        return endpoint(*args, **kwargs)

    return called


def _run(handler: _Handler, request: Request) -> Response:
    """Run a coroutine that never waits for an event loop, in a thread without one."""
    work = handler(request)
    try:
        work.send(None)
    except StopIteration as end:
        response: Response = end.value
        return response
    finally:
        work.close()
    raise RuntimeError(f"{request.scope['path']} waits for the event loop")
