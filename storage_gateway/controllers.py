"""Swift's controllers, sending requests to a store instead of to the servers of a ring."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from tempfile import SpooledTemporaryFile
from typing import Any

from swift.common.constraints import MAX_FILE_SIZE
from swift.common.exceptions import ChunkReadError
from swift.common.http import (
    HTTP_BAD_REQUEST,
    HTTP_PARTIAL_CONTENT,
    HTTP_PRECONDITION_FAILED,
    HTTP_REQUESTED_RANGE_NOT_SATISFIABLE,
    is_success,
)
from swift.common.swob import (
    HTTPAccepted,
    HTTPBadRequest,
    HTTPClientDisconnect,
    HTTPConflict,
    HTTPInsufficientStorage,
    HTTPNotFound,
    HTTPPreconditionFailed,
    HTTPRequestEntityTooLarge,
    HTTPServiceUnavailable,
    Request,
    Response,
)
from swift.common.utils import HeaderKeyDict, Timestamp
from swift.proxy.controllers.account import AccountController
from swift.proxy.controllers.container import ContainerController
from swift.proxy.controllers.obj import ReplicatedObjectController

from storage_gateway import content_types
from storage_gateway.connections import PIECE_BYTES, StoreAnswer
from storage_gateway.exchange import change_headers, gateway_conditions, kind_of, query, request_headers, response
from storage_gateway.kept_headers import TooLong, from_store, kept_after_post
from storage_gateway.listing_formats import pass_through
from storage_gateway.logins import StoreAway
from storage_gateway.object_locks import LockBusy

_FOOTERS = "swift.callback.update_footers"
VERSION, REPLACES = "X-Backend-Zoe-Version", "X-Backend-Zoe-Replaces"
"""Version of an object in answers; in a PUT, the only version to replace. Two headers, since a copy is put with all
headers that were read.
"""
_ALONE_S = 1.0
_IN_MEMORY_BYTES = 1 << 20
"""Longest body that is kept in memory; a longer one goes to the disk."""
_REPLACED_ANEW = 3
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.ASCII)
_RANGES = (HTTP_PARTIAL_CONTENT, HTTP_PRECONDITION_FAILED, HTTP_REQUESTED_RANGE_NOT_SATISFIABLE)


def _response(req: Request, answer: StoreAnswer) -> Response:
    made = Response(request=req, status=f"{answer.status} {answer.reason}", body=answer.body() or None)
    if is_success(answer.status) and not made.content_length:
        made.content_length = 0
    if answer.headers.get("Content-Type"):
        made.content_type = answer.headers["Content-Type"]
    return made


class _Forwarding:
    """Base of the three controllers: sends requests to the store."""

    app: Any
    server_type: str

    @property
    def _kind(self) -> str:
        return self.server_type.lower()

    def GETorHEAD_base(  # noqa: N802 - Swift calls it so
        self, req: Request, _type: str, _nodes: Any, _part: Any, path: str, *_: Any, **__: Any
    ) -> Response:
        """Return the store's answer to a GET or HEAD."""
        held = gateway_conditions(req, self.app.store.judges_conditions)
        headers = HeaderKeyDict(
            {name: entry for name, entry in request_headers(req.headers).items() if name.title() not in held}
        )
        if "Range" in headers and (req.range is None or req.method == "HEAD"):
            del headers["Range"]  # an invalid range counts as none; some stores refuse it
        with self._reporting_failures(req):
            answer = self.app.store.ask(req.method, path, headers, query(req))
            if "Range" in headers and self._wants_all(req, path, answer):
                answer.close()
                del headers["Range"]
                answer = self.app.store.ask(req.method, path, headers, query(req))
            if answer.status == HTTP_BAD_REQUEST and self._kind == "container":
                answer.close()  # a name that the store does not allow belongs to no container
                return HTTPNotFound(request=req)
            made = response(req, self._kind, answer, from_store(self._kind, answer.headers), held)
            if self._kind == "container" and req.method == "GET":
                pass_through(req, made, made.body)
            if self._kind == "object" and self.app.locks.is_enabled and is_success(answer.status):
                made.headers[VERSION] = _version(answer)
            return made

    def _wants_all(self, req: Request, path: str, answer: StoreAnswer) -> bool:
        """Return whether the range must not be sent: for an object that middleware assembles, which applies the range
        itself; if a store answers only one range of several, or reads only the first; and for an empty object, where
        Swift answers a suffix range.
        """
        if answer.status not in _RANGES:
            return False
        if len(req.range.ranges) > 1 and answer.status == HTTP_PARTIAL_CONTENT and not _is_all_of_them(req, answer):
            return True
        asked = req.headers.get("X-Backend-Ignore-Range-If-Metadata-Present", "").split(",")
        names = {name.strip().lower() for name in asked if name.strip()}
        if answer.status == HTTP_PARTIAL_CONTENT:
            return bool(names & {name.lower() for name in from_store(self._kind, answer.headers)})
        head = self.app.store.ask("HEAD", path, {})  # an error may come without metadata
        head.close()
        length = int(head.headers.get("Content-Length") or 0)
        ends = all(first is None for first, _ in req.range.ranges)
        wanted = ends and length == 0
        if answer.status == HTTP_REQUESTED_RANGE_NOT_SATISFIABLE and len(req.range.ranges) > 1:
            wanted = wanted or bool(req.range.ranges_for_length(length))
        return wanted or bool(names & {name.lower() for name in from_store(self._kind, head.headers)})

    def make_requests(
        self,
        req: Request,
        _ring: Any,
        _part: int,
        method: str,
        path: str,
        headers: Sequence[Mapping[str, str]],
        query_string: str = "",
        body: bytes | None = None,
        **_: Any,
    ) -> Response:
        """Return the store's answer to any other request without a client's body."""
        kind = kind_of(path)
        # Users of an account may not create it; stores create accounts at the first change.
        method = "POST" if kind == "account" and method == "PUT" else method
        with self._reporting_failures(req), ExitStack() as stack:
            if kind == "object":
                stack.enter_context(self.app.locks.shared(path, self.app.wait_s))
            return self._send_change(
                req, method, path, change_headers(kind, headers[0], self.app.metadata_bytes), query_string, body
            )

    def _send_change(
        self,
        req: Request,
        method: str,
        path: str,
        headers: Mapping[str, str],
        query_string: str = "",
        body: bytes | None = None,
    ) -> Response:
        return _response(req, self.app.store.ask(method, path, headers, query_string, body))

    @contextmanager
    def _reporting_failures(self, req: Request) -> Iterator[None]:
        """Report failures of the store to the client; Swift sends the raised response."""
        try:
            yield
        except TooLong as error:
            raise HTTPBadRequest(request=req, body=str(error)) from None
        except LockBusy:
            raise HTTPServiceUnavailable(
                request=req, headers={"Retry-After": "1"}, body="The object is being written now."
            ) from None
        except StoreAway as away:
            self.app.logger.error("%s", away)
            raise HTTPServiceUnavailable(
                request=req, headers={"Retry-After": "5"}, body="The store does not answer."
            ) from None


