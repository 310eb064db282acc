"""Routes of the API. One thread handles a request, from authentication to the text of its response.

The framework changes threads for each part that may block: authentication, the route's function, and the validation of
its response. On a busy machine each of these changes waits for a core.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from zoe_api.http.openapi import operation_id
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.http.turns import client_of
from zoe_client.wire import Diagnostic
from zoe_lib.submission import refusal as refusals

P = ParamSpec("P")
T = TypeVar("T")
_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_EMPTY = frozenset({b"", b"{}", b"[]", b"null"})
"""Bodies that clients send in place of none."""
_NAME_MAX, _ERRORS_MAX = 100, 100
CLIENT_LEFT = 499
"""The status that nginx logs for a request aborted by its client; it is never received."""
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class OneThreadRoute(APIRoute):
    """A route whose function, dependencies and response share one thread, unless the function is a coroutine.

    Dependencies that may block call `in_a_thread`. No dependency may wait for the event loop.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.bounds: tuple[str, ...] = getattr(endpoint, "bounds", ())
        """What bounds the work of a question (`zoe_api/questions/bounded.py`); empty for other routes."""
        self._waits = not inspect.iscoroutinefunction(endpoint)
        super().__init__(path, _as_coroutine(endpoint) if self._waits else endpoint, **options)

    def get_route_handler(self) -> _Handler:
        """Return the handler of requests."""
        handler = super().get_route_handler()
        names = frozenset(_query_names(self.dependant))

        async def answer(request: Request) -> Response:
            try:
                if request.method in _CHANGES:
                    _check_query(request, names)
                    await _check_body(request, self.body_field is not None)
                if self._waits and self.body_field is not None:
                    await request.body()  # kept in the request, so that the thread need not wait for it
            except ClientDisconnect:
                return Response(status_code=CLIENT_LEFT)
            if not self.bounds:
                return await (run_in_threadpool(_run, handler, request) if self._waits else handler(request))
            async with request.app.state.services.turns.turn(client_of(request)):
                if await request.is_disconnected():  # while it waited
                    return Response(status_code=CLIENT_LEFT)
                return await run_in_threadpool(_run, handler, request)

        return answer


def _query_names(dependant: Dependant) -> Iterator[str]:
    """Yield the query parameters of a route and its dependencies."""
    yield from (field.alias for field in dependant.query_params)
    for dependency in dependant.dependencies:
        yield from _query_names(dependency)


def _check_query(request: Request, names: frozenset[str]) -> None:
    """Refuse a change with an unknown query parameter: it would not do what the client meant."""
    if unknown := sorted(set(request.query_params) - names):
        hint = f"it takes {', '.join(sorted(names))}" if names else "it takes no query"
        errors = [
            Diagnostic(pointer=f"/query/{text[:_NAME_MAX]}", code="unknown", message="is unknown") for text in unknown
        ]
        raise ApiProblem(Code.INVALID_REQUEST, refusals.error_count(len(errors)), hint, errors=errors[:_ERRORS_MAX])


async def _check_body(request: Request, takes_body: bool) -> None:
    """Refuse a change with a body that its route does not read."""
    if takes_body or "json" not in request.headers.get("content-type", ""):
        return
    if (await request.body()).strip() not in _EMPTY:
        raise ApiProblem(
            Code.INVALID_REQUEST, refusals.error_count(1), "this request takes no body", errors=[_unknown("/body")]
        )


def _unknown(pointer: str) -> Diagnostic:
    return Diagnostic(pointer=pointer, code="unknown", message="is unknown")


def api_router(prefix: str = "", tag: str = "") -> APIRouter:
    """Return a router below the prefix of the API."""
    return APIRouter(
        prefix=PREFIX + prefix, tags=[tag], route_class=OneThreadRoute, generate_unique_id_function=operation_id
    )


async def in_a_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the result of a function that may block. In the event loop's thread, it runs in another one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work(*args, **kwargs)
    return await run_in_threadpool(work, *args, **kwargs)


def _as_coroutine(endpoint: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the function as a coroutine, since the framework gives a plain function a thread of its own."""

    @wraps(endpoint)
    async def call_endpoint(*args: P.args, **kwargs: P.kwargs) -> T:
        return endpoint(*args, **kwargs)

    return call_endpoint


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
