"""Proxy filter for views: containers that show selected rows and columns of another container's CSV objects.

    [pipeline:main]
    pipeline = ... zoe_s3_signed ... s3api <authentication> zoe_bandwidth zoe_views slo dlo ... proxy-server
    [filter:zoe_views]
    paste.filter_factory = storage_filters.views:filter_factory

A view is a container `zoe-view-<anything>` that a reseller admin created with an `X-Zoe-View` header, in the account of
its tenant. It has no objects. Every read of the source is a request of the reader, with the reader's rights. The answer
is filtered, or an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from swift.common.constraints import CONTAINER_LISTING_LIMIT
from swift.common.swob import (
    HTTPBadRequest,
    HTTPConflict,
    HTTPForbidden,
    HTTPMethodNotAllowed,
    HTTPNotFound,
    HTTPUnprocessableEntity,
    Request,
    Response,
)
from swift.common.utils import close_if_possible, get_logger
from swift.proxy.controllers.base import get_container_info

from storage_bridge.model import VIEW_PREFIX
from storage_filters.csv.header import header_names
from storage_filters.csv.media import why_not_csv
from storage_filters.csv.parser import UnreadableRecordError
from storage_filters.csv.selection import HEADER_BYTES_MAX, Selection, SelectionError
from storage_filters.object_pushdown import closing
from storage_filters.views.listing import LIMIT, page
from storage_filters.views.reader import Reader, Refusal
from storage_filters.views.view import Part, ViewDefinition, parts_of
from storage_filters.wsgi.client_lines import ClientLines
from storage_filters.wsgi.delivery import MEDIA_TYPE, part_of
from storage_filters.wsgi.headers import PUSHDOWN, VIEW, VIEW_SYSMETA, VIEW_SYSMETA_NAME, environ_key

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
_OBJECT_PATH_PARTS = 4
_BY_S3 = "S3"
# s3api turns these into 500 or another error; it passes on the message only with 400.
CORRUPT = "_corrupt_record"
_WORTH_A_LINE = (HTTPConflict().status_int, HTTPUnprocessableEntity().status_int)
_UNKNOWN_TO_S3 = (HTTPMethodNotAllowed().status_int, HTTPConflict().status_int, HTTPUnprocessableEntity().status_int)


class Views:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str]) -> None:
        self._app = app
        self._lines = ClientLines(get_logger(conf, log_route="zoe-views"))

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer requests to views; pass all others on."""
        definition_sent, pushdown = env.pop(environ_key(VIEW), None), env.pop(environ_key(PUSHDOWN), None)
        parts = env["PATH_INFO"].split("/", _OBJECT_PATH_PARTS)
        of_view = len(parts) >= _OBJECT_PATH_PARTS and parts[3].startswith(VIEW_PREFIX)
        name = parts[4] if len(parts) > _OBJECT_PATH_PARTS else ""
        if not of_view and (pushdown is None or not name or env["REQUEST_METHOD"] != "GET"):
            return self._pass(env, start_response)
        request = Request(env)
        try:
            if of_view:
                answer = self._answer(request, parts[2], name, definition_sent)
            else:
                answer = Reader(self._app, request).requested(str(pushdown))
        except Refusal as error:
            answer = error.response
        except (SelectionError, UnreadableRecordError) as error:
            answer = HTTPUnprocessableEntity(body=f"{error}\n", request=request)
        if answer is None:
            return self._pass(env, start_response)
        if name and answer.status_int in _WORTH_A_LINE:  # a reader may mistake the error for contents
            why = answer.body.decode(errors="replace").strip()
            self._lines.warning(env, "cannot read %s: %s", env["PATH_INFO"], why)
        if env.get("swift.source") == _BY_S3 and answer.status_int in _UNKNOWN_TO_S3:
            answer = HTTPBadRequest(body=answer.body, request=request)
        answered: Iterable[bytes] = answer(env, start_response)
        return answered

    def _pass(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        passed: Iterable[bytes] = self._app(env, start_response)
        return passed

    def _answer(self, request: Request, account: str, name: str, definition_sent: str | None) -> Response | None:
        """Return the answer; None to pass the request on."""
        if request.method == "PUT" and not name and definition_sent is not None:
            return self._create(request, account, definition_sent)
        info = get_container_info(request.environ, self._app, swift_source="ZOE")
        definition = info.get("sysmeta", {}).get(VIEW_SYSMETA_NAME)
        if not definition:
            return None
        if request.method == "DELETE" and not name:
            return None
        if request.method not in ("GET", "HEAD"):
            raise Refusal(HTTPMethodNotAllowed(body="views are read-only\n", request=request))
        request.acl = info.get("read_acl")
        if (authorize := request.environ.get("swift.authorize")) and (refusal := authorize(request)):
            return refusal
        source = _Source(self._app, request, account, ViewDefinition.from_json(definition))
        if not name:
            return source.listing() if request.method == "GET" else None
        part = Part.from_name(name)
        return source.deliver(part) if part is not None else HTTPNotFound(request=request)

    def _create(self, request: Request, account: str, definition_sent: str) -> Response | None:
        if not request.environ.get("reseller_request"):
            return HTTPForbidden(body="only a reseller admin can create views\n", request=request)
        there = get_container_info(request.environ, self._app, swift_source="ZOE")
        if int(there.get("object_count") or 0) > 0 and not there.get("sysmeta", {}).get(VIEW_SYSMETA_NAME):
            # A container with objects could not be removed with the view.
            return HTTPConflict(body="a container of that name with objects already exists\n", request=request)
        source = _Source(self._app, request, account, ViewDefinition.from_json(definition_sent))
        request.headers[VIEW_SYSMETA] = source.complete().to_json()
        return None


class _Source:
    """The content of a view, read with the rights of one request."""

    def __init__(self, app: Any, request: Request, account: str, definition: ViewDefinition) -> None:
        self._reader = Reader(app, request)
        self._request = request
        self._path = quote(f"/v1/{account}/{definition.container}")
        self._definition = definition

    def complete(self) -> ViewDefinition:
        """Return the definition with the names of columns, checked. Raises SelectionError, UnreadableRecordError and
        Refusal.
        """
        parts = parts_of(self._objects(), self._definition)
        first = next(parts, None)
        for _ in parts:
            pass  # the whole listing is checked
        made = self._definition
        if not made.names and (first is None or not made.csv.header):
            raise SelectionError("give the names of the columns: no object has a header")
        names = self._names(first[0]) if first is not None else made.names
        made = ViewDefinition.from_json(json.dumps({**json.loads(made.to_json()), "names": names}))
        if any(name.lower() == CORRUPT for name in made.names):
            raise SelectionError(f"it has a column {CORRUPT}, which Spark itself uses for malformed lines")
        Selection(made.names, made.columns, made.where, csv=made.csv)
        return made

    def listing(self) -> Response:
        """Return the virtual objects, in the form of Swift's listings."""
        params = self._request.params
        try:
            limit = min(int(params.get("limit") or LIMIT), LIMIT)
        except ValueError:
            return HTTPBadRequest(body="limit must be a number\n", request=self._request)
        entries = (
            {
                "name": part.virtual_name,
                "bytes": part.size_claimed,
                "hash": entry["hash"],
                "content_type": MEDIA_TYPE,
                "last_modified": entry["last_modified"],
            }
            for part, entry in parts_of(self._objects(), self._definition)
        )
        body = json.dumps(page(entries, params, limit))
        return Response(body=body, content_type="application/json", charset="utf-8", request=self._request)

    def deliver(self, part: Part) -> Response:
        """Return the selected records of a part; 409 if its object has changed since it was listed."""
        path = self._object_path(part.name)
        if self._request.method == "HEAD":
            head = self._of_listed("HEAD", path, part)
            length = {"Content-Length": str(part.size_claimed)}
            return Response(headers={**part.headers(head.headers), **length}, request=self._request)
        try:
            body, answer = self._records(path, part)
        except (Refusal, UnreadableRecordError):
            self._of_listed("HEAD", path, part)  # a replaced object explains more than the error that it caused
            raise
        return self._answer_range(closing(body, answer.app_iter), part.headers(answer.headers), part.size_claimed)

    def _answer_range(self, body: Iterator[bytes], headers: dict[str, str], claimed: int) -> Response:
        wanted = self._request.range
        first, last = wanted.ranges[0] if wanted is not None and len(wanted.ranges) == 1 else (None, None)
        if first is None:
            return Response(app_iter=body, headers=headers)
        length = None if last is None else last - first + 1
        status = 200 if first == 0 else 206
        if status == 206:
            headers = {**headers, "Content-Range": f"bytes {first}-{claimed - 1}/{claimed}"}
        return Response(status=status, app_iter=closing(part_of(body, first, length), body), headers=headers)

    def _records(self, path: str, part: Part) -> tuple[Iterator[bytes], Response]:
        return self._reader.records(
            self._definition.selection(part), lambda headers: self._of_listed("GET", path, part, headers)
        )

    def _of_listed(self, method: str, path: str, part: Part, headers: Mapping[str, str] | None = None) -> Response:
        """Return the answer for a listed object. Raises Refusal with 409 if it has been replaced."""
        answer = self._reader.ask(method, path, headers)
        if not part.is_of(answer.headers.get("Etag", "")):
            close_if_possible(answer.app_iter)
            raise Refusal(HTTPConflict(body="the object has changed since it was listed\n", request=self._request))
        return answer

    def _names(self, part: Part) -> tuple[str, ...]:
        """Return the names of the definition, or of the object's header. Raises SelectionError for an object that is
        not CSV.
        """
        answer = self._reader.ask("GET", self._object_path(part.name), {"Range": f"bytes=0-{HEADER_BYTES_MAX - 1}"})
        start: bytes = answer.body
        if why := why_not_csv(part.name, start):
            raise SelectionError(why)
        if self._definition.names:
            return self._definition.names
        if len(start) >= HEADER_BYTES_MAX and not set(start.strip()) & set(b"\r\n"):
            raise UnreadableRecordError(f"the first line is longer than {HEADER_BYTES_MAX} bytes")
        return header_names(start, self._definition.csv)

    def _objects(self) -> Iterator[dict[str, Any]]:
        marker = ""
        while True:
            query = f"?format=json&prefix={quote(self._definition.directory)}&marker={quote(marker)}"
            found = json.loads(self._reader.ask("GET", self._path + query).body or b"[]")
            yield from found
            if len(found) < CONTAINER_LISTING_LIMIT:
                return
            marker = found[-1]["name"]

    def _object_path(self, name: str) -> str:
        return f"{self._path}/{quote(self._definition.directory + name)}"


def filter_factory(_global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], Views]:
    """Return the filter, for paste."""
    return lambda app: Views(app, local_conf)
