"""The thread sums ended executions until none is left, and removes old ones beside it."""

from __future__ import annotations

from contextlib import closing

from tests.support.manual_clock import ManualClock
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.background.retention import ExecutionRetention, removal_interval_s


class CountingStore(MemoryStore):
    """Has three batches to sum and two to remove, and is away at first."""

    def __init__(self) -> None:
        super().__init__()
        self.summed, self.pruned = 0, 0
        self.summed_before_pruning = 0

    def sum_up(self) -> bool:
        self.summed += 1
        if self.summed == 1:
            raise StoreUnavailable("not yet")
        return self.summed < 4

    def prune(self, now_s: float) -> int:
        super().prune(now_s)
        self.pruned += 1
        self.summed_before_pruning = self.summed_before_pruning or self.summed
        return int(self.pruned < 3)


def test_batches_follow_each_other_until_nothing_is_left() -> None:
    store, clock = CountingStore(), ManualClock()
    with closing(ExecutionRetention(store, interval_s=3600.0, rest_s=1.0, sum_up_s=300.0, clock=clock)):
        clock.step(300.0)  # the first look failed
        for _ in range(4):
            clock.step(1.0)
        assert (store.pruned, store.summed) == (3, 6)
        clock.step(300.0)
        assert (store.pruned, store.summed) == (3, 7)
    # Removal sums in one transaction: it does not begin before the bounded steps have finished.
    assert store.summed_before_pruning == 4


def test_short_retention_removes_within_minutes() -> None:
    assert removal_interval_s(240.0) == 10.0
    assert removal_interval_s(90 * 86400.0) == 3600.0
