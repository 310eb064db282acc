"""A filter of the proxy: an S3 request may do what its signature covers, and nothing else.

    [pipeline:main]
    pipeline = catch_errors gatekeeper healthcheck proxy-logging cache zoe_s3_signed listing_formats bulk s3api ...
    [filter:zoe_s3_signed]
    paste.filter_factory = storage_filters.s3_signed:filter_factory

Its place is after `proxy-logging`, which writes down what it refuses, and before `s3api` and each filter that reads
queries, such as `bulk`. Requests that are not S3's pass as they are. `plain_headers` lists further headers that may
come unsigned, with commas between: what a proxy before this one adds under a name of its own that begins with `X-`.

With `s3token` of Keystone, set `keys_with_colon = no`. It takes what follows a colon in an access key for the account
that is meant, and version 2 does not sign the key: a URL of a reseller admin would open each account.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from swift.common.middleware.s3api import s3response
from swift.common.middleware.s3api.exception import S3InputIncomplete
from swift.common.registry import register_swift_info
from swift.common.request_helpers import append_log_info
from swift.common.utils import config_true_value, get_logger, list_from_csv

from storage_filters.execution_auth.names import user_of
from storage_filters.s3_signed.aws_chunks import ChunkLines
from storage_filters.s3_signed.signatures import (
    CHECKED,
    Refusal,
    SignedRequest,
    access_key_of,
    is_streamed,
    why_refused,
)
from storage_filters.wsgi.client_lines import ClientLines
from storage_filters.wsgi.headers import BY_S3, environ_key

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
INFO = "zoe_s3_signed"
_HEADER = "HTTP_"
_WITHOUT_PREFIX = ("CONTENT_TYPE", "CONTENT_LENGTH")
_REASON = "not_signed"


class S3Signed:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str], now: Callable[[], float] = time.time) -> None:
        self._app = app
        self._lines = ClientLines(get_logger(conf, log_route="zoe-s3-signed"))
        self._plain = frozenset(name.lower() for name in list_from_csv(conf.get("plain_headers", "")))
        self._colons = config_true_value(conf.get("keys_with_colon", "yes"))
        self._now = now

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Refuse an S3 request that asks for more than is signed; pass on all others."""
        request = SignedRequest.of(env["REQUEST_METHOD"], env.get("QUERY_STRING", ""), _headers(env))
        env[CHECKED] = True
        if access_key_of(request) is not None:
            env[environ_key(BY_S3)] = "yes"
        if (refusal := why_refused(request, self._now(), self._plain) or self._foreign(request)) is not None:
            refused: Iterable[bytes] = self._answer(env, refusal)(env, start_response)
            return refused
        if is_streamed(request):
            env["wsgi.input"] = ChunkLines(env["wsgi.input"], lambda sentence: self._bad_line(env, sentence))
        passed: Iterable[bytes] = self._app(env, start_response)
        return passed

    def _foreign(self, request: SignedRequest) -> Refusal | None:
        """Refuse a key that names an account; those of executions, which the next filter checks, name their own."""
        key = "" if self._colons else access_key_of(request) or ""
        if ":" not in key or user_of(key) is not None:
            return None
        return Refusal("AccessDenied", "Access keys have no colon here: a key opens the account of its own project.")

    def _answer(self, env: Environ, refusal: Refusal) -> Any:
        self._lines.info(env, "refused: %s %s: %s", env["REQUEST_METHOD"], env["PATH_INFO"], refusal.sentence)
        named = refusal.code == "AccessDenied" and refusal.names
        more = {"headers_not_signed": ", ".join(refusal.names)} if named else {}
        if refusal.code == "InvalidArgument":
            answer = s3response.InvalidArgument(refusal.names[0], "", refusal.sentence, reason=_REASON)
        else:
            answer = getattr(s3response, refusal.code)(refusal.sentence, reason=_REASON, **more)
        append_log_info(env, f"s3:err:{answer.summary}")
        if "swift.trans_id" in env:
            answer.headers["x-amz-id-2"] = answer.headers["x-amz-request-id"] = env["swift.trans_id"]
        return answer

    def _bad_line(self, env: Environ, sentence: str) -> BaseException:
        self._lines.info(env, "refused: %s", sentence)
        error: BaseException = S3InputIncomplete(sentence)  # s3api answers it: 400 IncompleteBody
        return error


def _headers(env: Environ) -> Iterable[tuple[str, str]]:
    """Return the headers as they came, also those that other filters took away."""
    if "headers_raw" in env:
        raw: Iterable[tuple[str, str]] = env["headers_raw"]
        return raw
    names = {key: key.removeprefix(_HEADER) for key in env if key.startswith(_HEADER)}
    names |= {key: key for key in _WITHOUT_PREFIX if env.get(key)}
    return [(name.replace("_", "-"), str(env[key])) for key, name in names.items()]


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], S3Signed]:
    """Return the filter, for paste."""
    conf = {**global_conf, **local_conf}
    register_swift_info(INFO)
    return lambda app: S3Signed(app, conf)
