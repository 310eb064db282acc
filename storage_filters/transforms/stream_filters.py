"""Filters over streams of bytes: each runs forward when an object is stored, and backward when it is read.

A filter that runs backward begins anywhere it can: `span` says which of its stored bytes contain a range, so that
chains of filters read ranges, some from the middle and others from the start. Memory is bounded by the pieces that
pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

PIECE_BYTES = 64 * 1024


class FilterRefused(Exception):  # noqa: N818 - it is an answer
    """A filter cannot run; the sentence is for the client."""


class FilterAway(FilterRefused):
    """A filter cannot run yet; trying again helps."""


class ObjectReplaced(FilterAway):
    """A client stored another object while one was read; nothing of it was sent yet, or the connection ends."""


class DamagedObjectError(Exception):
    """What is stored cannot be what was put."""


@dataclass(frozen=True, slots=True)
class Span:
    """Which stored bytes contain a range: from `first` to before `end`, or to the end if that is None. The first `skip`
    bytes that they give are not of the range.
    """

    first: int
    end: int | None
    skip: int


class StreamFilter(Protocol):
    """A filter with what it needs for one object."""

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield what is stored for these bytes."""
        ...

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:
        """Yield what stored bytes from position `first` on stand for. DamagedObjectError."""
        ...

    def span(self, first: int, end: int | None) -> Span:
        """Return which stored bytes contain the range from `first` to before `end`."""
        ...

    def record(self) -> Mapping[str, Any]:
        """Return what has to be kept with the object to run backward."""
        ...


@runtime_checkable
class Indexed(Protocol):
    """A filter that reads from the middle once it knows a table, which is among what it stored."""

    @property
    def wanted_table(self) -> tuple[int, int] | None:
        """Return from where to where it is, in what it stored; None if there is none, or if it is known."""

    def learn(self, table: bytes) -> None:
        """Note the table; DamagedObjectError."""
        ...


class Noop:
    """Changes nothing."""

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the same."""
        yield from chunks

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the same."""
        yield from chunks

    def span(self, first: int, end: int | None) -> Span:
        """Return the same range."""
        return Span(first, end, 0)

    def record(self) -> Mapping[str, Any]:
        """Return nothing but the name."""
        return {"filter": "NOOP"}


def stored(filters: Sequence[StreamFilter], chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what is stored for these bytes, by filters in the order in which they run at PUT."""
    for one in filters:
        chunks = one.forward(chunks)
    yield from chunks


def spans(filters: Sequence[StreamFilter], first: int, end: int | None) -> list[Span]:
    """Return the range of each filter, in the same order; the last one's is what has to be read from the store."""
    found: list[Span] = []
    for one in filters:
        found.append(one.span(first, end))
        first, end = found[-1].first, found[-1].end
    return found


def read_back(filters: Sequence[StreamFilter], chunks: Iterable[bytes], first: int, end: int | None) -> Iterator[bytes]:
    """Yield the bytes from `first` to before `end` of what was put; `chunks` are the last span's of what is stored."""
    found = spans(filters, first, end)
    starts = [first, *(span.first for span in found)]
    ends = [end, *(span.end for span in found)]
    for number in reversed(range(len(filters))):
        span = found[number]
        chunks = filters[number].reverse(chunks, span.first, span.end is None)
        stop = ends[number]
        chunks = _cut(chunks, span.skip, None if stop is None else stop - starts[number])
    yield from chunks


def learn(filters: Sequence[StreamFilter], stored_bytes: Callable[[int, int | None], Iterable[bytes]]) -> None:
    """Let filters know their tables, so that `spans` are short. stored_bytes: reads from the store. DamagedObjectError.

    The table of each is among what the filters after it stored, so the last ones are told first.
    """
    for number in reversed(range(len(filters))):
        one, later = filters[number], filters[number + 1 :]
        if isinstance(one, Indexed) and (table := one.wanted_table) is not None:
            last = [Span(*table, 0), *spans(later, *table)][-1]
            one.learn(b"".join(read_back(later, stored_bytes(last.first, last.end), *table)))


def exactly(chunks: Iterable[bytes], length: int) -> Iterator[bytes]:
    """Yield as many bytes as promised and not one more; DamagedObjectError if there are fewer or more."""
    for chunk in chunks:
        if len(chunk) > length:
            yield chunk[:length]
            raise DamagedObjectError("more bytes than were put")
        length -= len(chunk)
        if chunk:
            yield chunk
    if length:
        raise DamagedObjectError(f"{length} bytes are missing")


def _cut(chunks: Iterable[bytes], skip: int, length: int | None) -> Iterator[bytes]:
    if length == 0:
        return
    for chunk in chunks:
        piece = chunk[skip:]
        skip = max(0, skip - len(chunk))
        if length is not None:
            piece = piece[:length]
            length -= len(piece)
        if piece:
            yield piece
        if length == 0:
            return
