"""Named counters in memory shared by all workers of a proxy.

A counter has several amounts, only grows, and outlives restarts of the proxy. A lost report is therefore harmless: the
next one covers it. A counter that starts anew, because the machine was restarted or another counter took its place, has
a new time of birth.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SLOTS = 2048
"""Slots of a table; one of them stands for the table itself."""
_KNOWN_MAX = 2 * SLOTS
_AMOUNTS_AT = 8

Amounts = Sequence[int]
Change = Callable[[Amounts, float], Amounts]
"""Maps a counter's amounts and the monotonic time of its last change to its new amounts."""


class CounterTable:
    """Counters in a memory-mapped file, created by the first process: up to 2,047 counters of `amounts` 64-bit
    numbers.
    """

    def __init__(self, path: Path, amounts: int, name_bytes: int) -> None:
        self.name_bytes = name_bytes
        self._slot = struct.Struct(f"<Q {amounts}Q d {name_bytes}s")  # born (ns since the epoch), amounts, last, name
        self._changing = struct.Struct(f"<{amounts}Q d")
        self._zeros = (0,) * amounts
        self._places: dict[str, int] = {}
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with self._lock(0):
            if os.fstat(self._file).st_size < SLOTS * self._slot.size:
                os.ftruncate(self._file, SLOTS * self._slot.size)
        self._memory = mmap.mmap(self._file, SLOTS * self._slot.size)

    def close(self) -> None:
        """Close the file for this process; others continue to use it."""
        self._memory.close()
        os.close(self._file)

    def change(self, name: str, change: Change, now_s: float, make: bool = True) -> None:
        """Change a counter's amounts; without `make`, only of an existing one. now_s: of one clock for all
        processes.
        """
        slot = self._slot_of(name, make)
        if not slot:
            return
        with self._lock(slot):
            fields = self._read(slot)
            amounts = change(fields[1:-2], min(fields[-2], now_s))  # a clock may have been reset
            # Nothing else is written: other processes search for the name without this lock, and packing writes zeros
            # first.
            self._changing.pack_into(self._memory, slot * self._slot.size + _AMOUNTS_AT, *amounts, now_s)

    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """Return time of birth and amounts of all counters by name, without those in the middle of a write."""
        found = {}
        for slot in range(1, SLOTS):
            fields = self._read(slot)
            # A slot that changes hands during the read must not give one counter's numbers to another.
            if fields[0] and fields == self._read(slot):
                found[_text(fields[-1])] = fields[:-2]
        return found

    def _slot_of(self, name: str, make: bool) -> int:
        slot = self._places.get(name, 0)
        if not slot or _text(self._read(slot)[-1]) != name:
            if len(self._places) >= _KNOWN_MAX:
                self._places.clear()
            slot = self._find(name, make)
            if slot:
                self._places[name] = slot
        return slot

    def _find(self, name: str, make: bool) -> int:
        """Return the slot of a counter; a new one takes a free slot, or the least recently used one. Return 0 if it
        does not exist and `make` is false.

        Slots are never emptied, so a search may end at a free one. Slot 0 stands for the whole table.
        """
        first = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
        with self._lock(0):
            oldest, oldest_s = 0, float("inf")
            for step in range(SLOTS - 1):
                slot = 1 + (first + step) % (SLOTS - 1)
                fields = self._read(slot)
                if not fields[0]:
                    oldest = slot
                    break
                if _text(fields[-1]) == name:
                    return slot
                if fields[-2] < oldest_s:
                    oldest, oldest_s = slot, fields[-2]
            if not make:
                return 0
            with self._lock(oldest):
                self._write(oldest, time.time_ns(), *self._zeros, 0.0, name.encode())
            return oldest

    def _read(self, slot: int) -> tuple[Any, ...]:
        return self._slot.unpack_from(self._memory, slot * self._slot.size)

    def _write(self, slot: int, *fields: object) -> None:
        self._slot.pack_into(self._memory, slot * self._slot.size, *fields)

    @contextmanager
    def _lock(self, slot: int) -> Iterator[None]:
        """Lock against other processes; within a process no lock is needed, since this code never yields."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, self._slot.size, slot * self._slot.size)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, self._slot.size, slot * self._slot.size)


def _text(name: bytes) -> str:
    return name.rstrip(b"\0").decode(errors="replace")
