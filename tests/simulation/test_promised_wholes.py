"""Executions that run after each other are promised as a whole, or not at all."""

from __future__ import annotations

import random

from tests.simulation.test_promises import Promising, job, work_of
from tests.simulation.world import check_invariants
from zoe_client.vocabulary import DependencyKind, Holder, OfferKind, PromiseRisk
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.finish_times import FinishTerms, PromiseWish
from zoe_lib.domain.values.frozen import changed

Steps = list[tuple[Application, list[int]]]


def ask(world: Promising, steps: Steps, in_s: float, wish: PromiseWish | None = None) -> list[str]:
    """Submit the steps, each after those with the given numbers."""
    ids: list[str] = []
    for app, after in steps:
        needs = tuple(Dependency(DependencyKind.OK, ids[number]) for number in after)
        conditions = Conditions(after=needs, whole="w1", members=len(steps))
        asks = changed(app, promise=wish or PromiseWish(0.9))
        ids.append(world.submit(asks, deadline_s=world.clock.now_s() + in_s, conditions=conditions))
    return ids


def terms(execution: Execution) -> FinishTerms:
    assert execution.promise is not None, execution.offers
    return execution.promise.terms


def pipeline() -> Steps:
    """One before two, and one after both: 100 s each."""
    return [(job("job", 4, 100.0), []), (job("job", 8, 100.0), [0]), (job("job", 8, 100.0), [0]),
            (job("job", 4, 100.0), [1, 2])]  # fmt: skip


def test_all_are_promised_at_once_each_by_the_time_at_which_the_next_begins() -> None:
    world = work_of({"job": 100.0})
    ids = ask(world, pipeline(), in_s=500.0)
    world.run(5.0, check_invariants)
    first, left, right, last = (terms(world.get(id_)) for id_ in ids)
    assert last.finish_s == 1500.0
    assert left.finish_s <= last.begin_by_s
    assert right.finish_s <= last.begin_by_s
    assert first.finish_s <= min(left.begin_by_s, right.begin_by_s)
    assert {terms.confidence for terms in (first, left, right, last)} == {0.9}
    world.run(600.0, check_invariants)
    assert [world.state(id_) for id_ in ids] == [ExecutionState.SUCCEEDED] * 4
    assert [world.get(id_).missed for id_ in ids] == [None] * 4


def test_the_room_of_later_steps_is_kept_while_they_wait_for_earlier_ones_under_a_new_leader_too() -> None:
    for restarts in (False, True):
        world = work_of({"job": 100.0, "long": 2000.0})
        ids = ask(world, pipeline(), in_s=430.0)
        world.run(5.0)
        if restarts:
            world.restart()
            world.run(1.0)
        long = [world.submit(job("long", 8, 2000.0)) for _ in range(4)]
        world.run(500.0, check_invariants)
        assert [world.state(id_) for id_ in ids] == [ExecutionState.SUCCEEDED] * 4
        assert [world.get(id_).missed for id_ in ids] == [None] * 4
        assert all(world.get(text).marks.get(Mark.PLACED, 1e9) > 200.0 for text in long)


def test_late_pipeline_gets_offers_as_a_whole() -> None:
    world = work_of({"job": 100.0})
    ids = ask(world, pipeline(), in_s=250.0)
    world.run(2.0, check_invariants)
    found = [world.get(id_) for id_ in ids]
    assert all(execution.promise is None for execution in found)
    offered = [execution.offers for execution in found]
    assert all(offers is not None and offers.offers[0].kind is OfferKind.EARLIEST for offers in offered)
    lasts_s = [offer.ends_s - found[0].submitted_at_s for offers in offered for offer in offers.offers if offer.ends_s]
    assert min(lasts_s) >= 10.0, "a user has time to answer"
    ends = [offers.offers[0].terms.finish_s for offers in offered if offers is not None]
    assert ends[0] < ends[1] <= ends[3] or ends[0] < ends[2] <= ends[3]
    takes_s = ends[3] - found[0].submitted_at_s
    assert 400.0 < takes_s < 440.0, "not side by side: promises hold no more than their share of the cores"
    rooms = {booking.execution_id for booking in world.master._cache.promises.bookings()}
    assert {f"{ids[0]}#1", ids[0]} & rooms == {f"{ids[0]}#1"}
    others = [world.submit(job("job", 8, 100.0)) for _ in range(6)]
    for id_ in ids:
        world.accept(id_, 1)
    world.run(2.0)
    rooms = {booking.execution_id for booking in world.master._cache.promises.bookings()}
    assert not [room for room in rooms if "#" in room], "the room of offers is free again once one is accepted"
    world.run(800.0, check_invariants)
    assert [world.get(id_).missed for id_ in ids] == [None] * 4
    assert [world.state(id_) for id_ in (*ids, *others)] == [ExecutionState.SUCCEEDED] * 10


def test_a_budget_is_that_of_the_whole() -> None:
    """Four steps of 100 s with 24 cores are 0.67 core-hours."""
    for budget, promised in (("0.68", True), ("0.6", False)):
        world = work_of({"job": 100.0})
        ids = ask(world, pipeline(), in_s=500.0, wish=PromiseWish(0.9, budget))
        world.run(2.0)
        assert all((world.get(id_).promise is not None) is promised for id_ in ids)


