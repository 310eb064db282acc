"""Rewrite a stored object by the present rules, or to its original bytes, invisibly to clients.

A reseller admin (the storage controller) sends the method `REWRITE`, which no other part of Swift knows, with the
header `X-Zoe-Rewrite`: `rules` or `plain`. The object is read back through the filters in its metadata, and stored
through the present ones; its bytes do not leave the proxy. The answer is a JSON document.

No write is lost, and none is undone. The rewritten object has the time of the original upload plus an offset, as
Swift's reconciler does when it moves an object: it is newer than the copy that was read, and older than any write,
change or deletion by a client since, at each of the object's servers, in whatever order they see them. Metadata that a
client changed by a POST stay, since they have a separate time. A gateway locks other writers out for the moment, and
replaces only the version that was read; its store gives the object a new time. The original MD5 and size are checked
before the store gets the end of the body, so that a damaged object or a wrong key changes nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eventlet import sleep
from swift.common.header_key_dict import HeaderKeyDict
from swift.common.swob import HTTPException, Request, Response
from swift.common.utils import Timestamp, close_if_possible
from swift.common.wsgi import make_pre_authed_env

from storage_bridge.model import BOOK_HEADER, DRY_HEADER, RATE_HEADER, REWRITE_HEADER, RewriteOutcome
from storage_filters.filter_host.applied_filters import OWN, AppliedFilters
from storage_filters.filter_host.filtered_body import FilteredBody
from storage_filters.filter_host.records import stored_by
from storage_filters.filter_host.refusals import refusal
from storage_filters.filter_host.second_look import answer_of
from storage_filters.filter_host.source_bodies import reason_of
from storage_filters.filter_host.stages import StagedFilters, Stages
from storage_filters.rules.chains import chain_of
from storage_filters.rules.documents import RuleBook, digest_of
from storage_filters.transforms.encryption import check_unencrypted
from storage_filters.transforms.modules.modules import Modules, metadata_of
from storage_filters.transforms.stream_filters import (
    DamagedObjectError,
    FilterAway,
    FilterRefusedError,
    exactly,
    run_backward,
)
from storage_filters.wsgi.headers import PUT_ETAG, PUT_SIZE, REPLACES, VERSION
from storage_filters.wsgi.object_requests import ObjectRequest, name_behind, tags_of

_STORED_AT = "X-Backend-Data-Timestamp"
# An object with one of these has no bytes of its own at this path.
_MANIFESTS = ("X-Static-Large-Object", "X-Object-Sysmeta-Symlink-Target", "Content-Location")
_REFERS = ("X-Object-Manifest", "X-Symlink-Target")  # nor has an empty object with one of these
_NOT_SYMLINK = "symlink=get"
# Headers about the store's answer; all others were stored with the object.
_OF_THE_ANSWER = frozenset(
    ("accept-ranges", "connection", "content-length", "content-range", "date", "etag", "keep-alive", "last-modified")
) | {"transfer-encoding", "vary", "x-openstack-request-id", "x-timestamp", "x-trans-id"}
_OF_THE_STORE = "x-backend-"
# Parts of a filter's record that do not change the stored form.
_VARYING = ("rule", "salt", "check", "bound", "table", "moved")
_TRIES = 3
_PIECE_BYTES = 64 * 1024
_OK, _CREATED, _ACCEPTED, _NOT_FOUND, _UNPROCESSABLE, _ERRORS_FROM = 200, 201, 202, 404, 422, 500


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """The requested rewrite. plain: without filters. bytes_per_s: None for no limit. book: the digest of the rules to
    apply.
    """

    plain: bool
    dry: bool
    bytes_per_s: float | None
    book: str

    @staticmethod
    def from_request(request: Request) -> RewriteRequest:
        """Return the rewrite that a request asks for. Raises ValueError."""
        how = request.headers.get(REWRITE_HEADER, "")
        if how not in ("rules", "plain"):
            raise ValueError(f"{REWRITE_HEADER} is rules or plain")
        rate = float(request.headers.get(RATE_HEADER, "0"))
        dry = request.headers.get(DRY_HEADER, "") == "yes"
        return RewriteRequest(how == "plain", dry, rate if rate > 0 else None, request.headers.get(BOOK_HEADER, ""))


class Rewriting:
    """Rewrites objects through the application below the filter host. overrides: the headers of ETag and size in
    listings.
    """

    def __init__(self, app: Any, stages: Stages, size_max: int, overrides: tuple[str, str]) -> None:
        self._app = app
        self._stages = stages
        self._size_max = size_max
        self._overrides = overrides
        self._digest: tuple[RuleBook, str] | None = None

    def answer(self, request: Request, place: ObjectRequest, book: RuleBook, modules: Modules) -> Response:
        """Return the result for the object as a document: `outcome`, `sentence`, and `bytes` of the original."""
        try:
            wanted = RewriteRequest.from_request(request)
        except ValueError as error:
            return Response(request=request, status=400, body=f"{error}\n")
        if wanted.book and self._digest_of(book) != wanted.book:
            found = _Done(RewriteOutcome.LATER, "the rules have not reached this proxy yet")
        else:
            try:
                found = self._attempts(request, place, book, modules, wanted)
            except FilterAway as error:
                found = _Done(RewriteOutcome.LATER, str(error))
            except (FilterRefusedError, DamagedObjectError) as error:
                found = _Done(RewriteOutcome.FAILED, str(error))
        text = json.dumps({"outcome": found.outcome, "sentence": found.sentence, "bytes": found.size})
        return Response(request=request, body=text, content_type="application/json")

    def _digest_of(self, book: RuleBook) -> str:
        if self._digest is None or self._digest[0] is not book:
            self._digest = book, digest_of(book)
        return self._digest[1]

    def _attempts(
        self, request: Request, place: ObjectRequest, book: RuleBook, modules: Modules, wanted: RewriteRequest
    ) -> _Done:
        found = _Done(RewriteOutcome.FAILED, "clients keep replacing it: it has the filters of its last PUT")
        for _ in range(_TRIES):
            one = _StoredObject(self._answer_of(request, "HEAD"), request.environ["PATH_INFO"], place, self._overrides)
            if (early := one.why_not()) is not None:
                return early
            if one.has_filters(self._requested_stages(self._request(request, "PUT"), one, book, modules, wanted)):
                return _Done(RewriteOutcome.KEPT, "", one.size)
            if wanted.dry:
                return _Done(RewriteOutcome.CHANGED, "", one.size)
            done = self._rewrite_once(request, place, book, modules, wanted)
            if done is not None:
                return done
        return found

    def _rewrite_once(
        self, request: Request, place: ObjectRequest, book: RuleBook, modules: Modules, wanted: RewriteRequest
    ) -> _Done | None:
        """Return the result of one attempt; None if a client wrote the object meanwhile."""
        answer = self._answer_of(request, "GET")
        try:
            one = _StoredObject(answer, request.environ["PATH_INFO"], place, self._overrides)
            if (early := one.why_not()) is not None:
                return early
            put = self._request(request, "PUT")
            put.headers.update(one.headers())
            body = _Body(put, one.original_bytes(self._stages, modules), wanted.bytes_per_s)
            put.environ["wsgi.input"] = body
            filtered, staged = None, self._requested_stages(put, one, book, modules, wanted)
            if staged.has_filters():
                filtered = FilteredBody(put, staged.proxy_steps, self._size_max, self._overrides, staged.has_node_steps)
            stored = put.get_response(self._app)
            if body.error is None:
                staged.check(stored, differs=filtered is not None and filtered.differs)
            close_if_possible(stored.app_iter)
        finally:
            close_if_possible(answer.app_iter)
        if stored.status_int == _CREATED:
            return _Done(RewriteOutcome.CHANGED, "", one.size)
        if stored.status_int == _ACCEPTED:  # Swift's answer if it has a newer object
            return None
        why = body.error or (filtered.refused if filtered is not None else None)
        if why is None and stored.status_int == _UNPROCESSABLE:
            why = DamagedObjectError("the stored object is damaged: it differs from the original")
        if why is None:
            return _failed_result(stored)
        return _Done(RewriteOutcome.AWAY if isinstance(why, FilterAway) else RewriteOutcome.FAILED, str(why), one.size)

    def _requested_stages(
        self, put: Request, one: _StoredObject, book: RuleBook, modules: Modules, wanted: RewriteRequest
    ) -> StagedFilters:
        """Return the requested filters, and name those of object servers in the request."""
        place = one.place
        its = [] if wanted.plain else stored_by(chain_of(book, place).steps, place.tenant, modules)
        return self._stages.stages_for(put, its, place.tenant, modules, one.metadata())

    def _answer_of(self, request: Request, method: str) -> Response:
        asked = self._request(request, method)
        asked.headers["X-Newest"] = "true"  # not of a lagging replica, nor of a cache
        return answer_of(asked, self._app)

    def _request(self, request: Request, method: str) -> Request:
        """Return a request for the same object without credentials: this caller may do everything."""
        env = make_pre_authed_env(request.environ, method, agent=None, query_string=_NOT_SYMLINK, swift_source="ZOE")
        return Request(env)


@dataclass(frozen=True, slots=True)
class _Done:
    outcome: RewriteOutcome
    sentence: str
    size: int = 0


def _failed_result(answer: Response) -> _Done:
    away = answer.status_int >= _ERRORS_FROM
    return _Done(RewriteOutcome.AWAY if away else RewriteOutcome.FAILED, f"the store answers {answer.status}")


class _StoredObject:
    """An object as the store has it. path: of the request for it. Raises DamagedObjectError."""

    def __init__(self, answer: Response, path: str, place: ObjectRequest, overrides: tuple[str, str]) -> None:
        self._answer, self._path = answer, path
        self._headers = HeaderKeyDict(answer.headers)
        self._overrides = overrides
        self._done = AppliedFilters.from_headers(self._headers)
        self._etag = self._headers.get(PUT_ETAG if self._done else "Etag", "").strip('"')
        told = self._headers.get(PUT_SIZE if self._done else "Content-Length", "")
        self.size = int(told) if told.isdecimal() else -1
        self.place = replace(place, size=self.size, tags=tags_of(self._headers))

    def why_not(self) -> _Done | None:
        """Return the result for an object that is not to be rewritten; None if it may be."""
        status = self._answer.status_int
        if status == _NOT_FOUND:
            return _Done(RewriteOutcome.GONE, "")
        if status != _OK:
            return _failed_result(self._answer)
        if any(name in self._headers for name in (*_MANIFESTS, *(() if self.size else _REFERS))):
            return _Done(RewriteOutcome.MANIFEST, "")
        if not self._etag or self.size < 0:
            return _Done(RewriteOutcome.FAILED, "the stored object is damaged: its size is not known")
        if _STORED_AT not in self._headers and VERSION not in self._headers:
            why = "this store has no conditional replacement of objects"
            return _Done(RewriteOutcome.FAILED, why, self.size)
        return None

    def metadata(self) -> Mapping[str, str]:
        """Return the metadata for modules."""
        return metadata_of(self.place, self._headers)

    def has_filters(self, staged: StagedFilters) -> bool:
        """Return whether the same filters were applied to the object already, in the same places. Raises
        FilterRefusedError
        and DamagedObjectError.
        """
        here, there = self._done.records() if self._done is not None else ([], [])
        return (_forms(here), _forms(there)) == tuple(map(_forms, staged.records()))

    def original_bytes(self, stages: Stages, modules: Modules) -> Iterator[bytes]:
        """Return the original bytes. Raises FilterRefusedError, and DamagedObjectError in the middle."""
        name = name_behind(self._path, self._headers)
        filters = [] if self._done is None else self._done.filters(self.place.tenant, stages.keyring, name, modules)
        return exactly(check_unencrypted(run_backward(filters, self._answer.app_iter, 0, None)), self.size)

    def headers(self) -> Mapping[str, str]:
        """Return the headers for the rewritten object."""
        own = {name.lower() for name in OWN}
        if self._lists_original():
            own |= {name.lower() for name in self._overrides}
        kept = {
            name: value
            for name, value in self._headers.items()
            if name.lower() not in _OF_THE_ANSWER | own and not name.lower().startswith(_OF_THE_STORE)
        }
        made = {**kept, "Content-Length": str(self.size), "Etag": self._etag}
        if VERSION in self._headers:
            return {**made, REPLACES: self._headers[VERSION]}
        return {**made, "X-Timestamp": Timestamp(self._headers[_STORED_AT], offset=1).internal}

    def _lists_original(self) -> bool:
        """Return whether the entry in listings follows from the object's filters."""
        told = [self._headers.get(name, "") for name in self._overrides]
        return self._done is not None and told == [self._etag, str(self.size)]


def _forms(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in record.items() if name not in _VARYING} for record in records]


class _Body:
    """Body of the PUT, read no faster than `bytes_per_s`."""

    def __init__(self, request: Request, chunks: Iterator[bytes], bytes_per_s: float | None) -> None:
        self._request = request
        self._chunks = chunks
        self._bytes_per_s = bytes_per_s
        self._began_s = time.monotonic()
        self._read = 0
        self._rest = b""
        self.error: Exception | None = None
        """Why the body ended too early."""

    def read(self, size: int = -1, *_rest: Any) -> bytes:
        """Return some bytes; none at the end."""
        try:
            while not self._rest:
                if (chunk := next(self._chunks, None)) is None:
                    return b""
                self._rest = chunk
        except HTTPException as error:
            self.error = error
            raise
        except Exception as error:
            self.error = reason_of(error)
            raise refusal(self._request, self.error) from None
        size = min(_PIECE_BYTES, size if size and size > 0 else _PIECE_BYTES)
        piece, self._rest = self._rest[:size], self._rest[size:]
        self._read += len(piece)
        if self._bytes_per_s is not None:
            sleep(max(0.0, self._began_s + self._read / self._bytes_per_s - time.monotonic()))
        return piece