class GatewayAccounts(_Forwarding, AccountController):  # type: ignore[misc]
    """Accounts of the store."""


class GatewayContainers(_Forwarding, ContainerController):  # type: ignore[misc]
    """Containers of the store."""


class GatewayObjects(_Forwarding, ReplicatedObjectController):  # type: ignore[misc]
    """Objects of the store."""

    def _get_or_head_response(self, req: Request, nodes: Any, partition: int, _: Any) -> Response:
        return self.GETorHEAD_base(req, "Object", nodes, partition, req.swift_entity_path)

    def _post_object(self, req: Request, _ring: Any, _partition: int, headers: Sequence[Mapping[str, str]]) -> Response:
        return self._replace_metadata(req, headers[0])

    def _replace_metadata(self, req: Request, headers: Mapping[str, str]) -> Response:
        """Replace the metadata of users, as Swift does; metadata of middleware stay. If a store reports another object
        by now, the metadata are those of the other.
        """
        for _ in range(_REPLACED_ANEW):
            made = self._replaced_once(req, headers)
            if made.status_int != HTTP_PRECONDITION_FAILED:
                return made
        raise HTTPConflict(request=req, body="The object is constantly being written.")

    def _replaced_once(self, req: Request, headers: Mapping[str, str]) -> Response:
        path = req.swift_entity_path
        with self._reporting_failures(req), self.app.locks.shared(path, self.app.wait_s):
            before = self.app.store.ask("HEAD", path, {})
            before.close()
            if not is_success(before.status):
                return Response(request=req, status=before.status)
            names = {name.lower() for name in headers}
            found = kept_after_post(from_store("object", before.headers))
            kept = {name: value for name, value in found.items() if name.lower() not in names}
            sent = HeaderKeyDict(change_headers("object", {**kept, **headers}, self.app.metadata_bytes))
            if sent.get("Content-Type"):
                former = before.headers.get("Content-Type", "")
                sent["Content-Type"] = content_types.with_listing_parameters(former, headers["Content-Type"])
            return _response(req, self.app.store.replace(path, before, sent))

    def _store_object(
        self, req: Request, data_source: Iterator[bytes], _nodes: Any, _partition: int, outgoing_headers: Any
    ) -> Response:
        """Pass the body on while it arrives. Nothing is stored if the client or the store disconnects before its end.

        If middleware knows some metadata only after the body, the whole body is kept here before it is sent: a store
        takes body and metadata in one step, and readers must not see one without the other.
        """
        headers: Mapping[str, str] = outgoing_headers[0]
        pieces = self._complete_body(req, data_source)
        path, version = req.swift_entity_path, req.headers.get(REPLACES)
        with self._reporting_failures(req), ExitStack() as stack:
            new = "*" in (req.if_none_match or ())
            if version is None:
                stack.enter_context(self.app.locks.shared(path, self.app.wait_s))
            if new:  # with locks, one of several concurrent writers succeeds; without, the store decides
                stack.enter_context(self.app.locks.creating(path, self.app.wait_s))
            if new and self._is_there(req):  # some stores do not check
                return HTTPPreconditionFailed(request=req)
            unsaid = self.app.store.needs_length and "Content-Length" not in headers
            if _FOOTERS in req.environ or version is not None or unsaid:
                spool = stack.enter_context(SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES))
                try:
                    spool.writelines(pieces)
                except OSError as error:
                    self.app.logger.error("no room for a body: %s", error)
                    return HTTPInsufficientStorage(request=req)
                length = {"Content-Length": str(spool.tell())}
                footers = self._get_footers(req) if _FOOTERS in req.environ else {}
                headers = HeaderKeyDict(headers) | footers | length
                spool.seek(0)
                pieces = iter(lambda: spool.read(PIECE_BYTES), b"")
            if version is not None and not self._lock_out_writers(stack, path, version):
                return HTTPAccepted(request=req)  # Swift's answer to outdated requests
            sent = change_headers("object", headers, self.app.metadata_bytes)
            upload = stack.enter_context(closing(self.app.store.upload(path, sent)))
            if upload.refused is None:
                for piece in pieces:
                    upload.send(piece)
            answer = upload.refused or upload.end()
            made = Response(request=req, status=f"{answer.status} {answer.reason}", body=answer.body() or None)
            for name in ("Etag", "Last-Modified"):
                if answer.headers.get(name):
                    made.headers[name] = answer.headers[name]
            if is_success(answer.status) and made.last_modified is None:
                made.last_modified = Timestamp(req.headers["X-Timestamp"])
            return made

    def _lock_out_writers(self, stack: ExitStack, path: str, version: str) -> bool:
        """Lock out other writers of an object until the stack ends; return False if it is being written, or has
        changed.
        """
        try:
            stack.enter_context(self.app.locks.exclusive(path, _ALONE_S))
        except LockBusy:
            return False
        now = self.app.store.ask("HEAD", path, {})
        now.close()
        return is_success(now.status) and _version(now) == version

    def _is_there(self, req: Request) -> bool:
        answer = self.app.store.ask("HEAD", req.swift_entity_path, {})
        answer.close()
        return bool(is_success(answer.status))

    @staticmethod
    def _complete_body(req: Request, data_source: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the body. Raises HTTPException if the client does not send all of it, or too much."""
        sent = 0
        try:
            for piece in data_source:
                sent += len(piece)
                if sent > MAX_FILE_SIZE:
                    raise HTTPRequestEntityTooLarge(request=req)
                yield piece
        except ChunkReadError:
            raise HTTPClientDisconnect(request=req) from None
        length = req.message_length()
        if length and sent < length:
            raise HTTPClientDisconnect(request=req)


def _version(answer: StoreAnswer) -> str:
    """Return a text that changes with each write of an object."""
    return "|".join(answer.headers.get(name, "") for name in ("Etag", "X-Timestamp", "Last-Modified", "Content-Length"))


def _is_all_of_them(req: Request, answer: StoreAnswer) -> bool:
    """Return whether the answer has all of several ranges: in parts, or as the only one within the object."""
    if "multipart" in answer.headers.get("Content-Type", ""):
        return True
    found = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if found is None:
        return False
    first, last, length = map(int, found.groups())
    return bool(req.range.ranges_for_length(length) == [(first, last + 1)])
