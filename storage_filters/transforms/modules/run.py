"""Run a module over one stream of bytes, piece by piece, in a separate instance.

The host calls the module's entry for each piece: `entry(last)`, where `last` is 1 for the last piece, which may be
empty. The module reads the piece, writes its output, and returns 0; any other number is a refusal, with the reason in
the last line of `log`. Every run ends with output or with a ModuleFaultError.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import wasmtime

from storage_filters.transforms.modules.engine import (
    EPOCHS_A_CALL,
    IMPORTS,
    MEMORY_BYTES_MAX,
    SPACE,
    Module,
    bound_memory,
    new_store,
    reason,
)
from storage_filters.transforms.modules.memory import OUTPUT_BYTES, RUN_BYTES, MemoryShare, unbounded_share
from storage_filters.transforms.stream_filters import PIECE_BYTES

FUEL_A_CALL = 2_000_000
FUEL_A_BYTE = 512
"""Instructions, roughly: the first for each piece, the second for each byte of it. Later pieces may use the rest: a
module may collect pieces before it works on them. Epochs bound the time.
"""
FUEL_MAX = 10**12
"""Instructions for all pieces of a stream."""
OUTPUT_A_CALL_MAX = 16 * 2**20
OUTPUT_A_BYTE_MAX = 16
OUTPUT_MORE_BYTES = 2**20
"""Output limit of a module: a multiple of its input, and an additional number of bytes."""
UNREAD_BYTES_MAX = 2**20
LOG_BYTES_MAX = 1000
CALLS_A_PIECE_MAX = 20_000
"""Most calls of the host for a piece: fuel counts the module's instructions only."""
ASKED_MAX = 64
"""Most recorded names of metadata that a module asked for and that are missing."""
_SLICE_S = 0.002
"""After a call longer than this, other requests get their turn."""
_NO_ROOM = "modules use all their memory at this proxy, in total or for this tenant: try again"
Pause = Callable[[], None]


class ModuleFaultError(Exception):
    """A module violated the rules for filters; the message says how."""


class ModuleMemoryError(ModuleFaultError):
    """Other runs hold all the memory at this moment; trying again helps."""


class _Exchange:
    """Input and output of a module. It has no reference to the store, which refers to it."""

    def __init__(self, metadata: Mapping[str, str]) -> None:
        self._metadata = metadata
        self.memory: wasmtime.Memory | None = None
        self.unread = b""
        self.written: list[bytes] = []
        self.given_bytes = self.written_bytes = 0
        self.written_before = 0
        self.calls = 0
        self.room = OUTPUT_A_CALL_MAX
        self.memory_before = 0
        self._said = b""
        self.asked: set[str] = set()

    @property
    def last_message(self) -> str:
        """The module's last message."""
        return "".join(c if c.isprintable() else " " for c in self._said.decode("utf-8", "replace"))

    def read(self, caller: wasmtime.Caller, place: int, length: int) -> int:
        self._count_call()
        piece = self.unread[: max(0, length)]
        if piece:
            self._put(caller, place, piece)
            self.unread = self.unread[len(piece) :]
        return len(piece)

    def write(self, caller: wasmtime.Caller, place: int, length: int) -> None:
        self._count_call()
        self.written_bytes += max(0, length)
        if self.written_bytes - self.written_before > OUTPUT_A_CALL_MAX:
            raise ModuleFaultError(f"it writes more than {OUTPUT_A_CALL_MAX} bytes for a piece")
        if self.written_bytes > OUTPUT_A_BYTE_MAX * self.given_bytes + OUTPUT_MORE_BYTES:
            raise ModuleFaultError(f"it writes more than {OUTPUT_A_BYTE_MAX} times its input")
        self._check_room(caller)
        if length:
            self.written.append(self._get(caller, place, length))

    def _check_room(self, caller: wasmtime.Caller) -> None:
        grown = 0 if self.memory is None else self.memory.data_len(caller) - self.memory_before
        if self.written_bytes - self.written_before + grown > self.room:
            raise ModuleMemoryError(_NO_ROOM)

    def metadata(self, caller: wasmtime.Caller, name: int, name_length: int, place: int, length: int) -> int:
        self._count_call()
        asked = self._text(caller, name, name_length).lower()
        value = self._metadata.get(asked)
        if value is None:
            if len(self.asked) < ASKED_MAX:
                self.asked.add(asked)
            return -1
        content = value.encode()
        if len(content) <= length:
            self._put(caller, place, content)
        return len(content)

    def log(self, caller: wasmtime.Caller, place: int, length: int) -> None:
        self._count_call()
        self._said = self._get(caller, place, min(length, LOG_BYTES_MAX))

    def _count_call(self) -> None:
        self.calls += 1
        if self.calls > CALLS_A_PIECE_MAX:
            raise ModuleFaultError(f"it calls the host more than {CALLS_A_PIECE_MAX} times for a piece")

    def _text(self, caller: wasmtime.Caller, place: int, length: int) -> str:
        return self._get(caller, place, min(length, LOG_BYTES_MAX)).decode("utf-8", "replace")

    def _get(self, caller: wasmtime.Caller, place: int, length: int) -> bytes:
        first, end = self._checked_range(caller, place, length)
        assert self.memory is not None
        return bytes(self.memory.read(caller, first, end))

    def _put(self, caller: wasmtime.Caller, place: int, content: bytes) -> None:
        first, _ = self._checked_range(caller, place, len(content))
        assert self.memory is not None
        self.memory.write(caller, content, first)

    def _checked_range(self, caller: wasmtime.Caller, place: int, length: int) -> tuple[int, int]:
        place &= 0xFFFFFFFF  # an address of 32 bits, passed as a signed number
        if self.memory is None or length < 0 or place + length > self.memory.data_len(caller):
            raise ModuleFaultError("it names bytes outside of its memory")
        return place, place + length


