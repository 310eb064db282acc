"""Rates of accounts in memory shared by all workers of a proxy: an account has one pace, whichever workers serve it.

The pace is the generic cell rate algorithm (ITU-T I.371) in seconds: each account has a time up to which its bytes are
booked; a piece waits until then and moves it on by its length over the rate. An idle account may be ahead by a burst.
When the rate changes, booked bytes stay booked, and so do waiting pieces: each piece knows how many bytes of its
account were counted before it, and its turn comes after those, at whatever rates.

An execution with a credential has a separate pace, under the name `ACCOUNT/EXECUTION`. Its slot becomes free after a
minute of idleness.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import pwd
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Direction = Literal["get", "put"]
DIRECTIONS: tuple[Direction, Direction] = ("get", "put")

_SLOTS = 2048
_SLOT = struct.Struct("<16s d d Q 80s")  # key, rate, booked until, bytes, account
# in slot 0: the rates of accounts without a limit of their own, in the order of DIRECTIONS
_OTHERS = struct.Struct("<d d")
_KEY_BYTES = 16
_NAME_BYTES = 80
_FREE = b"\0" * _KEY_BYTES
# A slot that was used: searches continue behind it, unlike behind a free one.
_LEFT = b"\xff" * _KEY_BYTES
_IDLE_S = 60.0
_EXECUTION = "/"  # account names never contain it
ALL_FURTHER = "*"
"""Stands for all accounts without a slot, when the table is full. They share one pace."""


def name_in_table(account: str, execution: str) -> str:
    """Return the name of a request's pace: of its execution, if it has one and the name fits into the table, else of
    its account.
    """
    name = f"{account}{_EXECUTION}{execution}"
    return name if execution and len(f"get {name}".encode()) <= _NAME_BYTES else account


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn of a piece: how long it has to wait from now on (seconds), at which rate, and the bytes counted before
    it.
    """

    wait_s: float
    rate: float
    place: int


@dataclass(frozen=True, slots=True)
class Use:
    """Bytes counted since the table was created, and whether some of them wait for their turn."""

    total: int
    waits: bool


@contextmanager
def belonging_to(user: str) -> Iterator[None]:
    """Make files that root creates belong to this user.

    Swift's servers that root starts load their filters once more before they change to their user. Does nothing for
    other processes, and if the user does not exist, which Swift reports itself.
    """
    found = next((entry for entry in pwd.getpwall() if entry.pw_name == user), None) if os.geteuid() == 0 else None
    if found is None:
        yield
        return
    group = os.getegid()
    os.setegid(found.pw_gid)
    os.seteuid(found.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)


