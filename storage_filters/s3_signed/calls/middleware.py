"""Proxy filter for conditions and checksums of S3, and for `If-Range`, which Swift ignores.

    [pipeline:main]
    pipeline = ... cache zoe_s3_signed zoe_s3_calls listing_formats bulk s3api <authentication> zoe_s3_calls copy ...
    [filter:zoe_s3_calls]
    paste.filter_factory = storage_filters.s3_signed.calls:filter_factory

It stands in the pipeline twice. Before `s3api`, it notes what a call asks for, and completes the answer. After the
authentication, it evaluates conditions, and keeps and reads checksums in metadata of objects. `s3api` itself compares
the checksum of a body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from swift.common.middleware.s3api.s3response import InvalidArgument, InvalidRequest, MissingContentLength
from swift.common.swob import Request

from storage_filters.s3_signed.aws_chunks import ChunkLines
from storage_filters.s3_signed.calls.after_s3api import answer_call, answer_ranged, forget_copied
from storage_filters.s3_signed.calls.call import COMPLETE, S3Call
from storage_filters.s3_signed.calls.listing import wrong_parameter
from storage_filters.s3_signed.signatures import SignedRequest, access_key_of

_CALL = "zoe.s3_call"
_END = b"</CompleteMultipartUploadResult>"

Environ = dict[str, Any]
StartResponse = Callable[..., Any]


class S3Calls:
    """The WSGI filter."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Complete a call of S3, or do its part behind `s3api`; pass on all others."""
        passed: Iterable[bytes]
        if (call := env.get(_CALL)) is not None:
            passed = answer_call(Request(env), call, self._app)(env, start_response)
            return passed
        signed = SignedRequest.from_query(
            env["REQUEST_METHOD"],
            env.get("QUERY_STRING", ""),
            ((name, env[key]) for name, key in (("authorization", "HTTP_AUTHORIZATION"),) if env.get(key)),
        )
        if access_key_of(signed) is not None:
            return self._before_s3api(env, start_response, signed)
        forget_copied(env)
        app = answer_ranged(Request(env), self._app) if "HTTP_IF_RANGE" in env else self._app
        passed = app(env, start_response)
        return passed

    def _before_s3api(self, env: Environ, start_response: StartResponse, signed: SignedRequest) -> Iterable[bytes]:
        query = dict(signed.query)
        refused: Iterable[bytes]
        if env["REQUEST_METHOD"] == "GET" and (wrong := wrong_parameter(query)) is not None:
            name, sentence = wrong
            refused = InvalidArgument(name, query[name], sentence)(env, start_response)
            return refused
        try:
            call = S3Call.from_environ(env, query)
        except ValueError as error:
            refused = InvalidRequest(str(error), reason="checksum")(env, start_response)
            return refused
        if call.needs_length and not env.get("CONTENT_LENGTH"):  # s3api counts up to it, and fails with status 500
            refused = MissingContentLength()(env, start_response)
            return refused
        if isinstance(env["wsgi.input"], ChunkLines):
            call.trailers = env["wsgi.input"].trailers
        env[_CALL] = call
        call.take(env)

        def start(status: str, headers: Iterable[tuple[str, str]], *rest: Any) -> Any:
            if not status.startswith("2"):
                return start_response(status, headers, *rest)
            kept = [(name, text) for name, text in headers if not call.elements or name.lower() != "content-length"]
            return start_response(status, [*kept, *call.shown.items()], *rest)

        answered: Iterable[bytes] = self._app(env, start)
        return _with_elements(answered, call) if call.kind == COMPLETE else answered


def _with_elements(pieces: Iterable[bytes], call: S3Call) -> Iterator[bytes]:
    try:
        for piece in pieces:
            more = "".join(f"<{name}>{text}</{name}>" for name, text in call.elements.items())
            yield piece.replace(_END, more.encode() + _END)
    finally:
        if (close := getattr(pieces, "close", None)) is not None:
            close()


def filter_factory(_: Any, **__: Any) -> Callable[[Any], S3Calls]:
    """Return the factory of the filter, for paste."""
    return S3Calls
