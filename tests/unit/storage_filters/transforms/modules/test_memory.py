"""The memory of modules is bounded in all, and each tenant gets a share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from storage_filters.transforms.modules.engine import MEMORY_BYTES_MAX, compile_module
from storage_filters.transforms.modules.filters import ModuleFilter, NamedModule, ReadModule
from storage_filters.transforms.modules.memory import OF_PROCESS_BYTES, RUN_BYTES, MemoryBudget
from storage_filters.transforms.stream_filters import FilterAway
from tests.support.long import of_storage
from tests.support.modules import copying, entry, module

GROWS = "(if (i32.eq (memory.grow (i32.const 253)) (i32.const -1)) (then unreachable))"
FILLS = "(memory.fill (i32.const 131072) (i32.const 1) (i32.const 16580608))"  # else the kernel gives it no pages
COPY = (
    "(call $write (i32.const 0) (call $read (i32.const 0) (i32.const 65536)))"
    "(drop (call $read (i32.const 0) (i32.const 1))) (i32.const 0)"
)
WIDE = entry("transform", f"(if (i32.lt_u (memory.size) (i32.const 255)) (then {GROWS} {FILLS})) {COPY}")
WRITES = entry(
    "transform",
    "(local $i i32) (drop (call $read (i32.const 0) (i32.const 65536)))"
    "(loop $more (call $write (i32.const 0) (i32.const 131072)) (local.set $i (i32.add (local.get $i) (i32.const 1)))"
    "(br_if $more (i32.lt_u (local.get $i) (i32.const 8)))) (i32.const 0)",
)


def reader(budget: MemoryBudget, tenant: str, *functions: str) -> Iterator[bytes]:
    named = NamedModule(
        "mask", "0" * 64, compile_module(module(*functions)), {}, lambda: None, lambda: budget.share(tenant)
    )
    return ReadModule(named, {}).transform([b"a" * 65536, b"b" * 65536])


def begun(budget: MemoryBudget, count: int, tenant: str, *functions: str) -> list[Iterator[bytes]]:
    """The readers that run, of so many that begin."""
    running = []
    for _ in range(count):
        one = reader(budget, tenant, *functions)
        with suppress(FilterAway):
            assert next(one)
            running.append(one)
    return running


@pytest.mark.parametrize(
    ("readers", "total"), [(30, 2**28), pytest.param(1024, OF_PROCESS_BYTES, marks=of_storage, id="whole")]
)
def test_of_many_readers_as_many_run_as_fit_and_another_tenant_gets_its_share(readers: int, total: int) -> None:
    """60 readers took 1,010 MiB, 150 took 2,486."""
    budget = MemoryBudget(total)
    own = begun(budget, readers, "acme", WIDE)
    assert total // 2 // (MEMORY_BYTES_MAX + RUN_BYTES) <= len(own) <= total // 2 // (MEMORY_BYTES_MAX - 2**17)
    others = begun(budget, readers, "beta", WIDE)
    assert len(others) >= len(own) // 2 - 1 > 0
    assert budget.held_bytes <= total
    for running in own:  # running ones continue, also after new ones
        assert len(b"".join(running)) == 65536
    assert len(begun(budget, 1, "acme", WIDE)) == 1
    del own
    for other in others:
        other.close()  # type: ignore[attr-defined]
    assert budget.held_bytes == 0


def test_small_modules_all_run() -> None:
    budget = MemoryBudget(2**26)
    assert len(begun(budget, 40, "acme", copying("transform"))) == 40


def test_memory_written_by_a_module_counts_until_the_next_piece() -> None:
    budget = MemoryBudget(8 * 2**20)
    assert len(begun(budget, 8, "acme", WRITES)) < 4


def test_a_put_gives_back_both_instances_also_when_it_is_broken_off() -> None:
    budget = MemoryBudget()
    both = module(copying("forward"), copying("reverse"))
    named = NamedModule("m", "0" * 64, compile_module(both), {}, lambda: None, lambda: budget.share("acme"))
    storing = ModuleFilter(named).forward([b"a" * 65536, b"b" * 65536])
    assert next(storing)
    assert budget.held_bytes > 2 * RUN_BYTES
    storing.close()  # type: ignore[attr-defined]
    assert budget.held_bytes == 0


@pytest.mark.parametrize("total", [0, RUN_BYTES])
def test_without_room_none_begins(total: int) -> None:
    with pytest.raises(FilterAway):
        next(reader(MemoryBudget(total), "acme", WIDE))
