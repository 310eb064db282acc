"""The output of a service: copied from its engine piece by piece, kept within a limit, read by offset."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zoe_master.backends.base import OutputChunk
from zoe_master.backends.engine.spec.log_driver import ENTRY_BYTES, held_bytes

_OUTPUT = "output"
_POSITION = "output.json"
# As on the local back-end: a quarter for the beginning, with errors of the start. Half for the newest leaves room until
# the next cut.
_HEAD_SHARE = 4
_NEWEST_SHARE = 2
_FULL = 0.85
"""Share of the engine's capacity above which it may have dropped the beginning; sizes of entries are estimates."""


@dataclass(frozen=True, slots=True)
class OutputPosition:
    """`stamp`: time of the last entry read, `seen`: number of entries with it; `complete`: no more follow.

    The file holds the first `head` bytes and, after them, those from offset `first`. `untold`: the engine dropped some
    entries that were not copied; they count as one byte, since their size is unknown.
    """

    first: int = 0
    stamp: str = ""
    seen: int = 0
    complete: bool = False
    head: int = 0
    untold: bool = False

    @property
    def is_whole(self) -> bool:
        """Return whether no output was dropped."""
        return self.first == 0


def position_of(place: Path) -> OutputPosition:
    """Return the position that the copy has reached."""
    try:
        return OutputPosition(**json.loads((place / _POSITION).read_text()))
    except (OSError, ValueError, TypeError):
        return OutputPosition()


def append(place: Path, entries: Iterable[tuple[str, bytes]], complete: bool, bytes_max: int) -> None:
    """Append the entries (time, text) that are newer than the copy; beyond the limit, the middle is removed."""
    place.mkdir(parents=True, exist_ok=True)
    copy = _Copy(place, bytes_max)
    try:
        copy.take(entries)
        copy.position = replace(copy.position, complete=complete)
    finally:  # a repeated call must not write them again, even after an interruption
        copy.close()


def read(place: Path, offset: int, limit: int) -> OutputChunk:
    """Return at most `limit` bytes from `offset`, or from the next byte that is still kept."""
    position = position_of(place)
    offset, limit = max(offset, 0), max(limit, 0)
    first = offset if offset < position.head else max(offset, position.first)
    try:
        with (place / _OUTPUT).open("rb") as file:
            end = _end(position, file.seek(0, 2))
            if first < position.head:
                file.seek(first)
                data = file.read(min(limit, position.head - first))
            else:
                file.seek(position.head + first - position.first)
                data = file.read(limit)
    except FileNotFoundError:
        data, end = b"", position.first
    return OutputChunk(
        data=data,
        offset=first,
        next_offset=first + len(data),
        complete=position.complete and first + len(data) >= end,
        dropped_bytes=first - offset,
        dropped_at_least=position.untold and first > offset,
    )


class _Copy:
    """The file and the position while entries are added."""

    def __init__(self, place: Path, bytes_max: int) -> None:
        self.position = position_of(place)
        self._place = place
        self._path = place / _OUTPUT
        self._bytes_max = bytes_max
        self._file = self._path.open("ab")
        self._size = self._path.stat().st_size

    def take(self, entries: Iterable[tuple[str, bytes]]) -> None:
        begun, told_bytes = self.position, 0
        for after, text in _newer(self._skip_repeated(entries, begun.stamp), begun):
            self._file.write(text)
            self._size += len(text)
            told_bytes += len(text) + ENTRY_BYTES
            self.position = replace(self.position, stamp=after.stamp, seen=after.seen)
            if self._size > 2 * self._bytes_max:  # seldom, since each time copies everything kept
                self._shorten()
        if not begun.stamp and told_bytes > _FULL * held_bytes(self._bytes_max):
            self._without_beginning()

    def close(self) -> None:
        if self._size > self._bytes_max:
            self._shorten()
        self._file.close()
        _write(self._place / _POSITION, json.dumps(asdict(self.position)).encode())

    def _skip_repeated(self, entries: Iterable[tuple[str, bytes]], stamp: str) -> Iterator[tuple[str, bytes]]:
        """Yield the entries; the engine repeats those of the last entry's second, unless it has dropped them."""
        first = True
        for entry in entries:
            if first and stamp and entry[0] > stamp:
                self._gap()
            first = False
            yield entry

    def _gap(self) -> None:
        head = self._head()
        end = _end(self.position, self._size)
        self._replace(self._bytes()[:head])
        self.position = replace(self.position, head=head, first=end + 1, untold=True)

    def _without_beginning(self) -> None:
        self._replace(self._bytes()[self.position.head :])
        self.position = replace(self.position, head=0, first=self.position.first + 1, untold=True)

    def _shorten(self) -> None:
        head, newest = self._head(), self._bytes_max // _NEWEST_SHARE
        end, data = _end(self.position, self._size), self._bytes()
        self._replace(data[:head] + data[len(data) - newest :])
        self.position = replace(self.position, head=head, first=end - newest)

    def _head(self) -> int:
        return min(self._size, self._bytes_max // _HEAD_SHARE) if self.position.is_whole else self.position.head

    def _bytes(self) -> bytes:
        self._file.flush()
        return self._path.read_bytes()

    def _replace(self, data: bytes) -> None:
        self._file.close()
        _write(self._path, data)
        self._file, self._size = self._path.open("ab"), len(data)


def _newer(entries: Iterable[tuple[str, bytes]], position: OutputPosition) -> Iterator[tuple[OutputPosition, bytes]]:
    """Yield the entries after a position, each with the position after it."""
    begun, same = position, 0
    for stamp, text in entries:
        if stamp < begun.stamp:
            continue
        same = same + 1 if stamp in (begun.stamp, position.stamp) else 1
        if stamp == begun.stamp and same <= begun.seen:
            continue
        position = replace(position, stamp=stamp, seen=same)
        yield position, text


def _end(position: OutputPosition, size: int) -> int:
    """Return the offset after the last byte of a file of this size."""
    return position.first + size - position.head


def _write(path: Path, data: bytes) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(data)
    new.replace(path)
