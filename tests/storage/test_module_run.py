"""Every module ends with output or an error message, in bounded time."""

from __future__ import annotations

import gc
import subprocess
import time
from collections.abc import Iterable
from typing import Any

import pytest
import wasmtime

from storage_filters.transforms.modules import run as module_run
from storage_filters.transforms.modules.engine import MODULE_BYTES_MAX, InvalidModuleError, compile_module
from storage_filters.transforms.modules.filters import ModuleFilter, NamedModule, ReadModule
from storage_filters.transforms.modules.run import ModuleFaultError, ModuleRun, run
from storage_filters.transforms.stream_filters import FilterRefusedError
from tests.support.modules import EMPTY, FLIPPING, GROWING, LYING, READING, copying, entry, module
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.environment import ensure_swift

BOUND_S = 2.0
"""CPU seconds for one piece of any module; its own time ends after 0.1 s."""


def named(*functions: str, **parameters: str) -> NamedModule:
    return NamedModule("one", "0" * 64, compile_module(module(*functions)), parameters, lambda: None)


def ran(content: bytes | Iterable[bytes], *functions: str, entry: str = "forward", **metadata: str) -> bytes:
    chunks = [content] if isinstance(content, bytes) else content
    return b"".join(w for _, w in run(compile_module(module(*functions)), entry, metadata, chunks, lambda: None))


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 300_000])
def test_a_module_changes_bytes_and_gives_them_back(size: int) -> None:
    content = bytes(i % 251 for i in range(size))
    one = ModuleFilter(named(*FLIPPING))
    kept = b"".join(one.forward([content[:7], content[7:]]))
    assert kept == bytes(b ^ 0x55 for b in content)
    assert b"".join(one.reverse([kept], 0, True)) == content


def test_it_sees_its_parameters_and_no_other_name() -> None:
    ask = entry(
        "forward",
        "(call $write (i32.const 0) (call $metadata (i32.const 100) (i32.const 3) (i32.const 0) (i32.const 50)))"
        "(drop (call $read (i32.const 0) (i32.const 0))) (i32.const 0)",
    )
    data = '(data (i32.const 100) "KEY")'
    assert ran(b"", ask, copying("reverse"), data, key="value") == b"value"
    with pytest.raises(ModuleFaultError, match="outside of its memory"):
        ran(b"", ask, copying("reverse"), data, other="value")  # its length is -1


_SAID = '(data (i32.const 0) "no\\nreason")'
_DEEP = "(func $deep (call $deep) (call $deep))"
_GROW = "(if (i32.lt_s (memory.grow (i32.const 1000)) (i32.const 0)) (then unreachable))"
_OFTEN = "calls the host more than 20000 times for a piece|computes for more than 0.1 s for a piece"
FAULTS = [
    (
        entry("forward", "(loop $l (br $l)) (i32.const 0)"),
        "computes more than 2000000 instructions for a piece, and 512 for each",
    ),
    (entry("forward", "unreachable"), "fails: unreachable"),
    (entry("forward", "(i32.div_s (i32.const 1) (i32.const 0))"), "fails: integer division by zero"),
    (entry("forward", "(i32.load (i32.const 0x7fffffff))"), "fails: memory out of bounds"),
    (entry("forward", "(i32.const 0)"), "ends and leaves 5 bytes unread"),
    (entry("forward", "(call $write (i32.const -5) (i32.const 10)) (i32.const 0)"), "outside of its memory"),
    (entry("forward", "(call $write (i32.const 0) (i32.const -10)) (i32.const 0)"), "outside of its memory"),
    (entry("forward", "(drop (call $read (i32.const 131070) (i32.const 5))) (i32.const 0)"), "outside of its memory"),
    (entry("forward", "(loop $l (call $write (i32.const 0) (i32.const 65536)) (br $l)) (i32.const 0)"), "16 times"),
    (entry("forward", "(call $log (i32.const 0) (i32.const 9)) (i32.const 7)") + _SAID, "refuses .7.: no reaso"),
    (entry("forward", "(call $deep) (i32.const 0)") + _DEEP, "fails: stack overflow"),
    (entry("forward", _GROW + "(i32.const 0)"), "fails: unreachable"),
    (entry("forward", "(loop $l (drop (call $read (i32.const 0) (i32.const 0))) (br $l)) (i32.const 0)"), _OFTEN),
    (entry("forward", "(loop $l (call $write (i32.const 0) (i32.const 0)) (br $l)) (i32.const 0)"), _OFTEN),
    (entry("forward", "(loop $l (call $log (i32.const 0) (i32.const 1000)) (br $l)) (i32.const 0)"), _OFTEN),
]


@pytest.mark.parametrize(("function", "sentence"), FAULTS)
def test_a_fault_is_a_sentence(function: str, sentence: str) -> None:
    begun_s = time.process_time()
    with pytest.raises(ModuleFaultError, match=sentence):
        ran(b"bytes", function, copying("reverse"))
    assert time.process_time() - begun_s < BOUND_S