class RateTable:
    """Rates in a memory-mapped file, created by the first process: bytes per second; 0 stands for no limit."""

    def __init__(self, path: Path, burst_s: float = 0.5) -> None:
        self._burst_s = burst_s
        self._slots: dict[tuple[str, Direction], tuple[int, bytes]] = {}
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with self._lock(0, 1):
            if os.fstat(self._file).st_size < _SLOTS * _SLOT.size:
                os.ftruncate(self._file, _SLOTS * _SLOT.size)
        self._memory = mmap.mmap(self._file, _SLOTS * _SLOT.size)
        self._further = {self._slot_of(ALL_FURTHER, direction) for direction in DIRECTIONS}

    def close(self) -> None:
        """Close the table for this process; others continue to use it."""
        self._memory.close()
        os.close(self._file)

    def turn(self, account: str, direction: Direction, length: int, now_s: float) -> Turn:
        """Count a piece of this length and book its time. now_s: of the monotonic clock, one for all processes."""
        slot = self._slot_of(account, direction)
        with self._lock(slot):
            key, rate, until_s, total, name = self._read(slot)
            until_s = max(until_s, now_s - self._burst_s) if rate > 0 else now_s
            wait_s = max(until_s - now_s, 0.0)
            if rate > 0:
                until_s += length / rate
            self._write(slot, key, rate, until_s, total + length, name)
        return Turn(wait_s, rate, total)

    def left_s(self, account: str, direction: Direction, place: int, now_s: float) -> float:
        """Return how long the piece at this position still has to wait at the present rate; 0 or less: no longer."""
        slot = self._slot_of(account, direction)
        with self._lock(slot):
            _, rate, until_s, total, _ = self._read(slot)
        return until_s - now_s - (total - place) / rate if rate > 0 else 0.0

    def ahead_s(self, account: str, direction: Direction, now_s: float) -> float:
        """Return the seconds until all booked bytes have had their turn; 0 without a limit."""
        slot = self._slot_of(account, direction)
        if self._read(slot)[1] <= 0:
            return 0.0
        with self._lock(slot):
            _, rate, until_s, _, _ = self._read(slot)
        return max(until_s - now_s, 0.0) if rate > 0 else 0.0

    def rate(self, account: str, direction: Direction) -> float:
        """Return the limit of an account; 0 for none."""
        return float(self._read(self._slot_of(account, direction))[1])

    def set_rates(
        self,
        rates: Mapping[tuple[str, Direction], float],
        now_s: float,
        others: Mapping[Direction, float] | None = None,
    ) -> None:
        """Replace all limits. others: the limit of all other accounts, new ones included."""
        rest = [(others or {}).get(direction, 0.0) for direction in DIRECTIONS]
        with self._lock(0):
            _OTHERS.pack_into(self._memory, 0, *rest)
        limited = {self._slot_of(*place): rate for place, rate in rates.items()}
        for slot, rate in limited.items():
            if slot not in self._further:
                self._set(slot, rate, now_s)
        for slot, name in self._used_slots():
            if slot not in limited or slot in self._further:
                if _EXECUTION in name and self._free_slot(slot, now_s - _IDLE_S):
                    continue
                self._set(slot, rest[DIRECTIONS.index(_direction(name))], now_s)

    def uses_by_account(self, now_s: float) -> Mapping[tuple[str, Direction], Use]:
        """Return the use of each account that ever moved bytes."""
        found: dict[tuple[str, Direction], Use] = {}
        for slot, name in self._used_slots():
            _, rate, until_s, total, _ = self._read(slot)
            if slot in self._further and not total:
                continue
            found[name.partition(" ")[2], _direction(name)] = Use(total, rate > 0 and until_s > now_s)
        return found

    def _set(self, slot: int, rate: float, now_s: float) -> None:
        with self._lock(slot):
            key, old, until_s, total, name = self._read(slot)
            if rate != old:
                ahead_s = until_s - now_s
                if ahead_s > 0:
                    ahead_s = ahead_s * old / rate if rate > 0 else 0.0
                self._write(slot, key, rate, now_s + ahead_s, total, name)

    def _free_slot(self, slot: int, before_s: float) -> bool:
        """Free a slot that was last used before that time; return whether it was."""
        with self._lock(0), self._lock(slot):
            if self._read(slot)[2] >= before_s:
                return False
            self._write(slot, _LEFT, 0.0, 0.0, 0, b"")
        return True

    def _slot_of(self, account: str, direction: Direction) -> int:
        """Return the slot of the name, which may have changed if it was freed in between."""
        slot, key = self._slots.get((account, direction), (0, b""))
        if not slot or self._read(slot)[0] != key:
            slot = self._find(f"{direction} {account}".encode())
            self._slots[account, direction] = slot, self._read(slot)[0]
        return slot

    def _find(self, name: bytes) -> int:
        """Return the slot of a name, allocating one if there is none; without a free slot, the slot shared by all
        further names.

        Slot 0 is not used: it stands for the whole table.
        """
        key = hashlib.blake2b(name, digest_size=_KEY_BYTES).digest()
        first = int.from_bytes(key[:8], "little")
        open_slot = 0
        with self._lock(0):
            for step in range(_SLOTS - 1):
                slot = 1 + (first + step) % (_SLOTS - 1)
                stored = self._read(slot)[0]
                if stored == key:
                    return slot
                if stored in (_FREE, _LEFT):
                    open_slot = open_slot or slot
                if stored == _FREE:
                    break
            if open_slot:
                rate = _OTHERS.unpack_from(self._memory)[DIRECTIONS.index(_direction(name.decode()))]
                self._write(open_slot, key, rate, 0.0, 0, name[:_NAME_BYTES])
                return open_slot
        return self._slot_of(ALL_FURTHER, _direction(name.decode()))

    def _used_slots(self) -> Iterator[tuple[int, str]]:
        for slot in range(1, _SLOTS):
            fields = self._read(slot)
            if fields[0] not in (_FREE, _LEFT):
                yield slot, fields[4].rstrip(b"\0").decode(errors="replace")

    def _read(self, slot: int) -> tuple[bytes, float, float, int, bytes]:
        fields: tuple[bytes, float, float, int, bytes] = _SLOT.unpack_from(self._memory, slot * _SLOT.size)
        return fields

    def _write(self, slot: int, *fields: object) -> None:
        _SLOT.pack_into(self._memory, slot * _SLOT.size, *fields)

    @contextmanager
    def _lock(self, slot: int, length: int = _SLOT.size) -> Iterator[None]:
        """Lock against other processes; within a process no lock is needed, since this code never yields."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, length, slot * _SLOT.size)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, length, slot * _SLOT.size)


def _direction(name: str) -> Direction:
    """Return the direction with which a slot's name begins."""
    return "get" if name.startswith("get ") else "put"
