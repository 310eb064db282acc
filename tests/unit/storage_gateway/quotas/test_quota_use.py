"""The ledger leaves no object out, whichever process counts while uploads continue."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.quotas.quota_use import NOTHING, WINDOW_S, Amount, Count, Ledger, is_stale, window_at


class Memory:
    """The used part of Swift's client of memcached."""

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


STEPS = st.lists(st.sampled_from(["take", "store", "done", "refuse", "begin", "list", "keep", "time"]), max_size=60)


@given(steps=STEPS)
def test_it_never_says_less_than_there_is(steps: list[str]) -> None:
    ledger, sizes = Ledger(Memory(), "a/c"), iter(range(1, 100))
    now = 7
    on_way: list[tuple[Amount, int]] = []
    stored: list[tuple[Amount, int]] = []  # and not yet told so
    there = NOTHING
    begun: list[int] = []
    listed: list[Count] = []
    for step in steps:
        match step:
            case "take":
                on_way.append((Amount(next(sizes), 1), now))
                ledger.take(*on_way[-1])
            case "store" if on_way:
                stored.append(on_way.pop(0))
                there += stored[-1][0]
            case "done" if stored:
                ledger.finish(*stored.pop())
            case "refuse" if on_way:
                ledger.give_back(*on_way.pop())
            case "begin":
                begun.append(ledger.begin_count())
            case "list" if begun:
                listed.append(Count(there, begun.pop(), 0.0, 0.0))
            case "keep" if listed:
                ledger.keep(listed.pop(0))
            case "time":
                on_way, stored = (_told_again(ledger, uploads, now) for uploads in (on_way, stored))
                now += 1
        count = ledger.newest_count()
        if count is not None:
            used = ledger.use(count, ledger.take(NOTHING, now))
            wanted = sum((amount for amount, _ in on_way), there)
            assert used.size >= wanted.size
            assert used.objects >= wanted.objects


def _told_again(ledger: Ledger, uploads: list[tuple[Amount, int]], now: int) -> list[tuple[Amount, int]]:
    for amount, window in uploads:
        if window != now:
            ledger.move(amount, window, now)
    return [(amount, now) for amount, _ in uploads]


def test_it_says_what_there_is_when_nothing_crosses() -> None:
    ledger = Ledger(Memory(), "a/c")
    assert ledger.newest_count() is None
    ledger.keep(Count(Amount(100, 2), ledger.begin_count(), 0.0, 0.0))
    ledger.take(Amount(10, 1), 7)
    ledger.finish(Amount(10, 1), 7)
    ledger.take(Amount(5, 1), 7)
    ledger.give_back(Amount(5, 1), 7)
    count = ledger.newest_count()
    assert count is not None
    assert ledger.use(count, ledger.take(NOTHING, 7)) == Amount(110, 3)
    for _ in range(9):
        ledger.begin_count()
    assert ledger.newest_count() is None, "counts that many have begun since are not kept"


def test_old_entry_is_forgotten_after_a_minute() -> None:
    ledger, began = Ledger(Memory(), "a/c"), window_at(1000.0)
    ledger.take(Amount(100, 1), began)
    ledger.take(Amount(10, 1), began)
    ledger.move(Amount(10, 1), began, began + 1)
    assert ledger.take(NOTHING, began + 1) == Amount(110, 2)
    assert ledger.take(NOTHING, began - 1) == Amount(100, 1), "by a clock that is behind"
    assert window_at(1000.0 + 2 * WINDOW_S) == began + 2
    assert ledger.take(NOTHING, began + 2) == Amount(10, 1)
    assert 2 * WINDOW_S <= 60


def test_a_count_is_not_kept_when_the_number_of_its_generation_is_lost() -> None:
    memory = Memory()
    ledger = Ledger(memory, "a/c")
    for _ in range(3):
        generation = ledger.begin_count()
    ledger.keep(Count(NOTHING, generation, 0.0, 0.0))
    assert ledger.newest_count() is not None
    del memory.kept["zoe-quota/a/c/generation"]
    ledger.finish(Amount(10, 1), 7)
    assert ledger.newest_count() is None, "later uploads are in no generation of it"


def test_counting_takes_its_share_of_the_time() -> None:
    count = Count(NOTHING, 1, 1000.0, 2.0)
    assert [is_stale(count, at_s) for at_s in (1030.0, 1041.0)] == [False, True]