def test_a_module_that_takes_long_within_its_fuel_is_ended() -> None:
    """Each step of this one misses the caches: little fuel, much time. With fuel for days, the epoch ends it."""
    slow = entry(
        "forward",
        "(local $i i64) (drop (memory.grow (i32.const 200)))"
        "(loop $l (local.set $i (i64.add (i64.rem_u (i64.const -1) (i64.or (local.get $i) (i64.const 1)))"
        "(i64.const 1))) (br $l)) (i32.const 0)",
    )
    one = ModuleRun(compile_module(module(slow, copying("reverse"))), "forward", {})
    fuel, module_run.FUEL_A_CALL = module_run.FUEL_A_CALL, 10**12
    begun_s = time.process_time()
    try:
        with pytest.raises(ModuleFaultError, match=r"computes for more than 0\.1 s for a piece"):
            one.piece(b"x", last=True)
    finally:
        module_run.FUEL_A_CALL = fuel
    assert time.process_time() - begun_s < BOUND_S


_GREEN = """
import eventlet, sys
eventlet.monkey_patch(all=False, socket=True, select=True, thread=True)  # as Swift's servers do
sys.path.insert(0, sys.argv[1])
from storage_filters.transforms.modules import run as module_run
from storage_filters.transforms.modules.engine import compile_module
module_run.FUEL_A_CALL = 10**12
one = module_run.ModuleRun(compile_module(sys.stdin.buffer.read()), "forward", {})
try:
    one.piece(b"x", True)
except module_run.ModuleFaultError as error:
    print(error)
"""


def test_its_time_is_that_of_the_thread_that_runs_it_in_a_proxy_too() -> None:
    """There, eventlet has replaced Python's functions for threads."""
    python = ensure_swift(Home.find(CLONE).create()) / "bin" / "python"
    endless = module(entry("forward", "(loop $l (br $l)) (i32.const 0)"), copying("reverse"))
    ended = subprocess.run(
        [python, "-W", "ignore", "-c", _GREEN, CLONE], input=endless, capture_output=True, timeout=60, check=True
    )
    assert b"computes for more than 0.1 s for a piece" in ended.stdout


def test_garbage_of_the_process_is_not_collected_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    read = module_run._Exchange.read

    def noted(exchange: module_run._Exchange, *arguments: Any) -> Any:
        seen.append(gc.isenabled())
        return read(exchange, *arguments)

    monkeypatch.setattr(module_run._Exchange, "read", noted)
    assert ran(b"abc", *FLIPPING)
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_a_filter_that_does_not_give_back_what_was_put_stores_nothing() -> None:
    with pytest.raises(FilterRefusedError, match="the filter one cannot store this object: its reverse"):
        b"".join(ModuleFilter(named(*LYING)).forward([b"content"]))
    short = entry("reverse", "(drop (call $read (i32.const 0) (i32.const 65536))) (i32.const 0)")
    with pytest.raises(FilterRefusedError, match="does not return the last 7 bytes"):
        b"".join(ModuleFilter(named(copying("forward"), short)).forward([b"content"]))


def test_one_that_reads_sees_all_metadata_and_says_whether_it_keeps_the_size() -> None:
    assert ReadModule(named(*READING), {}).same_size
    assert not ReadModule(named(*GROWING), {}).same_size
    assert b"".join(ReadModule(named(*READING), {}).transform([b"ABC"])) == b"abc"


INVALID = [
    (b"", "does not begin with"),
    (b"(module)", "does not begin with"),
    (module(*EMPTY)[:40], "not a valid WebAssembly module"),
    (b"\0asm\1\0\0\0" + b"\xff" * 20, "not a valid WebAssembly module"),
    (b"\0asm" + bytes(MODULE_BYTES_MAX), "at most 1048576 bytes"),
    (wasmtime.wat2wasm('(module (import "zoe" "open" (func)))'), "imports zoe.open, which does not exist"),
    (
        wasmtime.wat2wasm('(module (import "wasi_snapshot_preview1" "fd_read" (func)))'),
        "imports wasi_snapshot_preview1.fd_read, which does not exist; there are zoe.read",
    ),
    (wasmtime.wat2wasm('(module (import "zoe" "read" (func)))'), "another type than .i32, i32. -> .i32."),
    (wasmtime.wat2wasm("(module)"), "does not export its memory"),
    (module(), "exports no filter"),
    (module(copying("forward")), "exports forward: a filter of stored objects exports forward and reverse"),
    (module(*EMPTY, copying("transform")), "exports forward and reverse and transform"),
    (module(copying("reverse"), '(func (export "forward"))'), "exports forward as another type"),
]


@pytest.mark.parametrize(("content", "sentence"), INVALID)
def test_a_file_that_is_no_filter_is_refused_with_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidModuleError, match=sentence):
        compile_module(bytes(content))


def test_more_memory_than_the_limit_is_refused_at_the_start() -> None:
    big = wasmtime.wat2wasm(f'(module (memory (export "memory") 1000) {entry("transform", "(i32.const 0)")})')
    with pytest.raises(ModuleFaultError, match="memory"):
        ModuleRun(compile_module(bytes(big)), "transform", {})
