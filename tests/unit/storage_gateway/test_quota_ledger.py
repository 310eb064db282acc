"""The ledger leaves nothing out, whoever counts while uploads go on."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.quota_ledger import NOTHING, Amount, Count, Ledger, is_stale


class Memory:
    """What the ledger uses of Swift's client of memcached."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def incr(self, key: str, delta: int, time: int) -> int:
        assert time > 0
        self.kept[key] = max(self.kept.get(key, 0) + delta, 0)
        return int(self.kept[key])

    def get(self, key: str) -> Any:
        return self.kept.get(key)

    def set(self, key: str, value: Any, time: int) -> None:
        assert time > 0
        self.kept[key] = value


STEPS = st.lists(st.sampled_from(["take", "store", "done", "refuse", "begin", "list", "keep"]), max_size=60)


@given(steps=STEPS)
def test_it_never_says_less_than_there_is(steps: list[str]) -> None:
    ledger, sizes = Ledger(Memory(), "a/c"), iter(range(1, 100))
    on_way: list[Amount] = []
    stored: list[Amount] = []  # and not yet told so
    there = NOTHING
    begun: list[int] = []
    listed: list[Count] = []
    for step in steps:
        match step:
            case "take":
                on_way.append(Amount(next(sizes), 1))
                ledger.take(on_way[-1])
            case "store" if on_way:
                stored.append(on_way.pop(0))
                there += stored[-1]
            case "done" if stored:
                ledger.done(stored.pop())
            case "refuse" if on_way:
                ledger.give_back(on_way.pop())
            case "begin":
                begun.append(ledger.begin_count())
            case "list" if begun:
                listed.append(Count(there, begun.pop(), 0.0, 0.0))
            case "keep" if listed:
                ledger.keep(listed.pop(0))
        count = ledger.counted()
        if count is not None:
            used = ledger.used(count, ledger.take(NOTHING))
            wanted = sum(on_way, there)
            assert used.size >= wanted.size
            assert used.objects >= wanted.objects


def test_it_says_what_there_is_when_nothing_crosses() -> None:
    ledger = Ledger(Memory(), "a/c")
    assert ledger.counted() is None
    ledger.keep(Count(Amount(100, 2), ledger.begin_count(), 0.0, 0.0))
    ledger.take(Amount(10, 1))
    ledger.done(Amount(10, 1))
    ledger.take(Amount(5, 1))
    ledger.give_back(Amount(5, 1))
    count = ledger.counted()
    assert count is not None
    assert ledger.used(count, ledger.take(NOTHING)) == Amount(110, 3)
    for _ in range(9):
        ledger.begin_count()
    assert ledger.counted() is None, "counts that many have begun since are not kept"


def test_counting_takes_its_share_of_the_time() -> None:
    count = Count(NOTHING, 1, 1000.0, 2.0)
    assert [is_stale(count, at_s) for at_s in (1030.0, 1041.0)] == [False, True]