class ModuleRun:
    """A running instance. entry: the name of the function for the pieces. metadata: names in lower case, and values.
    share: of modules' memory, returned by `close`. Raises ModuleFaultError.
    """

    def __init__(
        self, module: Module, entry: str, metadata: Mapping[str, str], share: MemoryShare | None = None
    ) -> None:
        self._exchange = _Exchange(metadata)
        self._share = share or unbounded_share()
        self._held = 0
        self._output = OUTPUT_BYTES  # it keeps the room that it once took, so that other runs do not end it
        self._store = new_store()
        self._fuel = 0
        self._fuel_left = FUEL_MAX
        calls = {name: getattr(self._exchange, name) for name in IMPORTS}
        made = {name: wasmtime.Func(self._store, _type(name), call, access_caller=True) for name, call in calls.items()}
        imports = [made[entry.name or ""] for entry in module.code.imports if entry.module == SPACE]
        exports = self._bounded_call(
            0, lambda: wasmtime.Instance(self._store, module.code, imports).exports(self._store)
        )
        found, memory = exports[entry], exports["memory"]
        assert isinstance(found, wasmtime.Func)
        assert isinstance(memory, wasmtime.Memory)
        self._entry, self._exchange.memory = found, memory
        self._book()

    def close(self) -> None:
        """Return the memory of the instance, which does not run again."""
        self._share.close()

    @property
    def last_message(self) -> str:
        """The module's last message."""
        return self._exchange.last_message

    @property
    def missing_names(self) -> set[str]:
        """Return the missing names of metadata that it asked for."""
        return self._exchange.asked

    def piece(self, content: bytes, last: bool) -> bytes:
        """Return the module's output for a piece. Raises ModuleFaultError."""
        exchange = self._exchange
        exchange.unread += content
        exchange.given_bytes += len(content)
        exchange.written_before, exchange.calls = exchange.written_bytes, 0
        answer = self._bounded_call(len(content), lambda: self._entry(self._store, int(last)))
        if answer != 0:
            raise ModuleFaultError(f"it refuses ({answer}): {exchange.last_message or 'it does not say why'}")
        if last and exchange.unread:
            raise ModuleFaultError(f"it ends and leaves {len(exchange.unread)} bytes unread")
        if len(exchange.unread) > UNREAD_BYTES_MAX:
            raise ModuleFaultError(f"it leaves more than {UNREAD_BYTES_MAX} bytes unread")
        written, exchange.written = b"".join(exchange.written), []
        self._output = max(self._output, len(written))
        self._book()
        return written

    def _book(self) -> None:
        """Book the memory of the instance, and the largest output for a piece."""
        memory = self._exchange.memory
        self._held = 0 if memory is None else memory.data_len(self._store)
        self._share.hold(RUN_BYTES + self._held + self._output - OUTPUT_BYTES)

    def _bounded_call(self, length: int, call: Callable[[], Any]) -> Any:
        self._fuel += FUEL_A_CALL + FUEL_A_BYTE * length
        fuel = min(self._fuel, self._fuel_left)
        self._store.set_fuel(fuel)
        self._store.set_epoch_deadline(EPOCHS_A_CALL)
        # No other run gets a turn during a call, so all free memory belongs to this one.
        room = self._share.room
        limit = min(MEMORY_BYTES_MAX, self._held + room)
        bound_memory(self._store, limit)
        self._exchange.room, self._exchange.memory_before = room + self._output, self._held
        if self._held == 0 and room < RUN_BYTES:
            raise ModuleMemoryError(_NO_ROOM)
        try:
            with _garbage_waits():
                return call()
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            if limit < MEMORY_BYTES_MAX and not _is_bound(error):
                raise ModuleMemoryError(_NO_ROOM) from None
            raise ModuleFaultError(self._sentence(error)) from None
        finally:
            used = fuel - self._store.get_fuel()
            self._fuel, self._fuel_left = self._fuel - used, self._fuel_left - used

    def _sentence(self, error: Exception) -> str:
        code = error.trap_code if isinstance(error, wasmtime.Trap) else None
        if code is wasmtime.TrapCode.OUT_OF_FUEL:
            if self._fuel_left < self._fuel:
                return f"it computes more than {FUEL_MAX} instructions for one object"
            return f"it computes more than {FUEL_A_CALL} instructions for a piece, and {FUEL_A_BYTE} for each byte"
        if code is wasmtime.TrapCode.INTERRUPT:
            return "it computes for more than 0.1 s for a piece"
        return f"it fails: {reason(error)}" + (
            f"; it said: {self._exchange.last_message}" if self._exchange.last_message else ""
        )


