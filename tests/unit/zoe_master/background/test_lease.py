"""The lease follows the loop: who stands still is deposed, and nobody else."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from tests.support.waiting import until
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.memory import MemoryStore
from zoe_lib.store.values import Leader
from zoe_master.background.lease import LeaderLease, LeaderProgress, LeaderWatch
from zoe_master.crash_points import CrashPoint

LEASE_S = 5.0


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@dataclass
class Masters:
    """The store of a leader and that of a standby."""

    leading: ExecutionStore
    standby: ExecutionStore
    epoch: int


@pytest.fixture
def masters() -> Masters:
    leading = MemoryStore()
    epoch = leading.try_lead("first")
    assert epoch is not None
    return Masters(leading, leading.another(), epoch)


def test_a_loop_stands_still_from_its_last_step(clock: Clock) -> None:
    progress = LeaderProgress(clock)
    clock.now_s += 1e6
    assert progress.stands_s() < 0  # it has not begun
    progress.note()
    clock.now_s += 3
    assert progress.stands_s() == 3
    points: list[CrashPoint] = []
    progress.noted_at(points.append)(CrashPoint.QUEUED)
    assert (progress.stands_s(), points) == (0, [CrashPoint.QUEUED])


def test_a_lease_is_renewed_only_while_the_loop_goes_on(clock: Clock, masters: Masters) -> None:
    store, epoch = masters.leading, masters.epoch
    progress = LeaderProgress(clock)
    progress.note()
    lease = LeaderLease(store, epoch, 0.05, 60, progress)
    try:
        until(lambda: renewals(store) >= 3)
        clock.now_s += 60
        until(lambda: stands(store))
        progress.note()
        before = renewals(store)
        until(lambda: renewals(store) > before)
    finally:
        lease.close()
    assert "zoe-lease" not in {thread.name for thread in threading.enumerate()}


def renewals(store: ExecutionStore) -> int:
    leader = store.leader()
    assert leader is not None
    return leader.renewals


def stands(store: ExecutionStore) -> bool:
    """Whether ten intervals pass without a renewal."""
    before = renewals(store)
    threading.Event().wait(0.1)
    return renewals(store) == before


def test_a_leader_that_renews_is_left_alone(clock: Clock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch
    watch = LeaderWatch(standby, LEASE_S, clock)
    for _ in range(100):
        watch.look()
        clock.now_s += LEASE_S - 0.1
        leading.renew_lead(epoch)
    assert leading.still_leading(epoch)


def test_a_leader_that_stands_still_is_deposed_after_its_lease(clock: Clock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch
    watch = LeaderWatch(standby, LEASE_S, clock)
    watch.look()
    clock.now_s += LEASE_S - 0.1
    watch.look()
    assert leading.still_leading(epoch)
    clock.now_s += 0.1
    watch.look()
    assert not leading.still_leading(epoch)
    assert standby.try_lead("second") == epoch + 1


def test_a_standby_that_was_paused_itself_deposes_nobody(clock: Clock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch
    watch = LeaderWatch(standby, LEASE_S, clock)
    watch.look()
    clock.now_s += 3600  # the standby slept; the leader renewed meanwhile
    leading.renew_lead(epoch)
    watch.look()
    assert leading.still_leading(epoch)


def test_a_renewal_between_reading_and_deposing_counts(clock: Clock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch

    depose = standby.depose

    def renewed_first(seen: Leader) -> bool:
        leading.renew_lead(epoch)
        return depose(seen)

    standby.depose = renewed_first  # type: ignore[method-assign]
    watch = LeaderWatch(standby, LEASE_S, clock)
    watch.look()
    clock.now_s += LEASE_S
    watch.look()
    assert leading.still_leading(epoch)
