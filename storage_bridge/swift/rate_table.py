"""Rates of accounts in memory that all workers of a proxy share: one pace for an account, however many serve it.

The pace is the generic cell rate algorithm (ITU-T I.371) in seconds: each account has a time until which its bytes are
spoken for; a piece waits until then and moves it on by its length over the rate. Who was idle may be ahead by a burst.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Direction = Literal["get", "put"]
DIRECTIONS: tuple[Direction, Direction] = ("get", "put")

_SLOTS = 2048
_SLOT = struct.Struct("<16s d d Q Q 80s")  # key, rate, spoken for until, bytes, version of the rate, account
_KEY_BYTES = 16
_NAME_BYTES = 80
_FREE = b"\0" * _KEY_BYTES


class TableFullError(Exception):
    """More accounts than there are slots."""


@dataclass(frozen=True, slots=True)
class Turn:
    """How long a piece has to wait, in seconds, and the version of the rate by which that was found."""

    wait_s: float
    version: int


class RateTable:
    """A file in memory, made by whoever comes first. Rates are bytes per second; 0 stands for no limit."""

    def __init__(self, path: Path, burst_s: float = 0.5) -> None:
        self._burst_s = burst_s
        self._slots: dict[tuple[str, Direction], int] = {}
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with self._locked(0, 1):
            if os.fstat(self._file).st_size < _SLOTS * _SLOT.size:
                os.ftruncate(self._file, _SLOTS * _SLOT.size)
        self._memory = mmap.mmap(self._file, _SLOTS * _SLOT.size)

    def close(self) -> None:
        """Others go on with it."""
        self._memory.close()
        os.close(self._file)

    def turn(self, account: str, direction: Direction, length: int, now_s: float) -> Turn:
        """Count a piece of this length and give it its time. `now_s` is the monotonic clock, one for all processes."""
        slot = self._slot_of(account, direction)
        with self._locked(slot):
            key, rate, until_s, total, version, name = self._read(slot)
            wait_s = 0.0
            if rate > 0:
                until_s = max(until_s, now_s - self._burst_s)
                wait_s = max(until_s - now_s, 0.0)
                until_s += length / rate
            self._write(slot, key, rate, until_s, total + length, version, name)
        return Turn(wait_s, version)

    def version(self, account: str, direction: Direction) -> int:
        """Changes whenever the rate does: who waits by an older one need wait no longer."""
        slot = self._slot_of(account, direction)
        version: int = self._read(slot)[4]
        return version

    def set_rates(self, rates: Mapping[tuple[str, Direction], float], now_s: float) -> None:
        """Make these the only limits."""
        for place, rate in rates.items():
            self._set(self._slot_of(*place), rate, now_s)
        limited = {self._slot_of(*place) for place in rates}
        for slot, _ in self._used():
            if slot not in limited:
                self._set(slot, 0.0, now_s)

    def totals(self) -> Mapping[tuple[str, Direction], int]:
        """Bytes that each account has moved since the table was made."""
        found: dict[tuple[str, Direction], int] = {}
        for slot, name in self._used():
            direction, _, account = name.partition(" ")
            found[account, "get" if direction == "get" else "put"] = self._read(slot)[3]
        return found

    def _set(self, slot: int, rate: float, now_s: float) -> None:
        with self._locked(slot):
            key, old, until_s, total, version, name = self._read(slot)
            if rate != old:
                # What was spoken for by the old rate does not bind the new one.
                self._write(slot, key, rate, min(until_s, now_s), total, version + 1, name)

    def _slot_of(self, account: str, direction: Direction) -> int:
        known = self._slots.get((account, direction))
        if known is None:
            known = self._find(f"{direction} {account}".encode())
            self._slots[account, direction] = known
        return known

    def _find(self, name: bytes) -> int:
        """The slot of that name, taken when there is none yet. Slot 0 is not used: it stands for the whole table."""
        key = hashlib.blake2b(name, digest_size=_KEY_BYTES).digest()
        first = int.from_bytes(key[:8], "little")
        with self._locked(0):
            for step in range(_SLOTS):
                slot = 1 + (first + step) % (_SLOTS - 1)
                found = self._read(slot)[0]
                if found == key:
                    return slot
                if found == _FREE:
                    self._write(slot, key, 0.0, 0.0, 0, 0, name[:_NAME_BYTES])
                    return slot
        raise TableFullError(f"more than {_SLOTS - 1} accounts and directions")

    def _used(self) -> Iterator[tuple[int, str]]:
        for slot in range(1, _SLOTS):
            fields = self._read(slot)
            if fields[0] != _FREE:
                yield slot, fields[5].rstrip(b"\0").decode(errors="replace")

    def _read(self, slot: int) -> tuple[bytes, float, float, int, int, bytes]:
        fields: tuple[bytes, float, float, int, int, bytes] = _SLOT.unpack_from(self._memory, slot * _SLOT.size)
        return fields

    def _write(self, slot: int, *fields: object) -> None:
        _SLOT.pack_into(self._memory, slot * _SLOT.size, *fields)

    @contextmanager
    def _locked(self, slot: int, length: int = _SLOT.size) -> Iterator[None]:
        """Against other processes; within one, nothing runs between since nothing here yields."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, length, slot * _SLOT.size)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, length, slot * _SLOT.size)
