"""Limit request bodies, and check that they are strict JSON before any other code reads them."""

from __future__ import annotations

from collections.abc import Iterator

import anyio.to_thread
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, problem, problem_response, refuse_unread
from zoe_api.http.problems.refusals import note_refused
from zoe_api.http.turns import Turns, client_of
from zoe_client.wire import Diagnostic
from zoe_lib.descriptions import DescriptionError, load_json
from zoe_lib.submission.refusal import diagnostics_of

UPLOADS_PREFIX = "/api/v1/files/"
_DIGITS_MAX = 18
# Checking a larger body would delay other requests, so it runs outside the event loop.
_CHECKED_INLINE_BYTES_MAX = 16_384


class _TooLarge(Exception):  # noqa: N818 - it is a signal
    pass


class _Gone(Exception):  # noqa: N818 - it is a signal
    pass


class BodyMiddleware:
    """ASGI middleware: 413 for a body beyond the bound, declared or actual; 400 for invalid JSON.

    A body is read whole before the application sees the request: nothing starts for one that never arrives. Parts of
    uploads are passed on as they arrive; their route limits them.
    """

    def __init__(self, app: ASGIApp, bytes_max: int, turns: Turns) -> None:
        self._app = app
        self._bytes_max = bytes_max
        self._turns = turns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request with its body, or refuse it."""
        if scope["type"] != "http" or is_upload(scope):
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        try:
            self._check_declared(headers.get(b"content-length", b"0"))
            body = await self._read(receive)
        except _TooLarge:
            detail = f"a body may have at most {self._bytes_max} bytes"
            await refuse_unread(problem(Code.TOO_LARGE, detail, path=scope["path"]), scope, receive, send)
            return
        except _Gone:
            return
        try:
            errors = await self._check(body, scope) if _is_json(headers.get(b"content-type", b"")) else []
        except ApiProblem as refused:
            await problem_response(refused.for_path(scope["path"]))(scope, receive, send)
            return
        if errors:
            note_refused(scope, Code.INVALID_JSON)
            refusal = problem_response(problem(Code.INVALID_JSON, errors=errors, path=scope["path"]))
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replay_body(body, receive), send)

    def _check_declared(self, declared: bytes) -> None:
        if not declared.isdigit() or len(declared) > _DIGITS_MAX or int(declared) > self._bytes_max:
            raise _TooLarge

    async def _check(self, body: bytes, scope: Scope) -> list[Diagnostic]:
        if len(body) <= _CHECKED_INLINE_BYTES_MAX:
            return _findings(body) if body else []
        async with self._turns.turn(client_of(HTTPConnection(scope))):
            return await anyio.to_thread.run_sync(_findings, body)

    async def _read(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            if len(body) > self._bytes_max:
                raise _TooLarge
            if not message.get("more_body", False):
                return bytes(body)


def is_upload(scope: Scope) -> bool:
    """Return whether the request carries a part of an upload."""
    path: str = scope["path"]
    if not path.startswith(UPLOADS_PREFIX):
        return False
    method: str = scope["method"]
    return method == "PATCH" or (method == "PUT" and path.endswith("/tree"))


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return the application's `receive`: the whole body at once, then the next event, which is the disconnect."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _is_json(content_type: bytes) -> bool:
    kind = content_type.split(b";")[0].strip().lower()
    return kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json"))


def _findings(body: bytes) -> list[Diagnostic]:
    """Return the errors of the JSON: syntax, duplicate keys, NaN, depth, and text that can be neither sent nor
    stored.
    """
    try:
        document = load_json(body)
    except DescriptionError as error:
        return diagnostics_of(error.diagnostics)
    if b"\\u" in body and any(map(_unusable, _texts(document))):
        message = "a string contains a NUL character or half of a surrogate pair"
        return [Diagnostic(pointer="", code="bad_format", message=message)]
    return []


def _texts(document: object) -> Iterator[str]:
    todo = [document]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            todo.extend(value.keys())
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)


def _unusable(text: str) -> bool:
    return any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)
