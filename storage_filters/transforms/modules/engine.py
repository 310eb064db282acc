"""Load WebAssembly modules as isolated filters, and bound their resources.

A module can make four calls only: read its piece of the bytes, write bytes, get a parameter, and log a line of text for
its errors. It has no files, no clock and no randomness, so that equal input gives equal output. Fuel bounds the
instructions for a piece, epochs bound the CPU time of this thread, and a limit bounds the memory. Source of fuel and
epochs: https://docs.wasmtime.dev/examples-interrupting-wasm.html
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import wasmtime

MODULE_BYTES_MAX = 2**20
MEMORY_BYTES_MAX = 16 * 2**20
_TABLE_ELEMENTS_MAX = 10_000
_STACK_BYTES_MAX = 256 * 1024
EPOCH_CPU_S = 0.05
"""CPU seconds of the thread that runs modules, after which an epoch ends."""
EPOCHS_A_CALL = 2
"""A call ends in the second one: after 0.05 s to 0.1 s of CPU."""
SPACE = "zoe"
_I32 = "i32"
IMPORTS = {
    "read": ([_I32, _I32], [_I32]),
    "write": ([_I32, _I32], []),
    "metadata": ([_I32, _I32, _I32, _I32], [_I32]),
    "log": ([_I32, _I32], []),
}
"""What a module may import from `zoe`: parameters and results of each call."""
FORWARD, REVERSE, TRANSFORM, SAME_SIZE = "forward", "reverse", "transform", "same_size"
_ENTRY = ([_I32], [_I32])


class InvalidModuleError(ValueError):
    """A file is not a module that can be a filter; the message says why."""


@dataclass(frozen=True, slots=True)
class Module:
    """A compiled module. reads: it runs when an object is read, not when it is stored. same_size: its output has the
    size of its input.
    """

    code: wasmtime.Module
    reads: bool
    same_size: bool


@cache
def engine() -> wasmtime.Engine:
    """Return this process's engine. Its epochs follow the CPU time of the thread that makes the first call."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.max_wasm_stack = _STACK_BYTES_MAX
    # The same results on every machine, and no features that filters do not need.
    config.cranelift_nan_canonicalization = True
    config.wasm_relaxed_simd = False
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    config.wasm_component_model = False
    made = wasmtime.Engine(config)
    _native("_thread").start_new_thread(_end_epochs, (made, _clock_of(threading.get_native_id())))
    return made


def compile_module(content: bytes) -> Module:
    """Return a module, ready to run. Raises InvalidModuleError."""
    if len(content) > MODULE_BYTES_MAX:
        raise InvalidModuleError(f"a module has at most {MODULE_BYTES_MAX} bytes, not {len(content)}")
    if not content.startswith(b"\0asm"):  # the library would take text for a module's source
        raise InvalidModuleError("this is not a WebAssembly module: it does not begin with \\0asm")
    try:
        return check_module(wasmtime.Module(engine(), content))
    except wasmtime.WasmtimeError as error:
        raise InvalidModuleError(f"this is not a valid WebAssembly module: {_line(error)}") from None


def check_module(code: wasmtime.Module) -> Module:
    """Check the imports and exports of a module, and return it. Raises InvalidModuleError."""
    for entry in code.imports:
        wanted = IMPORTS.get(entry.name or "") if entry.module == SPACE else None
        if wanted is None:
            there = ", ".join(f"{SPACE}.{name}" for name in IMPORTS)
            raise InvalidModuleError(f"it imports {entry.module}.{entry.name}, which does not exist; there are {there}")
        if _signature(entry.type) != wanted:
            raise InvalidModuleError(f"it imports {SPACE}.{entry.name} as another type than {_signature_text(wanted)}")
    exports = {export.name: export.type for export in code.exports}
    if not isinstance(exports.get("memory"), wasmtime.MemoryType):
        raise InvalidModuleError("it does not export its memory as memory")
    entries = {name for name in (FORWARD, REVERSE, TRANSFORM) if name in exports}
    for name in sorted(entries):
        if _signature(exports[name]) != _ENTRY:
            raise InvalidModuleError(f"it exports {name} as another type than {_signature_text(_ENTRY)}")
    if entries not in ({FORWARD, REVERSE}, {TRANSFORM}):
        raise InvalidModuleError(
            f"it exports {_and(sorted(entries))}: a filter of stored objects exports {FORWARD} and {REVERSE}, "
            f"a filter of reads exports {TRANSFORM} alone"
        )
    return Module(code, TRANSFORM in entries, SAME_SIZE in exports and TRANSFORM in entries)


def new_store() -> wasmtime.Store:
    """Return a store for one instance, with its limits."""
    store = wasmtime.Store(engine())
    bound_memory(store, MEMORY_BYTES_MAX)
    return store


def bound_memory(store: wasmtime.Store, memory_bytes: int) -> None:
    """Let the memory of a store's instance grow up to this size."""
    store.set_limits(memory_size=memory_bytes, table_elements=_TABLE_ELEMENTS_MAX, instances=1, tables=4, memories=1)


def reason(error: Exception) -> str:
    """Return a short reason for an error of the library."""
    code = error.trap_code if isinstance(error, wasmtime.Trap) else None
    return _line(error) if code is None else code.name.lower().replace("_", " ")


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].strip()[:200] if str(error).strip() else type(error).__name__


def _signature(one: object) -> tuple[Sequence[str], Sequence[str]] | None:
    return ([*map(str, one.params)], [*map(str, one.results)]) if isinstance(one, wasmtime.FuncType) else None


def _signature_text(signature: tuple[Sequence[str], Sequence[str]]) -> str:
    return f"({', '.join(signature[0])}) -> ({', '.join(signature[1])})"


def _and(names: Sequence[str]) -> str:
    return " and ".join(names) or "no filter"


def _clock_of(thread: int) -> int:
    """Return Linux's clock of the CPU time of a thread of this process, by its native number.

    `time.pthread_getcpuclockid` needs the number that `threading.get_ident` gives, which eventlet replaces. Source:
    clock_getcpuclockid(3) and CPUCLOCK_SCHED, CPUCLOCK_PERTHREAD_MASK in the kernel's posix-timers.h.
    """
    return (~thread << 3) | 0b110


def _native(name: str) -> Any:
    """Return a module of the standard library without eventlet's patches, whose threads would stop while a module
    runs.
    """
    try:
        from eventlet.patcher import original
    except ImportError:
        return import_module(name)
    return original(name)


def _end_epochs(ended: wasmtime.Engine, clock: int) -> None:
    """End an epoch after each `EPOCH_CPU_S` of CPU time of the thread. Time in which the thread waits, or gets no core,
    does not count.
    """
    at_s, sleep = 0.0, _native("time").sleep
    while True:
        sleep(EPOCH_CPU_S / 2)
        try:
            now_s = time.clock_gettime(clock)
        except OSError:  # the thread has ended
            return
        if now_s - at_s >= EPOCH_CPU_S:
            at_s = now_s
            ended.increment_epoch()
