"""Modules for tests, in WebAssembly's text form: small ones that behave, and ones that do not."""

from __future__ import annotations

from functools import cache

import wasmtime

_CALLS = """
  (import "zoe" "read" (func $read (param i32 i32) (result i32)))
  (import "zoe" "write" (func $write (param i32 i32)))
  (import "zoe" "metadata" (func $metadata (param i32 i32 i32 i32) (result i32)))
  (import "zoe" "log" (func $log (param i32 i32)))
  (memory (export "memory") 2)
"""
_LOOP = """
  (func (export "%s") (param $last i32) (result i32) (local $n i32) (local $i i32)
    (loop $more
      (local.set $n (call $read (i32.const 0) (i32.const 65536)))
      (if (local.get $n) (then
        (local.set $i (i32.const 0))
        (loop $bytes
          (i32.store8 (local.get $i) (i32.xor (i32.load8_u (local.get $i)) (i32.const %d)))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $bytes (i32.lt_u (local.get $i) (local.get $n))))
        (call $write (i32.const 0) (local.get $n))
        (br $more))))
    (i32.const 0))
"""
_COPY = """
  (func (export "%s") (param $last i32) (result i32) (local $n i32)
    (loop $more
      (local.set $n (call $read (i32.const 0) (i32.const 65536)))
      (if (local.get $n) (then (call $write (i32.const 0) (local.get $n)) (br $more))))
    (i32.const 0))
"""


def entry(name: str, body: str) -> str:
    """Return a function that gets the pieces."""
    return f'(func (export "{name}") (param $last i32) (result i32) {body})'


def copying(name: str) -> str:
    """Return a function that writes its input."""
    return _COPY % name


def changing(name: str, mask: int) -> str:
    """Return a function that changes each byte."""
    return _LOOP % (name, mask)


@cache
def module(*functions: str) -> bytes:
    """Return a module with these functions."""
    return bytes(wasmtime.wat2wasm(f"(module {_CALLS} {' '.join(functions)})"))


EMPTY = (copying("forward"), copying("reverse"))
FLIPPING = (changing("forward", 0x55), changing("reverse", 0x55))
LYING = (changing("forward", 0x55), copying("reverse"))
READING = (changing("transform", 0x20), '(func (export "same_size"))')
GROWING = (
    entry(
        "transform",
        "(local $n i32) (local.set $n (call $read (i32.const 0) (i32.const 65536)))"
        "(call $write (i32.const 0) (local.get $n)) (call $write (i32.const 0) (local.get $n)) (i32.const 0)",
    ),
)
TRAPPING = (
    entry(
        "transform",
        "(local $n i32) (if (i32.load (i32.const 131064)) (then unreachable))"
        "(i32.store (i32.const 131064) (i32.const 1))"
        "(local.set $n (call $read (i32.const 0) (i32.const 65536)))"
        "(call $write (i32.const 0) (local.get $n)) (i32.const 0)",
    ),
    '(func (export "same_size"))',
)
"""It fails at the second piece."""
