"""Object server filter that runs the filters that rules set ON OBJECT.

    [pipeline:main]
    pipeline = ... zoe_pushdown zoe_object_filters object-server
    [filter:zoe_object_filters]
    paste.filter_factory = storage_filters.object_host:filter_factory
    keyring_file = /etc/swift/zoe-keyring.json
    account_prefix = AUTH_

The proxy's `zoe_filters` evaluates the rules, and names the filters in a header that clients cannot send. They run
after the proxy's filters, nearest to the disk, and are undone first: proxies, and the filters before this one, see the
bytes, size and ETag as sent to this server. Files move between object servers unchanged, with the metadata that record
their filters. If this server lacks a key, it answers with the stored bytes, and the proxy undoes the filters.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from eventlet import sleep
from swift.common.request_helpers import resolve_etag_is_at_header
from swift.common.swob import HTTPServiceUnavailable, HTTPUnprocessableEntity, Request, Response
from swift.common.utils import close_if_possible, get_logger

from storage_filters.counting.cpu_frames import CpuRecord
from storage_filters.counting.request_computing import computing_or_new
from storage_filters.filter_host.node_body import NodeBody, has_documents
from storage_filters.filter_host.original_bytes import Form, OriginalBytes, plain_request
from storage_filters.filter_host.records import filters_of, node_steps
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.stream_filters import (
    DamagedObjectError,
    FilterAway,
    FilterRefusedError,
    ObjectReplacedError,
)
from storage_filters.wsgi.headers import NODE_DONE, NODE_ETAG, NODE_SIZE, NODE_STEPS, NODE_STORED, UNDONE
from storage_filters.wsgi.object_requests import name_of, text_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
HEALTH_PATH = "/zoe-filters"
"""Path that the storage controller reads for the health of nodes."""
_REFUSAL_TOLD_S = 600.0
_OBJECT_PATH_PARTS = 5
_TRIES = 5
_OK = 200
_PART_OF_BYTES = (206, 416)
_OWN = (NODE_DONE, NODE_ETAG, NODE_SIZE)
_OF_LENGTH = ("content-length", "content-range", "etag")


class ObjectHost:
    """The WSGI filter. told: logs why a filter could not run."""

    def __init__(
        self, app: Any, keyring: Keyring, prefix: str = "AUTH_", told: Callable[[str], None] = lambda _: None
    ) -> None:
        self._app = app
        self._keyring = keyring
        self._prefix = prefix
        self._told = told
        self._last_refusal, self._refused_s = "", 0.0

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Filter stored and read objects; pass all other requests on, such as files from other object servers."""
        parts = env["PATH_INFO"].split("/", _OBJECT_PATH_PARTS)
        method, request = env["REQUEST_METHOD"], Request(env)
        steps = request.headers.pop(NODE_STEPS, None)
        if env["PATH_INFO"] == HEALTH_PATH and method == "GET":
            told: Iterable[bytes] = self._health(request)(env, start_response)
            return told
        if len(parts) <= _OBJECT_PATH_PARTS or method not in ("PUT", "GET", "HEAD"):
            passed: Iterable[bytes] = self._app(env, start_response)
            return passed
        tenant = text_of(parts[3]).removeprefix(self._prefix)
        if method != "PUT":
            return self._read(request, tenant, start_response)
        answer = request.get_response(self._app) if steps is None else self._store(request, steps, tenant)
        answered: Iterable[bytes] = answer(env, start_response)
        return answered

    def _store(self, request: Request, text: str, tenant: str) -> Response:
        """Store an object. Answer 422 if the filters cannot run: a proxy takes 409 for a newer object."""
        try:
            steps = node_steps(text, tenant, self._keyring, _name(request))
        except (FilterRefusedError, DamagedObjectError) as error:
            return self._refuse(request, str(error))
        if not has_documents(request):
            return self._refuse(request, "the proxy sends no metadata after the object")
        computing_or_new(request.environ, CpuRecord())
        body = NodeBody(request, steps)
        answer = request.get_response(self._app)
        if answer.is_success:  # a proxy compares the answers of its object servers
            answer.headers["Etag"] = body.etag
        return answer

    def _health(self, request: Request) -> Response:
        """Report whether this server can apply the filters of rules: with several replicas, clients do not notice that
        one server refuses objects.
        """
        refused = self._last_refusal if time.monotonic() - self._refused_s < _REFUSAL_TOLD_S else ""
        told = {"problem": self._keyring.problem() or refused}
        return Response(request=request, body=json.dumps(told), content_type="application/json")

    def _refuse(self, request: Request, why: str) -> Response:
        self._last_refusal, self._refused_s = why, time.monotonic()
        self._told(f"{request.path} is not stored: {why}")
        return HTTPUnprocessableEntity(body=f"{why}\n", request=request)

    def _read(self, request: Request, tenant: str, start_response: StartResponse) -> Iterable[bytes]:
        """Answer, and read the beginning of a range, which may reveal damage. Never with 500: after one or two damaged
        objects, proxies would avoid this server for a minute, for all clients.
        """
        before = request.environ.copy()
        refused: Response = HTTPServiceUnavailable(body="the object is being replaced repeatedly\n", request=request)
        try:
            for _ in range(_TRIES):
                with suppress(ObjectReplacedError):
                    answered: Iterable[bytes] = self._answer(request, tenant)(request.environ, start_response)
                    return answered
                request.environ.clear()
                request.environ.update(before)
        except FilterAway as error:
            refused = HTTPServiceUnavailable(body=f"{error}\n", request=request)
        except DamagedObjectError as error:
            self._told(f"{request.path} is damaged: {error}")
            refused = HTTPUnprocessableEntity(body=f"the stored object is damaged: {error}\n", request=request)
        said: Iterable[bytes] = refused(request.environ, start_response)
        return said

    def _answer(self, request: Request, tenant: str) -> Response:
        answer = Request(request.environ.copy()).get_response(self._app)
        if NODE_DONE not in answer.headers:
            return answer
        try:
            filters = filters_of(answer.headers[NODE_DONE], tenant, self._keyring, _name(request))
        except (FilterRefusedError, DamagedObjectError) as error:
            self._told(f"{request.path} is left to the proxy: {error}")
            return answer
        if answer.status_int in _PART_OF_BYTES:  # of the stored bytes
            close_if_possible(answer.app_iter)
            answer = _request_for_all(request).get_response(self._app)
            if NODE_DONE not in answer.headers:
                close_if_possible(answer.app_iter)
                raise ObjectReplacedError("the object was replaced while it was read: try again")
        size, etag, stored_etag = _sent_size(answer), answer.headers[NODE_ETAG], answer.headers.get("Etag", "")
        told = {UNDONE: answer.headers[NODE_DONE], NODE_STORED: str(answer.content_length or 0)}
        left = (*(name.lower() for name in _OWN), *_OF_LENGTH)
        headers = {name: value for name, value in answer.headers.items() if name.lower() not in left} | told
        headers["Etag"] = f'"{etag}"'
        if answer.status_int != _OK:
            for name in _OWN:
                answer.headers.pop(name, None)
            answer.headers.update({**told, "Etag": headers["Etag"]})
            return answer
        judged = resolve_etag_is_at_header(request, headers) or etag
        made = Response(request=request, headers=headers, conditional_response=True, conditional_etag=judged)
        if request.method == "GET":
            computing_or_new(request.environ, CpuRecord())
            first = Form(filters, stored_etag)
            names = NODE_DONE, NODE_ETAG
            made.app_iter = OriginalBytes(
                *(self._app, request, first, etag, size, answer.app_iter),
                lambda entry: self._form(entry, tenant, _name(request)),
                names,
                lambda _: self._compare(request),
            )
        made.content_length = size
        return made

    def _compare(self, request: Request) -> None:
        """Read a damaged file to its end, so that the object server compares its checksum and quarantines it. Otherwise
        proxies would find it again and again, and take the server for a faulty one.
        """
        answer = plain_request(request, "GET").get_response(self._app)
        for _ in answer.app_iter:
            sleep()

    def _form(self, answer: Response, tenant: str, name: bytes) -> Form:
        text = answer.headers.get(NODE_DONE)
        filters = filters_of(text, tenant, self._keyring, name) if text is not None else []
        return Form(filters, answer.headers.get("Etag", ""))


def _name(request: Request) -> bytes:
    return name_of(request.environ["PATH_INFO"], 2)


def _request_for_all(request: Request) -> Request:
    made = Request(request.environ.copy())
    made.headers.pop("Range", None)
    return made


def _sent_size(answer: Response) -> int:
    """Return the original size as sent by the proxy. Raises DamagedObjectError."""
    try:
        return int(answer.headers[NODE_SIZE])
    except (KeyError, TypeError, ValueError):  # Swift gives None for a header that is missing
        close_if_possible(answer.app_iter)
        raise DamagedObjectError("its size is not known") from None


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], ObjectHost]:
    """Return the filter, for paste."""
    conf = {**global_conf, **local_conf}
    logger = get_logger(conf, log_route="zoe-object-filters")
    keyring = Keyring(Path(conf["keyring_file"]) if conf.get("keyring_file") else None)
    return lambda app: ObjectHost(app, keyring, conf.get("account_prefix", "AUTH_"), logger.warning)
