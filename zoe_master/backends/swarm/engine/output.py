"""What a service printed: copied from its engine piece by piece, kept with a bound, read by offset."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zoe_master.backends.base import LogChunk

_OUTPUT = "output"
_POSITION = "output.json"


@dataclass(frozen=True, slots=True)
class Position:
    """`first` is the offset of the first kept byte. `stamp` is the time of the last entry read, `seen` how many had it.

    `complete` says that nothing will follow.
    """

    first: int = 0
    stamp: str = ""
    seen: int = 0
    complete: bool = False


def position_of(place: Path) -> Position:
    """Where the copy has got to."""
    try:
        return Position(**json.loads((place / _POSITION).read_text()))
    except (OSError, ValueError, TypeError):
        return Position()


def append(place: Path, entries: Iterable[tuple[str, bytes]], complete: bool, bytes_max: int) -> None:
    """Add the entries (time, text) that are newer than the copy; beyond the bound the oldest half goes."""
    place.mkdir(parents=True, exist_ok=True)
    path = place / _OUTPUT
    begun = position = position_of(place)
    try:
        with path.open("ab") as file:
            for after, text in _newer(entries, begun):
                file.write(text)
                position = after
        position = replace(position, complete=complete)
    finally:  # what was written is not written again, whatever broke off the rest
        size = path.stat().st_size
        if size > bytes_max:
            position = replace(position, first=position.first + _shorten(path, size, bytes_max // 2))
        _write(place / _POSITION, json.dumps(asdict(position)).encode())


def _newer(entries: Iterable[tuple[str, bytes]], position: Position) -> Iterator[tuple[Position, bytes]]:
    """The entries that come after a position, each with the position after it."""
    begun, same = position, 0
    for stamp, text in entries:
        if stamp < begun.stamp:
            continue
        same = same + 1 if stamp in (begun.stamp, position.stamp) else 1
        if stamp == begun.stamp and same <= begun.seen:
            continue
        position = replace(position, stamp=stamp, seen=same)
        yield position, text


def read(place: Path, offset: int, limit: int) -> LogChunk:
    """At most `limit` bytes from `offset`, or from the first byte that is still kept."""
    position = position_of(place)
    offset = max(offset, 0)
    first = max(offset, position.first)
    try:
        with (place / _OUTPUT).open("rb") as file:
            file.seek(first - position.first)
            data = file.read(max(limit, 0))
            end = position.first + os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        data, end = b"", position.first
    return LogChunk(
        data=data,
        offset=first,
        next_offset=first + len(data),
        complete=position.complete and first + len(data) >= end,
        dropped_bytes=first - offset,
    )


def _shorten(path: Path, size: int, keep: int) -> int:
    with path.open("rb") as file:
        file.seek(size - keep)
        _write(path, file.read())
    return size - keep


def _write(path: Path, data: bytes) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(data)
    new.replace(path)
