"""WebAssembly modules are valid to us as they are to V8, which shares no code with our library.

Half of the modules are ours with a few bytes changed; the others have a function of random instructions. Both
validators have the proposals that engines turn on by default; what a filter may not use beyond is tested by itself.
"""

from __future__ import annotations

import base64
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest
import wasmtime

from storage_filters.transforms.modules.engine import InvalidModuleError, compile_module, engine
from tests.support.long import LONG
from tests.support.modules import EMPTY, FLIPPING, GROWING, LYING, READING, TRAPPING, module
from tests.support.node import node

SEED = 20261129
MODULES = 10_000 if LONG else 800
OURS = tuple(module(*item) for item in (EMPTY, FLIPPING, LYING, READING, GROWING, TRAPPING))
HEADER_BYTES = 8
PROGRAM = """
require('readline').createInterface({input: process.stdin}).on('line', line =>
  console.log(WebAssembly.validate(Buffer.from(line, 'base64')) ? 'valid' : 'invalid'))
"""
# A type (i32) -> (i32), a function of it, a table and a memory, followed by the function's code.
FRAME = bytes.fromhex("0061736d0100000001060160017f017f0302010004040170000105030100020705010166 0000")
INSTRUCTIONS = bytes.fromhex("20414200016a7c1a0b0f452836024003057f7ed070d1fcfd08100c0d1214d2061f0afbfe04")


def changed(chance: random.Random, content: bytes) -> bytes:
    made = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at, how = chance.randrange(0 if chance.random() < 0.05 else HEADER_BYTES, len(made)), chance.random()
        if how < 0.2:
            del made[at]
        elif how < 0.4:
            made.insert(at, chance.randrange(256))
        else:
            made[at] = chance.choice((chance.randrange(256), made[at] ^ 1 << chance.randrange(8), 0, 0x7F, 0x80))
    return bytes(made)


def with_code(chance: random.Random) -> bytes:
    code = bytes(chance.choice((*INSTRUCTIONS, chance.randrange(256))) for _ in range(chance.randint(0, 8)))
    function = b"\0" + code + b"\x0b"
    return FRAME + b"\x0a" + bytes((len(function) + 2, 1, len(function))) + function


@contextmanager
def v8() -> Iterator[tuple[TextIO, TextIO]]:
    """Validates a module a line, in base64."""
    pipe = subprocess.PIPE
    with subprocess.Popen([str(node()), "-e", PROGRAM], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdin, process.stdout
        finally:
            process.stdin.close()


def why_not(content: bytes) -> str:
    """Return why a module is not valid to us; empty if it is."""
    try:
        wasmtime.Module.validate(engine(), content)
    except wasmtime.WasmtimeError as error:
        return str(error)
    return ""


def test_v8_says_the_same_of_each_module() -> None:
    print(f"seed {SEED}")
    chance, counts = random.Random(SEED), Counter[bool]()
    with v8() as (asked, answered):
        for number in range(MODULES):
            made = changed(chance, chance.choice(OURS)) if number % 2 else with_code(chance)
            print(base64.b64encode(made).decode(), file=asked, flush=True)
            said, why = answered.readline().strip(), why_not(made)
            # Behind `unreachable`, V8 takes what `br_on_null` leaves for a number as well: there we refuse more.
            assert said == ("invalid" if why else "valid") or "found heap type" in why, (why, made.hex())
            counts[not why] += 1
    assert min(counts.values()) > MODULES // 50, counts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('(memory (export "memory") i64 1)', "memory64"),
        ('(memory (export "memory") 1 2 shared)', "threads"),
        ('(memory (export "memory") 1) (memory 1)', "multi"),
    ],
)
def test_unneeded_webassembly_features_are_refused(text: str, why: str) -> None:
    entry = '(func (export "transform") (param i32) (result i32) (i32.const 0))'
    with pytest.raises(InvalidModuleError, match=why):
        compile_module(bytes(wasmtime.wat2wasm(f"(module {text} {entry})")))
