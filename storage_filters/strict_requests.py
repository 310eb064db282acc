"""Proxy filter, the first in the pipeline, that refuses requests with an ambiguous end (request smuggling).

    [pipeline:main]
    pipeline = zoe_framing catch_errors gatekeeper healthcheck proxy-logging cache ...
    [filter:zoe_framing]
    paste.filter_factory = storage_filters.strict_requests:filter_factory

eventlet accepts `+3` and `3_0` as lengths, one of two lengths, folded lines, and any line as the end of a chunk. So a
second request could hide in one that a proxy before Swift accepted. The filter answers 400, and the connection is
closed. Carriage returns in a head, folded lines and lines without a name are detected only where
`storage_gateway.raw_heads` passes on the raw head; the embedded Swift and `zoe-gateway` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from swift.common.middleware.s3api.s3response import IncompleteBody
from swift.common.registry import register_swift_info
from swift.common.swob import HTTPBadRequest
from swift.common.utils import close_if_possible, get_logger
from swift.common.wsgi import WSGIContext

from storage_filters.wsgi.client_lines import ClientLines
from storage_filters.wsgi.framing import (
    AmbiguousRequestError,
    ChunkLines,
    check_head,
    check_headers,
    check_path,
    is_old,
)
from storage_filters.wsgi.whole_bodies import put_whole_body

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
INFO = "zoe_framing"
_BROKEN_OFF = "The request body terminated unexpectedly"
_CODING = "HTTP_TRANSFER_ENCODING"
HEAD = "zoe.head"
"""Key of the raw head of a request, in bytes."""


class _Refusing:
    """Replaces a connection's file: the rest after a refused request is not read, so the server closes the
    connection.
    """

    def __init__(self, refusal: AmbiguousRequestError) -> None:
        self._refusal = refusal

    def read(self, *_: Any) -> bytes:
        raise self._refusal

    readline = read


class StrictRequests:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str]) -> None:
        self._app = app
        self._lines = ClientLines(get_logger(conf, log_route="zoe-framing"))

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Refuse an ambiguous request; pass on all others."""
        server_input = env.get("eventlet.input")
        try:
            check(env)
        except AmbiguousRequestError as refusal:
            return self._refuse(env, start_response, refusal)
        if _CODING in env:
            env[_CODING] = env[_CODING].lower()  # Swift knows it in lower case only
        if server_input is None or not server_input.chunked_input:
            length = int(env.get("CONTENT_LENGTH") or 0)
            put_whole_body(env, length, lambda: self._broke_off(env))
            passed: Iterable[bytes] = self._app(env, start_response)
            return passed
        lines = server_input.rfile = ChunkLines(server_input.rfile)
        put_whole_body(env, None, lambda: self._broke_off(env, lines.refused))
        return self._of_chunks(env, start_response, lines)

    def _of_chunks(self, env: Environ, start_response: StartResponse, lines: ChunkLines) -> Iterable[bytes]:
        """Answer 400 instead of the store's answer to a body that could not be read."""
        context = WSGIContext(self._app)
        body: Iterable[bytes] = context._app_call(env)
        if lines.refused is not None:
            close_if_possible(body)
            return self._refuse(env, start_response, lines.refused)
        start_response(context._response_status, context._response_headers, context._response_exc_info)
        return body

    def _broke_off(self, env: Environ, refused: AmbiguousRequestError | None = None) -> Exception:
        """Return an exception that Swift's filters, its proxy and `s3api` answer without logging. refused: the reason,
        if it is logged elsewhere.
        """
        error: Exception = IncompleteBody(_BROKEN_OFF)
        if refused is not None:
            return error
        method, address = env["REQUEST_METHOD"], env.get("REMOTE_ADDR")
        self._lines.info(env, "broken off: %s %s from %s", method, env["PATH_INFO"], address)
        return error

    def _refuse(self, env: Environ, start_response: StartResponse, refusal: AmbiguousRequestError) -> Iterable[bytes]:
        if (server_input := env.get("eventlet.input")) is not None:
            # The server reads the rest of a body, fails, and closes the connection. After a last chunk, it would read
            # no more.
            server_input.chunked_input, server_input.rfile = True, _Refusing(refusal)
            server_input.chunk_length, server_input.position = -1, 0
        self._lines.info(env, "refused: %s from %s: %s", env["REQUEST_METHOD"], env.get("REMOTE_ADDR"), refusal)
        answer = HTTPBadRequest(body=f"{refusal}\n", content_type="text/plain", headers={"Connection": "close"})
        refused: Iterable[bytes] = answer(env, start_response)
        return refused


def check(env: Environ) -> None:
    """Check the head of a request. Raises AmbiguousRequestError."""
    check_path(env["PATH_INFO"])
    raw = env.get(HEAD)
    if raw is not None:
        check_head(raw)
    check_headers(env.get("headers_raw", ()), raw is not None and is_old(raw))


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], StrictRequests]:
    """Return the filter, for paste."""
    conf = {**global_conf, **local_conf}
    register_swift_info(INFO)
    return lambda app: StrictRequests(app, conf)
