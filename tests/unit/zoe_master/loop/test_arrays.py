"""The master makes executions of arrays: no index twice, none lost, even if the master dies."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.array_world import Killed, World
from zoe_client.vocabulary import DependencyKind, ExecutionState, IndexState
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, again, member_of
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import ArrayChange
from zoe_master.state.arrays import WINDOW_MAX
from zoe_master.state.crash_points import CrashPoint


def test_a_long_array_keeps_the_queue_short() -> None:
    world = World(cores=4000)
    array = world.submit("0-999")
    for _ in range(5):
        world.master.tick()
    assert 0 < len(world.store.active()) <= WINDOW_MAX + 4
    world.rest()
    done = world.store.array(array.id)
    assert (done.state, done.counts) == (ExecutionState.SUCCEEDED, {IndexState.SUCCEEDED: 1000})
    world.check_once_each(array)


@pytest.mark.parametrize("point", [CrashPoint.QUEUED, CrashPoint.OBSERVED, CrashPoint.START_PLANNED, CrashPoint.ENDED])
def test_a_killed_master_makes_no_index_twice_and_loses_none(point: CrashPoint) -> None:
    world, chosen = World(), random.Random(7)
    array, other = world.submit("0-299%40"), world.submit("0-299:3", 2, corr=())

    def hit(at: CrashPoint) -> None:
        if at is point and chosen.random() < 0.3:
            raise Killed

    world.hit = hit
    world.rest()
    for entry in (array, other):
        assert world.store.array(entry.id).counts == {IndexState.SUCCEEDED: entry.indices.count}
        world.check_once_each(entry)


@pytest.mark.parametrize("before", [True, False])
def test_a_master_that_dies_beside_its_transaction(monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    """It dies before the executions are written, or before it learns that they are."""
    world, chosen = World(cores=20_000), random.Random(11)
    array = world.submit("0-299")
    make = MemoryStore.make_of_array

    def dying(store: MemoryStore, *given: Any) -> Any:
        if before and chosen.random() < 0.5:
            raise Killed
        result = make(store, *given)
        if not before and chosen.random() < 0.5:
            raise Killed
        return result

    monkeypatch.setattr(MemoryStore, "make_of_array", dying)
    world.rest()
    assert world.store.array(array.id).counts == {IndexState.SUCCEEDED: 300}
    world.check_once_each(array)


def test_indices_run_again_while_others_still_run() -> None:
    world = World()
    world.failing = {1, 3}
    array = world.submit("0-4")
    world.rest()
    assert dict(world.store.array(array.id).counts) == {IndexState.SUCCEEDED: 3, IndexState.FAILED: 2}
    world.failing = set()
    world.store.change_array(
        array.id,
        lambda array, states: ArrayChange(again(array, states), ArrayEventKind.AGAIN, {}),
        world.clock.now_s(),
        "request",
    )
    world.lead()  # one that has not seen the first run
    world.rest()
    done = world.store.array(array.id)
    assert (dict(done.counts), done.run) == ({IndexState.SUCCEEDED: 5}, 2)
    assert sorted(text for text in world.started if text.endswith("r2")) == [f"{array.id}_1r2", f"{array.id}_3r2"]


def test_many_arrays_each_have_some_in_the_queue() -> None:
    world = World(cores=1000)
    arrays = [world.submit("0-9999", number) for number in range(1, 101)]
    for _ in range(10):
        world.master.tick()
    there = {member.array_id for execution in world.store.active() if (member := member_of(execution.id)) is not None}
    assert there == {array.id for array in arrays}
    assert len(world.store.active()) <= 1000


def test_a_chain_by_index_finishes_however_it_is_cut() -> None:
    world, chosen = World(cores=40_000), random.Random(3)
    world.failing = {5, 17}
    first = world.submit("0-199")
    second = world.submit("0-199", 2, corr=(first.id,))
    third = world.submit("0-199", 3, corr=(second.id,))

    def hit(at: CrashPoint) -> None:
        if chosen.random() < 0.01:
            raise Killed

    world.hit = hit
    world.rest()
    assert dict(world.store.array(first.id).counts) == {IndexState.SUCCEEDED: 198, IndexState.FAILED: 2}
    for array in (second, third):
        counts = dict(world.store.array(array.id).counts)
        assert counts == {IndexState.SUCCEEDED: 198, IndexState.FAILED: 2}
    ended = {execution.id: execution for execution in world.store._state.executions.values()}
    assert ended[f"{third.id}_5"].cause == "dependency_failed"


def kinds(world: World, array: Array) -> list[str]:
    entries = [entry for start in range(0, 60_000, 1000) for entry in world.store.journal(start, 1000)]
    return [entry.kind for entry in entries if entry.execution_id == array.id]


def test_indices_that_wait_at_the_deadline_are_one_event_of_the_array() -> None:
    world = World(cores=1000)  # one at a time
    array = world.submit("0-9999", deadline_s=1030.5)
    for _ in range(40):
        world.master.tick()
        world.clock.advance(0.5)
    assert world.clock.now_s() < 1030.5 == world.master.next_due_s(1029.5), "time alone wakes the master"
    assert world.store.array(array.id).late_count is None
    world.clock.advance(1030.5 - world.clock.now_s())
    world.master.tick()
    late = world.store.array(array.id).late_count
    assert late is not None
    assert 9_800 <= late < 9_900
    missed = [e for e in world.store.active() if e.missed]
    assert 0 < len(missed) <= WINDOW_MAX + 1, "each of those that were made"
    for _ in range(3):
        world.lead()
        world.clock.advance(5.0)
        world.master.tick()
    assert kinds(world, array).count(ArrayEventKind.DEADLINE_MISSED) == 1
    assert world.store.array(array.id).late_count == late


def test_each_index_is_told_once_by_itself_or_with_the_others() -> None:
    world = World()
    array = world.submit("0-5%2", deadline_s=world.clock.now_s() + 0.5)
    world.rest()
    entries = [entry for start in range(0, 5_000, 1000) for entry in world.store.journal(start, 1000)]
    of_their_own = {entry.execution_id for entry in entries if entry.kind == "deadline_missed"}
    late = world.store.array(array.id).late_count
    assert (len(of_their_own), late) == (2, 4)
    members = {execution.id: execution.missed for execution in world.store._state.executions.values()}
    assert len(members) == 6
    for execution_id, missed in members.items():
        assert missed is not None
        assert (missed.cause == "not_begun") == (execution_id not in of_their_own)


def test_an_array_in_time_says_nothing() -> None:
    world = World()
    array = world.submit("0-9", deadline_s=world.clock.now_s() + 1e6)
    world.rest()
    world.clock.advance(2e6)
    world.master.tick()
    assert ArrayEventKind.DEADLINE_MISSED not in kinds(world, array)


def test_execution_after_an_array_begins_with_its_last_end() -> None:
    """In consecutive ticks, not when the next one is due by time."""
    world = World()
    array = world.submit("0-2")
    after = world.submit("0", 2, conditions=Conditions(after=(Dependency(DependencyKind.OK, array.id),)))
    for passing_s in (0.0, 1.0):
        world.clock.advance(passing_s)
        while world.master.tick().is_due_again:
            pass
    assert world.store.array(array.id).state is ExecutionState.SUCCEEDED
    assert [text for text in world.started if text.startswith(after.id)] != []
