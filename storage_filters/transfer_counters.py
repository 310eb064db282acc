"""What executions moved through a proxy, in memory shared by all of its workers.

A counter belongs to one credential of an execution, is only ever increased, and outlives restarts of the proxy. So a
report that is lost costs nothing: the next one has it. A counter that begins anew, because the machine was restarted or
2,047 others needed its place, has another time of birth.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from storage_filters.execution_names import ExecutionUser
from storage_filters.rate_table import Direction

_SLOTS = 2048
# born (nanoseconds since the epoch), bytes read and written, microseconds transferring and waiting, last moved, name
_SLOT = struct.Struct("<Q Q Q Q Q d 88s")
_AMOUNTS = struct.Struct("<Q Q Q Q d")  # of these, what changes
_AMOUNTS_AT = 8
_KNOWN_MAX = 2 * _SLOTS


def counters_file(rates_file: str | Path) -> Path:
    """Return the place of the counters, beside that of the rates."""
    return Path(rates_file).with_suffix(".counters")


def name_of(user: ExecutionUser) -> str:
    """Return the name of a credential's counter; no two credentials of a controller have the same generation."""
    return f"{user.execution}/{user.generation}"


@dataclass(frozen=True, slots=True)
class TransferCount:
    """What was moved with a credential since the counter was born.

    transferring_us: microseconds in which any of its requests waited for the store or moved bytes. waiting_us: the same
    added up over requests.
    """

    born: int
    read_bytes: int
    written_bytes: int
    transferring_us: int
    waiting_us: int

    def numbers(self) -> list[int]:
        """Return the fields in their order, as reports have them."""
        return [self.born, self.read_bytes, self.written_bytes, self.transferring_us, self.waiting_us]


class TransferCounters:
    """A file in memory, created by the first process."""

    def __init__(self, path: Path) -> None:
        self._places: dict[str, int] = {}
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with self._locked(0):
            if os.fstat(self._file).st_size < _SLOTS * _SLOT.size:
                os.ftruncate(self._file, _SLOTS * _SLOT.size)
        self._memory = mmap.mmap(self._file, _SLOTS * _SLOT.size)

    def close(self) -> None:
        """Close the file for this process; others continue to use it."""
        self._memory.close()
        os.close(self._file)

    def count(self, name: str, direction: Direction, length: int, from_s: float, now_s: float) -> None:
        """Add a piece for which a request has waited since then. Times are of the monotonic clock, one for all
        processes; pieces of several requests that waited at the same time take that time once.
        """
        slot = self._slot_of(name)
        with self._locked(slot):
            _, read, written, transferring_us, waiting_us, last_s, _ = self._read(slot)
            last_s = min(last_s, now_s)  # a clock that began again
            fresh_us = round(max(now_s - max(last_s, from_s), 0.0) * 1e6)
            waited_us = round(max(now_s - from_s, 0.0) * 1e6)
            read += length if direction == "get" else 0
            written += length if direction == "put" else 0
            transferring_us, waiting_us = transferring_us + fresh_us, waiting_us + waited_us
            # Nothing else is written: others look for the name without this lock, and what is packed is zero at first.
            at = slot * _SLOT.size + _AMOUNTS_AT
            _AMOUNTS.pack_into(self._memory, at, read, written, transferring_us, waiting_us, now_s)

    def counts(self) -> Mapping[str, TransferCount]:
        """Return all counters by their names, without those that are being written."""
        found = {}
        for slot in range(1, _SLOTS):
            fields = self._read(slot)
            # A place that changes hands while it is read must not give one's numbers to another.
            if fields[0] and fields == self._read(slot):
                found[_text(fields[6])] = TransferCount(*fields[:5])
        return found

    def _slot_of(self, name: str) -> int:
        slot = self._places.get(name, 0)
        if not slot or _text(self._read(slot)[6]) != name:
            if len(self._places) >= _KNOWN_MAX:
                self._places.clear()
            slot = self._places[name] = self._find(name)
        return slot

    def _find(self, name: str) -> int:
        """Return the place of that counter; a new one takes a free place, or that which was used longest ago.

        Places are never emptied, so a search may end at a free one. Slot 0 stands for the whole table.
        """
        first = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
        with self._locked(0):
            oldest, oldest_s = 0, float("inf")
            for step in range(_SLOTS - 1):
                slot = 1 + (first + step) % (_SLOTS - 1)
                fields = self._read(slot)
                if not fields[0]:
                    oldest = slot
                    break
                if _text(fields[6]) == name:
                    return slot
                if fields[5] < oldest_s:
                    oldest, oldest_s = slot, fields[5]
            with self._locked(oldest):
                self._write(oldest, time.time_ns(), 0, 0, 0, 0, 0.0, name.encode())
            return oldest

    def _read(self, slot: int) -> tuple[int, int, int, int, int, float, bytes]:
        fields: tuple[int, int, int, int, int, float, bytes] = _SLOT.unpack_from(self._memory, slot * _SLOT.size)
        return fields

    def _write(self, slot: int, *fields: object) -> None:
        _SLOT.pack_into(self._memory, slot * _SLOT.size, *fields)

    @contextmanager
    def _locked(self, slot: int) -> Iterator[None]:
        """Lock against other processes; within one, no lock is needed since nothing here yields."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, _SLOT.size, slot * _SLOT.size)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _SLOT.size, slot * _SLOT.size)


def _text(name: bytes) -> str:
    return name.rstrip(b"\0").decode()


class StoreWait:
    """Counts what one request moves, and how long it waits for the store; its client's own time is left out.

    Without a name, nothing is counted.
    """

    def __init__(self, counters: TransferCounters, name: str) -> None:
        self._counters = counters
        self._name = name
        self._since_s = time.monotonic()

    def moved(self, direction: Direction, length: int) -> None:
        """Count a piece, and the time until now."""
        if self._name:
            now_s = time.monotonic()
            self._counters.count(self._name, direction, length, self._since_s, now_s)
            self._since_s = now_s

    def begins(self) -> None:
        """Wait for the store from now on, after the client took its time."""
        self._since_s = time.monotonic()
