"""Stream filters: each runs forward when an object is stored, and backward when it is read.

Running backward, a filter starts as late as it can: `span` returns its stored bytes for a range, so that chains of
filters read ranges, some from the middle and others from the start. Memory is bounded by the size of the pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

PIECE_BYTES = 64 * 1024


class FilterRefusedError(Exception):
    """A filter cannot run; the message is for the client."""


class FilterAway(FilterRefusedError):  # noqa: N818 - it is an answer
    """A filter cannot run yet; trying again helps."""


class ObjectReplacedError(FilterAway):
    """A client replaced the object while it was read. No byte of it was sent yet, or the connection ends."""


class DamagedObjectError(Exception):
    """The stored bytes cannot be those of the original."""


@dataclass(frozen=True, slots=True)
class Span:
    """Stored bytes that contain a range: from `first` to before `end`, or to the end if that is None. The first `skip`
    decoded bytes are before the range.
    """

    first: int
    end: int | None
    skip: int


class StreamFilter(Protocol):
    """A filter with its parameters for one object."""

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the bytes to store for these bytes."""
        ...

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:
        """Yield the original bytes of stored ones, which start at position `first`. Raises DamagedObjectError."""
        ...

    def span(self, first: int, end: int | None) -> Span:
        """Return the stored bytes that contain the range from `first` to before `end`."""
        ...

    def record(self) -> Mapping[str, Any]:
        """Return the record that is stored with the object to run backward."""
        ...


@runtime_checkable
class IndexedFilter(Protocol):
    """A filter that reads from the middle once it has read a table among its stored bytes."""

    @property
    def wanted_table(self) -> tuple[int, int] | None:
        """Return first byte and end of the table in the stored bytes; None without one, or if it is known already."""

    def learn(self, table: bytes) -> None:
        """Read the table. Raises DamagedObjectError."""
        ...


class Noop:
    """Filter that changes nothing."""

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the same bytes."""
        yield from chunks

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the same bytes."""
        yield from chunks

    def span(self, first: int, end: int | None) -> Span:
        """Return the same range."""
        return Span(first, end, 0)

    def record(self) -> Mapping[str, Any]:
        """Return nothing but the name."""
        return {"filter": "NOOP"}


def run_forward(filters: Sequence[StreamFilter], chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes to store, through filters in the order in which they run at PUT."""
    for filter_ in filters:
        chunks = filter_.forward(chunks)
    yield from chunks


def spans(filters: Sequence[StreamFilter], first: int, end: int | None) -> list[Span]:
    """Return the range of each filter, in the same order; the last one's is read from the store."""
    found: list[Span] = []
    for filter_ in filters:
        found.append(filter_.span(first, end))
        first, end = found[-1].first, found[-1].end
    return found


def run_backward(
    filters: Sequence[StreamFilter], chunks: Iterable[bytes], first: int, end: int | None
) -> Iterator[bytes]:
    """Yield the original bytes from `first` to before `end`. chunks: the stored bytes of the last span."""
    found = spans(filters, first, end)
    starts = [first, *(span.first for span in found)]
    ends = [end, *(span.end for span in found)]
    for number in reversed(range(len(filters))):
        span = found[number]
        chunks = filters[number].reverse(chunks, span.first, span.end is None)
        stop = ends[number]
        chunks = _cut(chunks, span.skip, None if stop is None else stop - starts[number])
    yield from chunks


def read_tables(filters: Sequence[StreamFilter], stored_bytes: Callable[[int, int | None], Iterable[bytes]]) -> None:
    """Let filters read their tables, so that `spans` are short. stored_bytes: reads from the store. Raises
    DamagedObjectError.

    The table of each filter is among the bytes that the later filters stored, so the last ones come first.
    """
    for number in reversed(range(len(filters))):
        one, later = filters[number], filters[number + 1 :]
        if isinstance(one, IndexedFilter) and (table := one.wanted_table) is not None:
            last = [Span(*table, 0), *spans(later, *table)][-1]
            one.learn(b"".join(run_backward(later, stored_bytes(last.first, last.end), *table)))


def exactly(chunks: Iterable[bytes], length: int) -> Iterator[bytes]:
    """Yield exactly `length` bytes. Raises DamagedObjectError if there are fewer or more."""
    for chunk in chunks:
        if len(chunk) > length:
            yield chunk[:length]
            raise DamagedObjectError("more bytes than the original has")
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
