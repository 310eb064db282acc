"""Promises are decided beside earlier ones, kept against later work, and answered by offers where there is no room."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from tests.simulation.world import World, application, check_invariants, component, node
from zoe_client.vocabulary import DependencyKind, Holder, OfferKind, PromiseRisk
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.deadline_misses import status_of
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark
from zoe_lib.domain.executions.guaranteed import as_guaranteed
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.finish_times import FinishTerms, PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressReading
from zoe_lib.pricing.price_list import PriceList
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.tick import Tick
from zoe_master.state.promise_prices import StoredPrices

WISH = PromiseWish(0.9)


def no_prices() -> list[PriceList]:
    return []


class Promising(World):
    """A world whose master decides promises after each tick, as its thread does."""

    progress: Mapping[str, ExecutionProgress] = MappingProxyType({})

    def tick(self) -> Tick:
        tick = super().tick()
        self.master.run_times.work_off(1000)
        decisions = PromiseDecisions(self.master.run_times, StoredPrices(no_prices, self.clock))
        made = decisions.decide_on(tick, progress=self.progress)
        if made:
            self.master.note_promises(made)
            self.waker.wake()
        return tick

    def ask(self, app: Application, in_s: float, wish: PromiseWish = WISH) -> str:
        return self.submit(changed(app, promise=wish), deadline_s=self.clock.now_s() + in_s)

    def terms(self, execution_id: str) -> FinishTerms:
        promise = self.get(execution_id).promise
        assert promise is not None
        return promise.terms

    def kinds(self, execution_id: str) -> list[str]:
        return [entry.kind for entry in self.store.journal(0, 10_000, execution_id=execution_id)]

    def accept(self, execution_id: str, number: int) -> None:
        execution = self.get(execution_id)
        assert execution.offers is not None
        terms = execution.offers.terms(number, self.clock.now_s())
        assert terms is not None
        event = ev.Promised(at_s=self.clock.now_s(), terms=terms, offer=number, user="ada")
        self.store.append(execution_id, [event], execution.version, None)
        self.waker.wake()


def work_of(seconds: dict[str, float]) -> Promising:
    """Each service runs for the seconds of its component."""

    def behave(start: ServiceStart) -> ServiceBehaviour:
        return ServiceBehaviour(run_s=seconds.get(start.component.name, 10.0))

    return Promising([node("n1"), node("n2")], behave=behave)


def job(name: str, cores: int, run_s: float, elastic: int = 0) -> Application:
    """Run the program of this name; the elastic services run for as long as it does."""
    parts = [component(name, 1, 1, cores=cores, ends_application=True, command=(name,))]
    if elastic:
        parts.append(component("worker", 0, elastic, cores=1))
    return application(*parts, expected_run_s=run_s)


def test_room_now_is_promised_at_once_and_the_time_is_kept() -> None:
    world = work_of({"job": 100.0})
    one = world.ask(job("job", 4, 100.0), in_s=150.0)
    world.run(5.0, check_invariants)
    assert world.kinds(one)[:3] == ["submitted", "promised", "queued"]
    terms = world.terms(one)
    assert (terms.elastic, terms.runs, terms.wide) == (0, 0, True)
    assert terms.begin_by_s + terms.run_s <= terms.finish_s
    world.run(200.0, check_invariants)
    found = world.get(one)
    assert (found.state, found.missed) == (ExecutionState.SUCCEEDED, None)


def test_later_work_does_not_take_the_room_of_a_promise() -> None:
    """The cluster is full; the promise begins when it is free, and work in between must have left by then."""
    world = work_of({"full": 100.0, "long": 1000.0, "short": 20.0, "job": 100.0})
    for _ in range(2):
        world.submit(job("full", 8, 100.0))
    world.run(1.0)
    promised = world.ask(job("job", 8, 100.0), in_s=600.0)
    world.run(1.0)
    begin_by_s = world.terms(promised).begin_by_s
    long = [world.submit(job("long", 8, 1000.0)) for _ in range(4)]
    short = [world.submit(job("short", 8, 20.0)) for _ in range(3)]
    world.run(3000.0, check_invariants)
    found = world.get(promised)
    assert found.state is ExecutionState.SUCCEEDED
    assert found.missed is None
    assert found.marks[Mark.PLACED] <= begin_by_s + 1.0
    assert all(world.state(text) is ExecutionState.SUCCEEDED for text in short)
    others = [world.get(text).marks.get(Mark.PLACED, math.inf) for text in long]
    assert sum(at_s < found.marks[Mark.PLACED] for at_s in others) <= 1, "one node is left to them, the other is booked"


def test_guaranteed_services_are_taken_back_by_nobody() -> None:
    world = work_of({"job": 300.0, "worker": 300.0, "other": 50.0})
    one = world.ask(job("job", 2, 300.0, elastic=8), in_s=400.0)
    world.run(5.0, check_invariants)
    terms = world.terms(one)
    guaranteed = {s.id for s in as_guaranteed(world.get(one)).core_services()}
    assert terms.elastic == 8, "declared run times hold for all services"
    for _ in range(4):
        world.submit(job("other", 4, 50.0))
    world.run(100.0, check_invariants)
    lost = [s for s in world.get(one).services if s.id in guaranteed and s.cause is Cause.PREEMPTED]
    assert not lost
    world.run(500.0)
    assert world.get(one).missed is None


def test_resources_given_back_early_go_to_others_and_survive_a_restart() -> None:
    world = work_of({"job": 400.0, "worker": 400.0, "other": 300.0})
    one = world.ask(job("job", 2, 1000.0, elastic=8), in_s=1100.0)
    world.run(5.0, check_invariants)
    assert world.terms(one).elastic == 8
    other = world.submit(job("other", 5, 300.0))
    world.run(100.0, check_invariants)
    assert world.state(other) is ExecutionState.QUEUED
    began_s = world.get(one).marks[Mark.READY]
    readings = tuple(ProgressReading(began_s + 10.0 * n, 0.025 * n) for n in range(1, 15))
    world.progress = {one: ExecutionProgress(one, 1, began_s + 140.0, readings)}
    world.run(40.0)
    world.waker.wake()
    world.run(20.0, check_invariants)
    promise = world.get(one).promise
    assert promise is not None
    assert world.kinds(one).count("promise_adjusted") == 1
    assert promise.elastic_guarantee(1) < 8
    assert world.state(other) is ExecutionState.RUNNING
    world.restart()
    world.run(10.0, check_invariants)
    assert world.get(one).promise == promise
    world.run(1000.0, check_invariants)
    assert (world.state(one), world.get(one).missed) == (ExecutionState.SUCCEEDED, None)


def test_a_guaranteed_service_that_fails_is_replaced_before_others_get_room() -> None:
    failed: set[str] = set()

    def behave(start: ServiceStart) -> ServiceBehaviour:
        if start.component.name == "worker" and start.index == 1 and not failed:
            failed.add(start.service_id)
            return ServiceBehaviour(run_s=20.0, exit_code=1)
        return ServiceBehaviour(run_s={"job": 300.0, "worker": 300.0}.get(start.component.name, 40.0))

    world = Promising([node("n1"), node("n2")], behave=behave)
    one = world.ask(job("job", 2, 300.0, elastic=4), in_s=400.0)
    world.run(5.0)
    for _ in range(20):
        world.submit(job("other", 2, 40.0))
    world.run(60.0, check_invariants)
    assert failed
    alive = [s for s in world.get(one).current() if s.component == "worker" and s.alive and s.node]
    assert len(alive) == 4, "a failed one has a successor, though others wait"
    world.run(500.0)
    assert world.get(one).missed is None


def test_impossible_promise_gets_offers_and_an_accepted_one_is_kept() -> None:
    world = work_of({"full": 1000.0, "job": 100.0, "other": 400.0})
    for _ in range(2):
        world.submit(job("full", 8, 1000.0))
    world.run(1.0)
    one = world.ask(job("job", 8, 100.0), in_s=200.0)
    world.run(2.0)
    offers = world.get(one).offers
    assert offers is not None
    assert "no room" in offers.why
    assert offers.offers[0].kind is OfferKind.EARLIEST
    assert offers.offers[0].terms.finish_s > world.clock.now_s() + 1000.0
    for _ in range(4):
        world.submit(job("other", 8, 400.0))
    world.run(30.0, check_invariants)
    world.accept(one, 1)
    world.run(4000.0, check_invariants)
    found = world.get(one)
    assert (found.state, found.missed) == (ExecutionState.SUCCEEDED, None)
    assert found.deadline_s == offers.offers[0].terms.finish_s
    assert world.kinds(one).count("promised") == 1


def test_without_an_answer_it_ends_and_its_room_is_free() -> None:
    world = work_of({"full": 1000.0})
    for _ in range(2):
        world.submit(job("full", 8, 1000.0))
    world.run(1.0)
    one = world.ask(job("job", 8, 100.0), in_s=200.0)
    world.run(300.0)
    found = world.get(one)
    assert (found.state, found.cause) == (ExecutionState.FAILED, Cause.NO_PROMISE)
    assert "no offer was accepted in time" in found.message
    assert world.tick().snapshot.bookings == ()


def test_execution_waiting_for_an_answer_misses_no_deadline() -> None:
    """Nothing was promised, and nothing begins before its user accepts another time."""
    world = work_of({"full": 1000.0, "job": 50.0})
    for _ in range(2):
        world.submit(job("full", 8, 1000.0))
    world.run(1.0)
    one = world.ask(job("job", 8, 50.0), in_s=60.0)
    for _ in range(10):
        world.run(10.0)
        world.waker.wake()
    assert (world.get(one).missed, status_of(world.get(one), world.clock.now_s())) == (None, None)
    assert world.get(one).offers is not None
    world.accept(one, 1)
    world.run(3000.0, check_invariants)
    assert "deadline_missed" not in world.kinds(one)
    assert world.state(one) is ExecutionState.SUCCEEDED


def test_unknown_run_time_gets_no_promise() -> None:
    world = work_of({})
    one = world.ask(application(component("job", 1, 1)), in_s=1000.0)
    world.run(2.0)
    found = world.get(one)
    assert (found.state, found.cause) == (ExecutionState.FAILED, Cause.NO_PROMISE)
    assert "give its expected run time" in found.message


def test_a_budget_is_kept_or_what_it_takes_is_offered() -> None:
    world = work_of({"job": 3600.0})
    app = job("job", 4, 3600.0)
    cheap = world.ask(app, in_s=4000.0, wish=PromiseWish(0.9, budget="5"))
    dear = world.ask(app, in_s=4000.0, wish=PromiseWish(0.9, budget="3.9"))
    world.run(3.0)
    assert (world.terms(cheap).price, world.terms(cheap).currency) == ("4.0000", "core-hours")
    offers = world.get(dear).offers
    assert offers is not None
    assert [offer.kind for offer in offers.offers] == [OfferKind.DEARER, OfferKind.EARLIEST]
    assert offers.why == "It costs at least 4.0000 core-hours, which is more than its budget of 3.9 core-hours"


def test_with_too_small_a_budget_and_too_little_time_it_is_said_what_it_would_take() -> None:
    world = work_of({"job": 3600.0})
    one = world.ask(job("job", 4, 3600.0), in_s=60.0, wish=PromiseWish(0.9, budget="1"))
    world.run(3.0)
    offers = world.get(one).offers
    assert offers is not None
    assert "at least 4.0000 core-hours" in offers.why
    [offer] = offers.offers
    assert (offer.kind, offer.terms.price) == (OfferKind.EARLIEST, "4.0000")
    world.accept(one, 1)
    world.run(4500.0, check_invariants)
    assert (world.state(one), world.get(one).missed) == (ExecutionState.SUCCEEDED, None)


def test_offer_names_the_seconds_to_begin() -> None:
    world = work_of({"job": 100.0})
    one = world.ask(job("job", 4, 100.0), in_s=104.0)
    world.run(3.0)
    offers = world.get(one).offers
    assert offers is not None
    assert "takes 100 s" in offers.why
    assert "up to 7 s to begin" in offers.why


def test_a_promise_never_breaks_an_older_one() -> None:
    """Requests come at random, more than there is room for; every promise that was made is kept."""
    for seed in range(15):
        chance = random.Random(seed)
        world = work_of({f"j{n}": float(n) for n in range(1, 400)})
        asked: list[str] = []
        for _ in range(25):
            run_s = chance.randint(10, 300)
            app = job(f"j{run_s}", chance.choice([1, 2, 4, 8]), float(run_s))
            if chance.random() < 0.4:
                world.submit(app)
            else:
                asked.append(world.ask(app, in_s=run_s * chance.uniform(1.2, 5.0) + 10))
            world.run(chance.uniform(1.0, 60.0), check_invariants)
        world.run(5000.0, check_invariants)
        kept = [world.get(text) for text in asked]
        promised = [execution for execution in kept if execution.promise is not None]
        assert promised
        assert [execution.id for execution in promised if execution.missed is not None] == [], f"seed {seed}"
        assert all(execution.promise or execution.cause is Cause.NO_PROMISE for execution in kept)


def test_a_new_leader_keeps_what_the_former_one_promised() -> None:
    world = work_of({"full": 100.0, "long": 1000.0, "job": 100.0})
    for _ in range(2):
        world.submit(job("full", 8, 100.0))
    world.run(1.0)
    promised = world.ask(job("job", 8, 100.0), in_s=600.0)
    world.run(2.0)
    world.restart()
    world.run(1.0)
    long = [world.submit(job("long", 8, 1000.0)) for _ in range(4)]
    world.run(900.0, check_invariants)
    assert world.get(promised).missed is None
    assert world.state(promised) is ExecutionState.SUCCEEDED
    assert any(world.get(text).marks.get(Mark.PLACED) for text in long)


def test_a_new_leader_keeps_the_room_of_offers() -> None:
    world = work_of({"full": 100.0, "job": 50.0, "long": 4000.0})
    for _ in range(2):
        world.submit(job("full", 8, 100.0))
    world.run(1.0)
    one = world.ask(job("job", 8, 50.0), in_s=60.0)
    world.run(2.0)
    assert world.get(one).offers is not None
    for _ in range(4):
        world.submit(job("long", 8, 4000.0))
    world.run(1.0)
    world.restart()
    world.run(100.0)
    world.accept(one, 1)
    world.run(500.0)
    found = world.get(one)
    assert (found.state, found.missed) == (ExecutionState.SUCCEEDED, None)


def test_a_promise_that_will_be_broken_is_announced_once_before() -> None:
    world = work_of({"job": 400.0})
    one = world.ask(job("job", 4, 100.0), in_s=150.0)
    for _ in range(100):
        world.run(5.0)  # as the timer of a master wakes it
    found = world.get(one)
    assert found.missed is not None
    assert found.promise is not None
    assert found.promise.notice is not None
    assert world.kinds(one).count("promise_at_risk") == 1
    assert found.promise.notice.at_s < found.missed.deadline_s


def test_held_execution_keeps_its_promised_room() -> None:
    world = work_of({"full": 100.0, "job": 50.0, "other": 400.0})
    for _ in range(2):
        world.submit(job("full", 8, 100.0))
    world.run(1.0)
    one = world.ask(job("job", 8, 50.0), in_s=300.0)
    world.run(1.0)
    hold = ev.Held(at_s=world.clock.now_s(), by=Holder.USER)
    world.store.append(one, [hold], world.get(one).version, None)
    for _ in range(3):
        world.submit(job("other", 8, 400.0))
    world.run(110.0, check_invariants)
    world.store.append(one, [ev.Released(at_s=world.clock.now_s())], world.get(one).version, None)
    world.run(1000.0, check_invariants)
    assert world.get(one).missed is None


def test_offers_are_for_what_it_was() -> None:
    world = work_of({"full": 1000.0})
    for _ in range(2):
        world.submit(job("full", 8, 1000.0))
    world.run(1.0)
    one = world.ask(job("job", 1, 100.0, elastic=4), in_s=110.0)
    world.run(2.0)
    execution = world.get(one)
    assert execution.offers is not None
    world.store.append(
        one,
        [ev.Scaled(at_s=world.clock.now_s(), before={"worker": 4}, total_counts={"worker": 8})],
        execution.version,
        None,
    )
    assert world.get(one).offers is None
    world.run(2.0)
    assert world.get(one).offers is not None, "it is decided again"


def test_nodes_that_are_taken_away_put_a_promise_at_risk_at_once() -> None:
    world = work_of({"full": 100.0, "job": 100.0})
    for _ in range(2):
        world.submit(job("full", 8, 100.0))
    world.run(1.0)
    one = world.ask(job("job", 8, 100.0), in_s=600.0)
    world.run(1.0)
    policy = world.store.policy()
    holds = {name: NodeHold(None, world.clock.now_s(), None) for name in ("n1", "n2")}
    world.store.set_policy(replace(policy, node_holds=holds), policy.version, world.clock.now_s(), "test")
    world.run(5.0)
    promise = world.get(one).promise
    assert promise is not None
    assert promise.notice is not None
    assert promise.notice.risk is PromiseRisk.NO_ROOM


def test_it_ends_when_its_time_passes_before_it_could_be_decided() -> None:
    world = work_of({})
    long = world.submit(job("long", 1, 500.0))
    after = Conditions(after=(Dependency(DependencyKind.OK, long),))
    app = changed(job("job", 1, 10.0), promise=WISH)
    one = world.submit(app, deadline_s=world.clock.now_s() + 5.0, conditions=after)
    world.run(7.0)
    assert world.get(one).cause is Cause.NO_PROMISE


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_promises_hold_no_more_of_the_cluster_than_the_policy_allows(share: float) -> None:
    world = work_of({"job": 100.0})
    policy = world.store.policy()
    world.store.set_policy(changed_policy(policy, share), policy.version, world.clock.now_s(), "test")
    ids = [world.ask(job("job", 4, 100.0), in_s=110.0) for _ in range(4)]
    world.run(3.0)
    promised = [id_ for id_ in ids if world.get(id_).promise is not None]
    assert len(promised) == int(share * 4)


def changed_policy(policy: Policy, share: float) -> Policy:
    return replace(policy, promise_share=share)
