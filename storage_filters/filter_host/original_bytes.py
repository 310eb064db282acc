"""The original bytes of a stored object, whole or in ranges, read back through its filters.

An object may be stored in another form while it is read: the store then has another object with the same original ETag
and size, and the reader switches to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swift.common.swob import Request, Response, multi_range_iterator
from swift.common.utils import close_if_possible

from storage_filters.counting.request_computing import computing_of
from storage_filters.filter_host.second_look import answer_of
from storage_filters.transforms.seek_table import FRAME_BYTES
from storage_filters.transforms.stream_filters import (
    DamagedObjectError,
    FilterAway,
    ObjectReplacedError,
    Span,
    StreamFilter,
    exactly,
    read_tables,
    run_backward,
    spans,
)
from storage_filters.wsgi.delivery import begin, first_begun
from storage_filters.wsgi.headers import DONE, PUT_ETAG

_CONDITIONS = ("If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since")
_OF_BYTES = (200, 206)
_NOT_FOUND, _ERRORS_FROM = 404, 500
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Form:
    """Stored form of an object: the filters applied to it, and the ETag of the stored bytes."""

    filters: Sequence[StreamFilter]
    stored_etag: str


def plain_request(request: Request, method: str) -> Request:
    """Return a request for the same object, without range and conditions, which have been evaluated."""
    made = Request(request.environ.copy())
    made.method = method
    for name in ("Range", *_CONDITIONS):
        made.headers.pop(name, None)
    return made


class _OtherFormError(Exception):
    """The store has the object in another form, or does not send the requested range."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.status)
        self.answer = answer


class OriginalBytes:
    """Original bytes of an object, for swob. etag, size: of the original. whole: all stored bytes, if they were read
    already. form: returns the stored form from an answer of the store; raises FilterRefusedError and
    DamagedObjectError.
    names: of the metadata that record the filters and the original ETag. at_damage: is called for damage.
    """

    def __init__(
        self,
        app: Any,
        request: Request,
        first: Form,
        etag: str,
        size: int,
        whole: Any,
        form: Callable[[Response], Form],
        names: tuple[str, str] = (DONE, PUT_ETAG),
        at_damage: Callable[[DamagedObjectError], object] = lambda _: None,
    ) -> None:
        self._app = app
        self._request = request
        self._now = first
        self._etag = etag
        self._size = size
        self._whole = whole
        self._form = form
        self._names = names
        self._at_damage = at_damage
        self._begun: Iterator[bytes] = iter(())
        if whole is not None:
            self._iterator = self._all_bytes()
            self._begun = iter((next(self._iterator, b""),))  # until now, an error can still replace the answer
        else:  # swob sends all after all, such as the end of an empty object
            self._iterator = self._read(0, size) if size else iter(())

    def __iter__(self) -> Iterator[bytes]:
        yield from self._begun
        yield from self._iterator

    def _all_bytes(self) -> Iterator[bytes]:
        try:
            yield from exactly(self._undone_bytes(self._whole, 0, None), self._size)
        except DamagedObjectError as error:
            self._at_damage(error)
            raise
        finally:
            close_if_possible(self._whole)

    def app_iter_range(self, first: int, end: int) -> Iterator[bytes]:
        """Return the bytes from `first` to before `end`, with the first of them read."""
        self.close()
        return begin(self._read(first, end))

    def _read(self, first: int, end: int) -> Iterator[bytes]:
        wanted = None if end == self._size else end
        answer = self._answer(first, wanted)
        try:
            yield from exactly(self._undone_bytes(answer.app_iter, first, wanted), end - first)
        except DamagedObjectError as error:
            self._at_damage(error)
            raise
        finally:
            close_if_possible(answer.app_iter)

    def _undone_bytes(self, chunks: Iterable[bytes], first: int, end: int | None) -> Iterator[bytes]:
        filters = self._now.filters
        return computing_of(self._request.environ).pieces(
            lambda iterator: run_backward(filters, iterator, first, end), chunks
        )

    def _answer(self, first: int, end: int | None) -> Response:
        """Return the store's answer with the bytes that contain a range, and note their form."""
        for _ in range(_TRIES):
            try:
                if first >= FRAME_BYTES:
                    read_tables(self._now.filters, self._pieces)
                # Without a filter: earlier versions stored an empty list where no proxy had the filters of the rules.
                last = [Span(first, end, 0), *spans(self._now.filters, first, end)][-1]
                return self._answer_of_range(last.first, last.end)
            except _OtherFormError as other:
                answer = other.answer
            close_if_possible(answer.app_iter)
            if answer.status_int == _NOT_FOUND or answer.status_int >= _ERRORS_FROM:
                raise FilterAway(f"the store answers {answer.status} while the object is read: try again")
            if answer.headers.get("Etag", "") == self._now.stored_etag:
                raise DamagedObjectError(f"its size differs from the stored size: {answer.status}")
            if self._etag_of(answer) != self._etag:
                raise ObjectReplacedError("the object was replaced while it was read: try again")
            self._now = self._form(answer)
        raise FilterAway("the object was replaced several times while it was read: try again")

    def _answer_of_range(self, first: int, end: int | None) -> Response:
        """Return the store's answer with a range of the stored bytes. Raises _OtherFormError."""
        subrequest = plain_request(self._request, "GET")
        subrequest.headers["Range"] = f"bytes={first}-{'' if end is None else end - 1}"
        answer = answer_of(subrequest, self._app)
        if answer.headers.get("Etag", "") != self._now.stored_etag or answer.status_int not in _OF_BYTES:
            raise _OtherFormError(answer)
        return answer

    def _pieces(self, first: int, end: int | None) -> Iterator[bytes]:
        answer = self._answer_of_range(first, end)
        try:
            yield from answer.app_iter
        finally:
            close_if_possible(answer.app_iter)

    def _etag_of(self, answer: Response) -> str:
        done, etag = self._names
        return str(answer.headers.get(etag if done in answer.headers else "Etag", "")).strip('"')

    def app_iter_ranges(
        self, ranges: Sequence[tuple[int, int]], content_type: str, boundary: str, size: int
    ) -> Iterator[bytes]:
        """Return several ranges, as Swift answers them, with the first of them begun."""
        part = first_begun(ranges, self.app_iter_range)
        return iter(multi_range_iterator(ranges, content_type, boundary, size, part))

    def close(self) -> None:
        """Close the open answers."""
        close_if_possible(self._whole)
