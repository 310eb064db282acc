"""Proxy filter that refuses S3 requests that ask for more than their signature covers.

    [pipeline:main]
    pipeline = catch_errors gatekeeper healthcheck proxy-logging cache zoe_s3_signed listing_formats bulk s3api ...
    [filter:zoe_s3_signed]
    paste.filter_factory = storage_filters.s3_signed:filter_factory

Put it after `proxy-logging`, which logs refused requests, and before `s3api` and each filter that reads queries, such
as `bulk`. Other requests pass unchanged. `plain_headers` lists further headers that may be unsigned, separated by
commas: `X-` headers that a proxy before this one adds.

With `s3token` of Keystone, set `keys_with_colon = no`. It takes the text after a colon in an access key for the
account, and version 2 does not sign the key: a URL of a reseller admin would open every account.
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


class SignedS3Filter:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str], now: Callable[[], float] = time.time) -> None:
        self._app = app
        self._lines = ClientLines(get_logger(conf, log_route="zoe-s3-signed"))
        self._plain = frozenset(name.lower() for name in list_from_csv(conf.get("plain_headers", "")))
        self._colons = config_true_value(conf.get("keys_with_colon", "yes"))
        self._now = now

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Refuse an S3 request that asks for more than its signature covers; pass on all others."""
        request = SignedRequest.from_query(env["REQUEST_METHOD"], env.get("QUERY_STRING", ""), _headers(env))
        env[CHECKED] = True
        if access_key_of(request) is not None:
            env[environ_key(BY_S3)] = "yes"
        if (refusal := why_refused(request, self._now(), self._plain) or self._refuse_foreign_key(request)) is not None:
            refused: Iterable[bytes] = self._answer(env, refusal)(env, start_response)
            return refused
        if is_streamed(request):
            env["wsgi.input"] = ChunkLines(env["wsgi.input"], lambda sentence: self._bad_line(env, sentence))
        passed: Iterable[bytes] = self._app(env, start_response)
        return passed

    def _refuse_foreign_key(self, request: SignedRequest) -> Refusal | None:
        """Refuse a key that names an account, except keys of executions, which name their own account and which the
        next filter checks.
        """
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
    """Return the original headers, including headers that other filters removed."""
    if "headers_raw" in env:
        raw: Iterable[tuple[str, str]] = env["headers_raw"]
        return raw
    names = {key: key.removeprefix(_HEADER) for key in env if key.startswith(_HEADER)}
    names |= {key: key for key in _WITHOUT_PREFIX if env.get(key)}
    return [(name.replace("_", "-"), str(env[key])) for key, name in names.items()]


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], SignedS3Filter]:
    """Return the filter, for paste."""
    conf = {**global_conf, **local_conf}
    register_swift_info(INFO)
    return lambda app: SignedS3Filter(app, conf)