def _is_bound(error: Exception) -> bool:
    """Return whether a call exceeded a bound other than memory."""
    code = error.trap_code if isinstance(error, wasmtime.Trap) else None
    return code in (wasmtime.TrapCode.OUT_OF_FUEL, wasmtime.TrapCode.INTERRUPT)


@contextmanager
def _garbage_waits() -> Iterator[None]:
    """Disable garbage collection: in a large process, it takes longer than a module may."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def run(
    module: Module,
    entry: str,
    metadata: Mapping[str, str],
    chunks: Iterable[bytes],
    pause: Pause,
    share: MemoryShare | None = None,
) -> Iterator[tuple[bytes, bytes]]:
    """Yield each piece of at most 64 KiB with the module's output, which may be empty. Raises ModuleFaultError."""
    share = share or unbounded_share()
    try:
        one = ModuleRun(module, entry, metadata, share)
        for piece, last in _pieces(chunks):
            begun_s = time.monotonic()
            written = one.piece(piece, last)
            if time.monotonic() - begun_s > _SLICE_S:
                pause()
            yield piece, written
    finally:
        share.close()


def _pieces(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield pieces, and whether each is the last; an empty one for an empty stream."""
    held = b""
    for chunk in chunks:
        for start in range(0, len(chunk), PIECE_BYTES):
            if held:
                yield held, False
            held = chunk[start : start + PIECE_BYTES]
    yield held, True


@cache
def _type(name: str) -> wasmtime.FuncType:
    parameters, results = IMPORTS[name]
    i32 = wasmtime.ValType.i32()
    return wasmtime.FuncType([i32] * len(parameters), [i32] * len(results))
