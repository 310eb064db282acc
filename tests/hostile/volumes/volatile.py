"""A backing for nbdkit that keeps unflushed writes in memory, so that a kill loses them as a power cut would.

Like a disk, it stores some unflushed sectors earlier, in any order: a kill leaves any part of them, torn ones included.
Parameters: the file, `seed=NUMBER`, and `lie=1` for one that acknowledges flushes without storing anything.
"""

from __future__ import annotations

import os
import random

import nbdkit  # type: ignore[import-not-found]  # by nbdkit's plug-in for Python

API_VERSION = 2
SECTOR = 512
_EARLY = 0.3
_parameters = {"seed": "0", "lie": "0"}
_unflushed: dict[int, bytes] = {}
_state: dict[str, int] = {}
_random = random.Random()


def config(key: str, value: str) -> None:
    _parameters["file" if key == "script_" else key] = value


def get_ready() -> None:
    _random.seed(_parameters["seed"])
    _state["file"] = os.open(_parameters["file"], os.O_RDWR)


def open(readonly: bool) -> int:  # noqa: A001 - nbdkit's name
    return 0


def get_size(_handle: int) -> int:
    return os.fstat(_state["file"]).st_size


def can_flush(_handle: int) -> bool:
    return True


def can_fua(_handle: int) -> int:
    return int(nbdkit.FUA_EMULATE)


def pread(_handle: int, into: bytearray, offset: int, _flags: int) -> None:
    into[:] = os.pread(_state["file"], len(into), offset)
    for sector in range(offset // SECTOR, (offset + len(into) - 1) // SECTOR + 1):
        if (data := _unflushed.get(sector)) is not None:
            at = sector * SECTOR - offset
            begin = max(-at, 0)
            part = data[begin : begin + len(into) - max(at, 0)]
            into[max(at, 0) : max(at, 0) + len(part)] = part


def pwrite(_handle: int, data: bytearray, offset: int, _flags: int) -> None:
    assert offset % SECTOR == len(data) % SECTOR == 0
    for at in range(0, len(data), SECTOR):
        _unflushed[(offset + at) // SECTOR] = bytes(data[at : at + SECTOR])
    if _random.random() < _EARLY:
        for sector in _random.sample(sorted(_unflushed), _random.randint(0, min(len(_unflushed), 64))):
            _store(sector)


def flush(_handle: int, _flags: int) -> None:
    if _parameters["lie"] == "0":
        for sector in sorted(_unflushed):
            _store(sector)


def _store(sector: int) -> None:
    os.pwrite(_state["file"], _unflushed.pop(sector), sector * SECTOR)
