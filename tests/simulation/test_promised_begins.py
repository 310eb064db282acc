"""What must not begin before a time is promised when it is submitted, and its room is kept from then on."""

from __future__ import annotations

import random

import pytest

from tests.simulation.test_promised_arrays import members, submit
from tests.simulation.test_promises import WISH, Promising, job, work_of
from tests.simulation.world import check_invariants
from zoe_client.vocabulary import DependencyKind, Holder
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.frozen import changed


def ask(world: Promising, cores: int, run_s: float, begins_in_s: float, in_s: float) -> str:
    app = changed(job("job", cores, run_s), promise=WISH)
    conditions = Conditions(begin_at_s=world.clock.now_s() + begins_in_s)
    return world.submit(app, deadline_s=world.clock.now_s() + in_s, conditions=conditions)


def test_it_is_promised_at_once_and_begins_when_it_may() -> None:
    world = work_of({"job": 100.0})
    begins_s = world.clock.now_s() + 1000.0
    one = ask(world, 8, 100.0, begins_in_s=1000.0, in_s=1200.0)
    world.run(5.0, check_invariants)
    assert world.kinds(one) == ["submitted", "promised"], "it is decided, and not in the queue"
    assert world.terms(one).begin_by_s >= begins_s
    world.run(1300.0, check_invariants)
    found = world.get(one)
    assert (found.state, found.missed) == (ExecutionState.SUCCEEDED, None)
    assert found.marks[Mark.PLACED] >= begins_s
    assert "promise_at_risk" not in world.kinds(one), "until it may begin, nothing is late"


def test_its_room_is_taken_neither_by_later_work_nor_by_later_promises() -> None:
    """A node is kept for it. Promises may hold half of the cores, so the next one gets an offer of a later time."""
    world = work_of({"job": 100.0, "long": 5000.0})
    one = ask(world, 8, 100.0, begins_in_s=500.0, in_s=650.0)
    world.run(2.0)
    other = ask(world, 8, 100.0, begins_in_s=500.0, in_s=650.0)
    long = [world.submit(job("long", 8, 5000.0)) for _ in range(3)]
    world.run(2.0)
    offers = world.get(other).offers
    assert offers is not None
    assert offers.why == "There is no room for it in time"
    assert all(each.terms.begin_by_s >= world.terms(one).finish_s for each in offers.offers)
    world.run(400.0, check_invariants)
    assert sum(Mark.PLACED in world.get(each).marks for each in long) == 1
    world.run(400.0, check_invariants)
    assert world.get(one).state is ExecutionState.SUCCEEDED
    assert world.get(one).missed is None


def test_too_little_time_after_its_begin_is_told() -> None:
    world = work_of({"job": 100.0})
    one = ask(world, 1, 100.0, begins_in_s=500.0, in_s=550.0)
    world.run(2.0)
    offers = world.get(one).offers
    assert offers is not None
    assert "exceeds the time left" in offers.why
    assert offers.offers[0].terms.begin_by_s >= world.get(one).submitted_at_s + 500.0
    world.accept(one, 1)
    world.run(1000.0, check_invariants)
    found = world.get(one)
    assert (found.state, found.missed) == (ExecutionState.SUCCEEDED, None)


@pytest.mark.parametrize("held", [False, True])
def test_offers_that_nobody_accepts_keep_no_room_until_it_may_begin(held: bool) -> None:
    """Also for executions that are held in between."""
    world = work_of({"job": 100.0})
    one = ask(world, 8, 100.0, begins_in_s=5000.0, in_s=5050.0)
    world.run(2.0)
    offers = world.get(one).offers
    assert offers is not None
    assert offers.offers
    if held:
        execution = world.get(one)
        world.store.append(
            one, [ev.Held(at_s=world.clock.now_s(), by=Holder.USER, user="ada")], execution.version, None
        )
        world.waker.wake()
    world.run(offers.ends_s - world.clock.now_s() - 1.0)
    assert world.state(one) is ExecutionState.SUBMITTED
    world.run(10.0, check_invariants)
    found = world.get(one)
    assert (found.state, found.cause) == (ExecutionState.FAILED, Cause.NO_PROMISE)
    other = ask(world, 8, 100.0, begins_in_s=5000.0, in_s=5250.0)
    world.run(2.0)
    assert world.terms(other).finish_s <= world.get(other).submitted_at_s + 5250.0


def test_another_master_keeps_its_room() -> None:
    world = work_of({"job": 100.0, "long": 5000.0})
    one = ask(world, 8, 100.0, begins_in_s=500.0, in_s=650.0)
    world.run(5.0)
    world.restart()
    long = [world.submit(job("long", 8, 5000.0)) for _ in range(2)]
    world.run(800.0, check_invariants)
    assert world.get(one).state is ExecutionState.SUCCEEDED
    assert world.get(one).missed is None
    assert max(world.get(each).marks[Mark.PLACED] for each in long) > world.terms(one).begin_by_s


@pytest.mark.parametrize("what", ["held", "after"])
def test_a_hold_and_what_it_runs_after_are_waited_for(what: str) -> None:
    """The ends of these are unknown."""
    world = work_of({"job": 100.0, "first": 50.0})
    first = world.submit(job("first", 1, 50.0))
    app = changed(job("job", 1, 100.0), promise=WISH)
    conditions = (
        Conditions(held=Holder.USER, begin_at_s=world.clock.now_s() + 10.0)
        if what == "held"
        else Conditions(after=(Dependency(DependencyKind.OK, first),), begin_at_s=world.clock.now_s() + 10.0)
    )
    one = world.submit(app, deadline_s=world.clock.now_s() + 1000.0, conditions=conditions)
    world.run(40.0)
    assert world.kinds(one) == ["submitted"]


def test_a_whole_array_begins_when_it_may() -> None:
    world = work_of({"job": 20.0})
    begins_s = world.clock.now_s() + 300.0
    array = submit(world, "0-5%2", 4, 20.0, in_s=900.0, conditions=Conditions(begin_at_s=begins_s))
    world.run(2.0)
    promises = [member.promise for member in members(world, array) if member.promise is not None]
    assert len(promises) == 6, "they are promised at once"
    assert min(promise.terms.begin_by_s for promise in promises) >= begins_s
    world.run(1000.0, check_invariants)
    found = members(world, array)
    assert min(execution.marks[Mark.PLACED] for execution in found) >= begins_s
    assert [execution.missed for execution in found] == [None] * 6


@pytest.mark.parametrize("seed", range(5))
def test_random_begins_are_promised_and_kept(seed: int) -> None:
    """Whatever is promised for later is kept beside work that fills the cluster, and nothing begins too early."""
    chance = random.Random(seed)
    world = work_of({"job": 60.0, "other": 45.0})
    asked: dict[str, float] = {}
    for _ in range(30):
        begins_in_s = chance.choice((0.0, chance.uniform(10.0, 900.0)))
        one = ask(world, chance.randint(1, 8), 60.0, begins_in_s, begins_in_s + chance.uniform(70.0, 400.0))
        asked[one] = world.clock.now_s() + begins_in_s
        for _ in range(chance.randint(0, 3)):
            world.submit(job("other", chance.randint(1, 8), 45.0))
        world.run(chance.uniform(0.0, 60.0), check_invariants)
    world.run(4000.0, check_invariants)
    promised = [text for text in asked if world.get(text).promise is not None]
    assert len(promised) >= 8
    assert [text for text in promised if world.get(text).missed is not None] == []
    assert [text for text in promised if world.get(text).marks[Mark.PLACED] < asked[text]] == []
