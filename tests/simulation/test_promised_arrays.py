"""All indices of an array are promised together, or none: as many lanes as it may have at once, one after another."""

from __future__ import annotations

import random
from typing import Any

from tests.simulation.test_promises import Promising, job, work_of
from tests.simulation.world import check_invariants
from tests.support.limits import Quota, set_quota
from zoe_client.vocabulary import Cause, ExecutionState, IndexState
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, again
from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution, Mark
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.values import ArrayChange, ExecutionQuery


def submit(
    world: Promising,
    indices: str,
    cores: int,
    run_s: float,
    in_s: float,
    conditions: Conditions = NO_CONDITIONS,
    **wish: Any,
) -> Array:
    numbers, at_once = parse_array(indices, 1000)
    fresh = Array(
        id=f"a{random.Random(f'{indices}{world.clock.now_s()}').randrange(10**14):014}",
        name="sweep",
        tenant="default",
        user="ada",
        application=changed(job("job", cores, run_s), promise=PromiseWish(**wish)),
        submitted_at_s=world.clock.now_s(),
        indices=numbers,
        at_once=at_once,
        deadline_s=world.clock.now_s() + in_s,
        conditions=conditions,
    )
    return world.store.submit_array(fresh, "request")


def members(world: Promising, array: Array) -> list[Execution]:
    found = world.store.executions(ExecutionQuery(array_id=array.id, limit=200)).executions
    return sorted(found, key=lambda execution: execution.submitted_at_s)


def test_all_indices_are_promised_at_once_and_no_more_run_side_by_side_than_it_may() -> None:
    world = work_of({"job": 20.0})
    array = submit(world, "0-11%3", 1, 20.0, in_s=150.0)
    world.run(1.0, check_invariants)
    found = members(world, array)
    assert len(found) == 12
    promises = [execution.promise for execution in found if execution.promise is not None]
    assert len(promises) == 12
    spans = [(promise.terms.begin_by_s, promise.terms.finish_s) for promise in promises]
    assert max(sum(a <= at < b for a, b in spans) for at, _ in spans) <= 3
    assert max(end for _, end in spans) <= 1150.0
    most = 0
    for _ in range(60):
        world.run(3.0, check_invariants)
        most = max(most, sum(member.state in ACTIVE_STATES for member in members(world, array)))
    assert most <= 3
    stored = world.store.array(array.id)
    assert stored.counts == {IndexState.SUCCEEDED: 12}
    assert [member.missed for member in members(world, array)] == [None] * 12


def test_late_array_gets_one_offer_that_a_new_leader_keeps() -> None:
    world = work_of({"job": 20.0, "full": 300.0})
    for _ in range(2):
        world.submit(job("full", 8, 300.0))
    world.run(1.0)
    array = submit(world, "0-7%2", 2, 20.0, in_s=200.0)
    world.run(2.0, check_invariants)
    found = members(world, array)
    offered = [execution.offers for execution in found]
    assert all(offers is not None and offers.offers for offers in offered)
    assert "room in time" in offered[0].why if offered[0] is not None else False
    for execution in found:
        world.accept(execution.id, 1)
    world.run(1.0)
    world.restart()
    others = [world.submit(job("full", 8, 300.0)) for _ in range(4)]
    world.run(2500.0, check_invariants)
    assert world.store.array(array.id).counts == {IndexState.SUCCEEDED: 8}
    assert [member.missed for member in members(world, array)] == [None] * 8
    assert all(world.state(other) is ExecutionState.SUCCEEDED for other in others)


def test_without_an_answer_no_index_runs_and_what_runs_again_is_not_promised() -> None:
    world = work_of({"job": 20.0})
    array = submit(world, "0-3%1", 4, 20.0, in_s=30.0)
    world.run(500.0, check_invariants)
    stored = world.store.array(array.id)
    assert stored.counts == {IndexState.FAILED: 4}
    assert {member.cause for member in members(world, array)} <= {Cause.NO_PROMISE, Cause.DEPENDENCY_FAILED}

    def run_again(array: Array, states: bytearray) -> ArrayChange | None:
        return ArrayChange(again(array, states), ArrayEventKind.AGAIN, {})

    world.store.change_array(array.id, run_again, world.clock.now_s(), "request")
    world.waker.wake()
    for _ in range(12):
        world.run(25.0, check_invariants)
    assert world.store.array(array.id).counts == {IndexState.SUCCEEDED: 4}
    assert all(member.promise is None for member in members(world, array))


def test_random_arrays_are_kept_as_a_whole_or_refused_as_a_whole() -> None:
    kept = refused = 0
    for seed in range(12):
        chance = random.Random(seed)
        world = work_of({"job": 30.0, "other": 80.0})
        for _ in range(chance.randrange(5)):
            world.submit(job("other", chance.choice([2, 4, 8]), 80.0))
        world.run(1.0)
        count, lanes = chance.randrange(2, 25), chance.choice(["", "%1", "%2", "%5"])
        array = submit(
            world, f"0-{count - 1}{lanes}", chance.choice([1, 2, 4]), 30.0, chance.choice([100.0, 400.0, 900.0])
        )
        for _ in range(10):
            world.run(chance.uniform(1.0, 40.0), check_invariants)
            world.submit(job("other", chance.choice([2, 8]), 80.0))
        world.run(3000.0, check_invariants)
        found = members(world, array)
        assert len(found) == count
        assert len({execution.promise is None for execution in found}) == 1, f"seed {seed}"
        if found[0].promise is not None:
            kept += 1
            assert [execution.missed for execution in found] == [None] * count, f"seed {seed}"
            assert max(execution.marks[Mark.ENDED] for execution in found) <= (array.deadline_s or 0.0), f"seed {seed}"
        else:
            refused += 1
            assert not any(Mark.PLACED in execution.marks for execution in found)
    assert min(kept, refused) >= 2


def test_array_over_the_limits_waits_as_a_whole_and_ends_at_its_time() -> None:
    """Ten executions at most, and eight are there: four indices wait until two have ended, not two of them now."""
    world = work_of({"job": 20.0, "full": 60.0, "long": 900.0})
    set_quota(world.store, "default", Quota(executions_max=10))
    for _ in range(8):
        world.submit(job("full", 1, 60.0))
    world.run(1.0)
    array = submit(world, "0-3", 1, 20.0, in_s=2000.0)
    world.run(5.0)
    assert members(world, array) == []
    for _ in range(30):
        world.run(3.0, check_invariants)
        world.waker.wake()
    found = members(world, array)
    assert len(found) == 4
    assert all(execution.promise is not None for execution in found)
    for _ in range(8):
        world.submit(job("long", 1, 900.0))
    world.run(1.0)
    late = submit(world, "0-5", 1, 20.0, in_s=50.0)
    for _ in range(30):
        world.run(3.0, check_invariants)
        world.waker.wake()
    stored = world.store.array(late.id)
    assert stored.counts == {IndexState.FAILED: 6}
    assert "before it could be promised" in stored.message
