"""The lease follows the loop: only a leader without progress is deposed."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from tests.support.manual_clock import ManualClock
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import Leader
from zoe_master.background.lease import LeaderLease, LeaderProgress, LeaderWatch
from zoe_master.state.crash_points import CrashPoint

LEASE_S, RENEWED_EACH_S = 5.0, 1.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@dataclass
class Masters:
    """The stores of a leader and of a standby."""

    leading: ExecutionStore
    standby: ExecutionStore
    epoch: int


@pytest.fixture
def masters() -> Masters:
    leading = MemoryStore()
    epoch = leading.try_lead("first")
    assert epoch is not None
    return Masters(leading, leading.another(), epoch)


def test_a_loop_stands_still_from_its_last_step(clock: ManualClock) -> None:
    progress = LeaderProgress(clock)
    clock.advance(1e6)
    assert progress.idle_s() < 0  # it has not begun
    progress.note()
    clock.advance(3)
    assert progress.idle_s() == 3
    points: list[CrashPoint] = []
    progress.noting_hook(points.append)(CrashPoint.QUEUED)
    assert (progress.idle_s(), points) == (0, [CrashPoint.QUEUED])


def test_a_lease_is_renewed_only_while_the_loop_goes_on(clock: ManualClock, masters: Masters) -> None:
    store, epoch = masters.leading, masters.epoch
    progress = LeaderProgress(clock)
    progress.note()
    lease = LeaderLease(store, epoch, LEASE_S, 60, progress, clock)
    try:
        for _ in range(3):
            clock.step(RENEWED_EACH_S)
        assert renewals(store) == 3
        clock.step(60)
        assert renewals(store) == 3
        progress.note()
        clock.step(RENEWED_EACH_S)
        assert renewals(store) == 4
    finally:
        lease.close()
    assert "zoe-lease" not in {thread.name for thread in threading.enumerate()}


def renewals(store: ExecutionStore) -> int:
    leader = store.leader()
    assert leader is not None
    return leader.renewals


def test_a_leader_that_renews_is_left_alone(clock: ManualClock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch
    watch = LeaderWatch(standby, LEASE_S, clock)
    for _ in range(100):
        watch.look()
        clock.advance(LEASE_S - 0.1)
        leading.renew_lead(epoch)
    assert leading.still_leading(epoch)


def test_a_leader_that_stands_still_is_deposed_after_its_lease(clock: ManualClock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch
    watch = LeaderWatch(standby, LEASE_S, clock)
    watch.look()
    clock.advance(LEASE_S - 0.1)
    watch.look()
    assert leading.still_leading(epoch)
    clock.advance(0.1)
    watch.look()
    assert not leading.still_leading(epoch)
    assert standby.try_lead("second") == epoch + 1


def test_a_standby_that_was_paused_itself_deposes_nobody(clock: ManualClock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch
    watch = LeaderWatch(standby, LEASE_S, clock)
    watch.look()
    clock.advance(3600)  # the standby slept; the leader renewed meanwhile
    leading.renew_lead(epoch)
    watch.look()
    assert leading.still_leading(epoch)


def test_a_renewal_between_reading_and_deposing_counts(clock: ManualClock, masters: Masters) -> None:
    leading, standby, epoch = masters.leading, masters.standby, masters.epoch

    depose = standby.depose

    def renewed_first(seen: Leader) -> bool:
        leading.renew_lead(epoch)
        return depose(seen)

    standby.depose = renewed_first  # type: ignore[method-assign]
    watch = LeaderWatch(standby, LEASE_S, clock)
    watch.look()
    clock.advance(LEASE_S)
    watch.look()
    assert leading.still_leading(epoch)