def test_it_is_said_which_of_budget_time_and_room_is_missing() -> None:
    for budget, in_s, full, said, kinds in (
        ("0.6", 600.0, False, "costs at least 0.6667 core-hours", [OfferKind.EARLIEST, OfferKind.DEARER]),
        ("0.6", 100.0, False, "costs at least 0.6667 core-hours", [OfferKind.EARLIEST]),
        (None, 200.0, False, "it takes 321 s", [OfferKind.EARLIEST]),
        (None, 450.0, True, "There is no room in time", [OfferKind.EARLIEST]),
    ):
        world = work_of({"job": 100.0, "full": 500.0})
        for _ in range(2 if full else 0):
            world.submit(job("full", 8, 500.0))
        world.run(1.0)
        ids = ask(world, pipeline(), in_s=in_s, wish=PromiseWish(0.9, budget))
        world.run(2.0)
        offers = world.get(ids[0]).offers
        assert offers is not None
        assert said in offers.why
        assert list(dict.fromkeys(offer.kind for offer in offers.offers)) == kinds, "at once, and with time to answer"
        for id_ in ids:
            world.accept(id_, 1)
        world.run(2500.0, check_invariants)
        assert [world.get(id_).missed for id_ in ids] == [None] * 4


def test_without_an_answer_none_of_them_runs() -> None:
    world = work_of({"job": 100.0})
    ids = ask(world, pipeline(), in_s=50.0)
    world.run(2000.0, check_invariants)
    assert all(world.get(id_).state is ExecutionState.FAILED for id_ in ids)
    assert {world.get(id_).cause for id_ in ids} <= {Cause.NO_PROMISE, Cause.DEPENDENCY_FAILED}
    assert not any(Mark.PLACED in world.get(id_).marks for id_ in ids)


def test_member_cancelled_before_the_decision_does_not_block_the_others() -> None:
    world = work_of({"job": 100.0})
    ids = ask(world, [(job("job", 2, 100.0), []), (job("job", 2, 100.0), [])], in_s=500.0)
    world.cancel(ids[1])
    world.run(1.0)
    assert world.get(ids[0]).promise is None
    world.run(60.0)
    world.waker.wake()  # as the timer of a master does
    world.run(2.0)
    assert world.get(ids[0]).promise is not None


def test_random_pipelines_are_kept_as_a_whole_or_refused_as_a_whole() -> None:
    for seed in range(12):
        chance = random.Random(seed)
        world = work_of({"job": 50.0, "other": 80.0})
        for _ in range(chance.randrange(6)):
            world.submit(job("other", chance.choice([2, 4, 8]), 80.0))
        world.run(1.0)
        steps: Steps = []
        for number in range(chance.randrange(2, 8)):
            after = sorted(chance.sample(range(number), min(number, chance.randrange(3))))
            steps.append((job("job", chance.choice([1, 4, 8]), 50.0), after))
        ids = ask(world, steps, in_s=chance.choice([100.0, 300.0, 600.0]))
        for _ in range(8):
            world.run(chance.uniform(1.0, 40.0))
            world.submit(job("other", chance.choice([2, 8]), 80.0))
        world.run(3000.0, check_invariants)
        found = [world.get(id_) for id_ in ids]
        assert len({execution.promise is None for execution in found}) == 1, f"seed {seed}"
        if found[0].promise is not None:
            assert [execution.missed for execution in found] == [None] * len(found), f"seed {seed}"


def test_a_step_that_is_held_is_announced_as_such_and_those_after_it_as_late_by_it() -> None:
    world = work_of({"job": 50.0})
    ids = ask(world, [(job("job", 2, 50.0), []), (job("job", 2, 50.0), [0])], in_s=200.0)
    world.run(2.0)
    assert all(world.get(id_).promise is not None for id_ in ids)
    held = ids[0] if world.state(ids[0]) is ExecutionState.SUBMITTED else ids[1]
    world.store.append(held, [ev.Held(at_s=world.clock.now_s(), by=Holder.USER)], world.get(held).version, None)
    for _ in range(60):
        world.run(5.0)
        world.waker.wake()
    risks = [promise.notice.risk for id_ in ids if (promise := world.get(id_).promise) is not None and promise.notice]
    assert risks == ([PromiseRisk.HELD, PromiseRisk.INPUT_LATE] if held == ids[0] else [PromiseRisk.HELD])


def test_it_is_decided_when_what_it_runs_after_beside_its_own_has_ended() -> None:
    """So it is with a run of a schedule that waits for the one before: no promise is broken by that one's time."""
    for way in ("after", "held"):
        world = work_of({"job": 100.0})
        earlier = world.submit(job("job", 2, 100.0))
        world.run(1.0)
        waits = Conditions(held=Holder.USER)
        if way == "after":
            waits = Conditions(after=(Dependency(DependencyKind.ANY, earlier),))
        deadline_s, wish = world.clock.now_s() + 3000.0, PromiseWish(0.9)
        first = world.submit(
            changed(job("job", 2, 100.0), promise=wish),
            deadline_s=deadline_s,
            conditions=changed(waits, whole="w1", members=2),
        )
        second = world.submit(
            changed(job("job", 2, 100.0), promise=wish),
            deadline_s=deadline_s,
            conditions=Conditions(after=(Dependency(DependencyKind.OK, first),), whole="w1", members=2),
        )
        world.run(60.0, check_invariants)
        world.waker.wake()
        world.run(2.0)
        assert not any(world.get(text).promise or world.get(text).offers for text in (first, second))
        world.run(60.0, check_invariants)
        if way == "held":
            world.store.append(first, [ev.Released(at_s=world.clock.now_s())], world.get(first).version, None)
        world.run(5.0, check_invariants)
        assert all(world.get(text).promise is not None for text in (first, second)), way
        world.run(3000.0, check_invariants)
        assert [world.state(text) for text in (first, second)] == [ExecutionState.SUCCEEDED] * 2
        assert [world.get(text).missed for text in (first, second)] == [None] * 2
