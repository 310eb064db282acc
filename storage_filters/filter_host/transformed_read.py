"""Reads of an object that modules transform.

The transformed object has another ETag than the stored one, which does not look like an MD5, since clients would
compare that with the bytes. Its size is known, and ranges can be read, only if all of its modules declare that they
keep the size; otherwise it is sent in chunks, a HEAD reads all of it to count, and a request for a range is refused. A
manifest has no bytes of its own, so it is refused too: modules transform its segments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from swift.common.swob import Request, Response, multi_range_iterator
from swift.common.utils import close_if_possible

from storage_filters.counting.request_computing import computing_of
from storage_filters.rules.chains import chain_of
from storage_filters.rules.documents import RuleBook
from storage_filters.transforms.modules.filters import ReadModule
from storage_filters.transforms.modules.modules import Modules, metadata_of
from storage_filters.transforms.stream_filters import (
    DamagedObjectError,
    FilterRefusedError,
    ObjectReplacedError,
    exactly,
)
from storage_filters.wsgi.delivery import begin, first_begun, part_of
from storage_filters.wsgi.headers import CHECKSUM, SELECTION, environ_key
from storage_filters.wsgi.object_requests import ObjectRequest, tags_of

_JUDGED = ("Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since")
_OWN = ("content-length", "content-range", "etag", "accept-ranges", CHECKSUM.lower())
_OF_A_COPY = "SSC"  # the name of the copy middleware for its requests
_MANIFESTS = ("X-Object-Manifest", "X-Static-Large-Object")
Read = Callable[[Request], Response]


def may_be_transformed(book: RuleBook, request: ObjectRequest) -> bool:
    """Return whether a rule for this object sets a module that runs at reads, whatever its condition."""
    return bool(book.modules) and any(
        (version := book.module(request.tenant, action)) is not None and version.reads
        for _, rule in book.rules_for(request.tenant, request.container, request.object)
        for action in rule.actions
    )


def read_transformed(request: Request, place: ObjectRequest, book: RuleBook, modules: Modules, read: Read) -> Response:
    """Answer a read of an object. read: answers it without modules. Raises FilterRefusedError."""
    one = _Object(_plain(request), place, book, modules, read)
    answer = one.read()
    readers = one.readers_of(answer)
    if readers:
        return _answer(request, answer, readers, one)
    if not any(name in request.headers for name in _JUDGED) and environ_key(SELECTION) not in request.environ:
        return answer
    close_if_possible(answer.app_iter)
    answer = read(request)
    if one.readers_of(answer):
        close_if_possible(answer.app_iter)
        raise ObjectReplacedError("the object was replaced while it was read: try again")
    return answer


class _Object:
    """An object without its modules. plain: a request for all of it, without conditions."""

    def __init__(self, plain: Request, place: ObjectRequest, book: RuleBook, modules: Modules, read: Read) -> None:
        self._plain = plain
        self._place = place
        self._book = book
        self._modules = modules
        self._read = read
        self.computing = computing_of(plain.environ)

    def read(self, method: str = "") -> Response:
        """Return the whole object. method: that of the request, or GET."""
        request = Request(self._plain.environ.copy())
        request.method = method or request.method
        return self._read(request)

    def readers_of(self, answer: Response) -> list[ReadModule]:
        """Return the modules for an answer, none for one without an object. Raises FilterRefusedError, with the answer
        closed.
        """
        if not answer.is_success:
            return []
        place = replace(self._place, size=answer.content_length, tags=tags_of(answer.headers))
        steps = chain_of(self._book, place).steps
        try:
            found = self._modules.readers(steps, place.tenant, metadata_of(place, answer.headers))
            if found and any(name in answer.headers for name in _MANIFESTS):
                raise FilterRefusedError("a module cannot read a large object of segments: set it for the segments")
        except FilterRefusedError:
            close_if_possible(answer.app_iter)
            raise
        return found


def _plain(request: Request) -> Request:
    plain = Request(request.environ.copy())
    plain.environ.pop(environ_key(SELECTION), None)  # a view selects from the transformed object
    for name in _JUDGED:
        plain.headers.pop(name, None)
    return plain


def _answer(request: Request, answer: Response, readers: Sequence[ReadModule], one: _Object) -> Response:
    sized = all(reader.same_size for reader in readers)
    if "Range" in request.headers and not sized:
        close_if_possible(answer.app_iter)
        raise FilterRefusedError("no range of this object can be read: a module changes its size when it is read")
    headers = {name: value for name, value in answer.headers.items() if name.lower() not in _OWN}
    etag, copied = _etag(answer, readers), request.environ.get("swift.source") == _OF_A_COPY
    if not copied:  # Swift would compare it with the stored bytes
        headers["Etag"] = etag
    if not sized:
        headers["Accept-Ranges"] = "none"
    made = Response(request=request, headers=headers, conditional_response=True, conditional_etag=etag)
    size = answer.content_length if sized else None
    if size is None and (copied or request.method == "HEAD"):
        body = _TransformedBytes(one.read("GET"), readers, None, one)
        size = sum(map(len, body))
    if request.method != "HEAD":
        made.app_iter = _TransformedBytes(answer, readers, size, one)
    made.content_length = size
    return made


def _etag(answer: Response, readers: Sequence[ReadModule]) -> str:
    of = [answer.headers.get("Last-Modified"), [reader.identity for reader in readers]]
    return f"{answer.headers.get('Etag', '')}-{hashlib.sha256(json.dumps(of).encode()).hexdigest()[:16]}"


class _TransformedBytes:
    """The transformed bytes for swob, whole or in ranges, each computed from the start. size: None if unknown."""

    def __init__(self, answer: Response, readers: Sequence[ReadModule], size: int | None, one: _Object) -> None:
        self._readers = readers
        self._size = size
        self._object = one
        self._etag = _etag(answer, readers)
        self._body = answer.app_iter
        try:  # until now, an error can still replace the answer
            self._begun: Iterator[bytes] | None = begin(self._all_bytes(answer.app_iter))
        except FilterRefusedError:
            close_if_possible(answer.app_iter)
            raise

    def _all_bytes(self, body: Any) -> Iterator[bytes]:
        try:
            chunks = self._object.computing.pieces(self._transform, body)
            yield from chunks if self._size is None else exactly(chunks, self._size)
        finally:
            close_if_possible(body)

    def _transform(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for reader in self._readers:
            chunks = reader.transform(chunks)
        yield from chunks

    def __iter__(self) -> Iterator[bytes]:
        return self._all_chunks()

    def _all_chunks(self) -> Iterator[bytes]:
        found, self._begun = self._begun, None
        if found is not None:
            return found
        answer = self._object.read()
        if not answer.is_success or _etag(answer, self._object.readers_of(answer)) != self._etag:
            close_if_possible(answer.app_iter)
            raise DamagedObjectError("it was replaced while it was read")
        return self._all_bytes(answer.app_iter)

    def app_iter_range(self, first: int, end: int) -> Iterator[bytes]:
        """Return the bytes from `first` to before `end`, with the first of them computed: until then, an error can
        still replace the answer.
        """
        return begin(self._range(first, end))

    def _range(self, first: int, end: int) -> Iterator[bytes]:
        whole = self._all_chunks()
        yield from part_of(whole, first, end - first)
        close_if_possible(whole)

    def app_iter_ranges(
        self, ranges: Sequence[tuple[int, int]], content_type: str, boundary: str, size: int
    ) -> Iterator[bytes]:
        """Return several ranges, as Swift answers them, with the first of them begun."""
        part = first_begun(ranges, self.app_iter_range)
        return iter(multi_range_iterator(ranges, content_type, boundary, size, part))

    def close(self) -> None:
        """Close the open answers."""
        close_if_possible(self._body)
