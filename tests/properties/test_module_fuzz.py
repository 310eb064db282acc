"""Whatever bytes are taken for a module: a sentence or an end, in bounded time, and the process lives."""

from __future__ import annotations

import gc
import time

import wasmtime
from hypothesis import given, settings
from hypothesis import strategies as st

from storage_filters.transforms.modules.engine import FORWARD, REVERSE, TRANSFORM, InvalidModuleError, compile_module
from storage_filters.transforms.modules.run import ModuleFaultError, ModuleRun, run
from tests.support.modules import EMPTY, FLIPPING, GROWING, module
from zoe_embedded.runtimes.runtime import CLONE

BOUND_S = 2.0
_CATALOGUE = [(CLONE / "app_descriptions" / "filters" / f"{name}.wasm").read_bytes() for name in ("mask", "columns")]
_VALID = [*_CATALOGUE, module(*EMPTY), module(*FLIPPING), module(*GROWING)]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    content = bytearray(draw(st.sampled_from(_VALID)))
    for _ in range(draw(st.integers(1, 6))):
        content[draw(st.integers(8, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content)


TRUNCATED = st.builds(lambda entry, end: entry[: end % len(entry)], st.sampled_from(_VALID), st.integers(0, 10_000))
RANDOM = st.binary(max_size=200).map(lambda rest: b"\0asm\1\0\0\0" + rest) | st.binary(max_size=50)


@given(content=mutated() | TRUNCATED | RANDOM, given_bytes=st.binary(max_size=300))
@settings(max_examples=600, deadline=None)
def test_whatever_is_taken_for_a_module_ends_in_bytes_or_a_sentence(content: bytes, given_bytes: bytes) -> None:
    begun_s = time.process_time()
    try:
        found = compile_module(content)
    except InvalidModuleError:
        return
    for entry in (TRANSFORM,) if found.reads else (FORWARD, REVERSE):
        try:
            for _, written in run(found, entry, {"columns": "1"}, [given_bytes, given_bytes], lambda: None):
                assert isinstance(written, bytes)
        except ModuleFaultError:
            continue
    assert time.process_time() - begun_s < BOUND_S


def test_instances_leave_nothing_behind() -> None:
    found, before = compile_module(module(*EMPTY)), 0
    for number in range(60):
        one = ModuleRun(found, FORWARD, {})
        assert one.piece(b"x" * 1000, last=True) == b"x" * 1000
        del one
        if number == 9:
            gc.collect()
            before = len(gc.get_objects())
    gc.collect()
    assert len(gc.get_objects()) < before + 100
    assert sum(1 for object_ in gc.get_objects() if isinstance(object_, wasmtime.Store)) <= 1
