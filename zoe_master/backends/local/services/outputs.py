"""Read the output of services, and limit the output of forgotten ones."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.base import OutputChunk
from zoe_master.backends.local.files import directories
from zoe_master.backends.local.supervisor import files
from zoe_master.backends.services.kept_logs import KeptOutput, bytes_of, outputs_to_remove

_TRIES = 3


def read_output(directory: Path, offset: int, limit: int) -> OutputChunk:
    """Return at most `limit` bytes from `offset`, or from the next byte that still exists; `directory` is the
    service's.
    """
    status = files.read_json(str(directory / files.STATUS)) or {}
    ended = status.get("state") == "ended"
    offset = max(offset, 0)
    for _ in range(_TRIES):  # a piece may be removed between listing and reading
        pieces = _pieces(directory / files.OUTPUT)
        try:
            first, data = _read(pieces, offset, max(limit, 0))
            break
        except FileNotFoundError:
            continue
    else:
        first, data = offset, b""
    end = max([status.get("output_bytes", 0), *(begin + size for begin, size, _ in pieces)])
    if not data and ended:
        first = max(first, end)
    return OutputChunk(
        data=data,
        offset=first,
        next_offset=first + len(data),
        complete=ended and first + len(data) >= end,
        dropped_bytes=first - offset,
    )


class KeptOutputs:
    """Output of forgotten services, which no longer changes: each is measured once."""

    def __init__(self, directory: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._directory = directory
        self._kept: dict[str, KeptOutput] = {}

    def prune(self, bytes_max: int, age_max_s: float) -> int:
        """Remove the oldest output beyond the size or the age; return how many were removed."""
        there: dict[str, KeptOutput] = {}
        for path in self._directory.iterdir():
            with suppress(FileNotFoundError):
                there[path.name] = self._kept.get(path.name) or KeptOutput(path.stat().st_mtime, bytes_of(path))
        gone = outputs_to_remove(there, bytes_max, self._clock.now_s() - age_max_s)
        for name in gone:
            directories.remove(self._directory / name)
            del there[name]
        self._kept = there
        return len(gone)


def _pieces(directory: Path) -> list[tuple[int, int, Path]]:
    """Return first offset, size and file of each piece, in order."""
    found = []
    try:
        for path in directory.iterdir():
            found.append((int(path.name), path.stat().st_size, path))
    except (FileNotFoundError, ValueError):
        pass
    return sorted(found)


def _read(pieces: list[tuple[int, int, Path]], offset: int, limit: int) -> tuple[int, bytes]:
    """Return the first offset read and the bytes from there, as far as pieces follow without a gap."""
    data = bytearray()
    first = offset
    for begin, size, path in pieces:
        if begin + size <= offset:
            continue
        if not data:
            first = max(first, begin)
        elif begin != first + len(data):
            break
        with path.open("rb") as file:
            file.seek(first + len(data) - begin)
            data += file.read(limit - len(data))
        if len(data) >= limit:
            break
    return first, bytes(data)
