"""The first offer is the least time that the same request would be promised, found apart from it by bisection."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from tests.support.checks import of_checks
from tests.support.limits import tenant_limit
from tests.support.scheduling import component, node, queued, started
from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import Array, execution_of
from zoe_lib.domain.executions.execution import Cause, Execution, Mark, Outcome
from zoe_lib.domain.executions.guaranteed import as_guaranteed
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseOffers, PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.promising.choosing import PromiseAnswer
from zoe_master.scheduler.promising.movable import ANSWER_S
from zoe_master.state.promise_prices import StoredPrices
from zoe_master.state.run_times import LearnedRunTimes

NOW_S, TOLERANCE_S = 10_000.0, 2.0
_LATEST_S = 200_000.0
_CASES = 100


@dataclass(frozen=True)
class State:
    """A random cluster, and a request."""

    tick: Tick
    wanted: Application

    def asks(self, finish_s: float) -> PromiseAnswer:
        wanted = self.tick.fresh(self.wanted, "default", "ada", finish_s)
        return PromiseDecisions(LearnedRunTimes(), StoredPrices(list)).decide_new(self.tick, wanted)

    def least_promised_s(self) -> float | None:
        """Return the least time that is promised; None if none is."""
        low_s, high_s = NOW_S, NOW_S + _LATEST_S
        if self.asks(high_s).terms is None:
            return None
        while high_s - low_s > TOLERANCE_S / 4:
            middle_s = (low_s + high_s) / 2
            low_s, high_s = (middle_s, high_s) if self.asks(middle_s).terms is None else (low_s, middle_s)
        return high_s


def random_state(seed: int) -> State:
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(chance.randint(1, 4))]
    holds = {name: holds_of(chance) for name in names if chance.random() < 0.2}
    nodes = tuple(node(name, cores=chance.choice([4, 8]), holds=holds.get(name, ())) for name in names)
    active = tuple(running(number, chance, names) for number in range(chance.randint(0, 9)))
    bookings = tuple(booking(number, chance, names) for number in range(chance.randint(0, 6)))
    limits = {"default": tenant_limit(cores_milli=chance.choice([6000, 12_000]))} if chance.random() < 0.3 else {}
    policy = Policy(
        promise_share=chance.choice([0.5, 0.8, 1.0]),
        preemption=chance.choice(["elastic", "none"]),
        promise_offer_s=chance.choice([10.0, 120.0]),
        tenant_limits=limits,
    )
    snapshot = Snapshot(NOW_S, nodes, active=active, bookings=bookings, storage=BandwidthSupply(Rates(0, 0)))
    return State(Tick(snapshot, Plan(), "plan", 0.0, False, policy=policy), request(chance))


def request(chance: random.Random) -> Application:
    parts = [component("main", cores=chance.randint(1, 4), essential_count=chance.choice([1, 1, 2]))]
    if chance.random() < 0.5:
        parts.append(component("more", essential_count=0, total_count=chance.choice([2, 5]), startup_order=1))
    wish = PromiseWish(chance.choice([0.5, 0.9]), chance.choice([None, None, "2.5"]))
    run_s = chance.choice([7.0, 60.0, 600.0])
    return Application("wanted", tuple(parts), expected_run_s=run_s, promise=wish)


def running(number: int, chance: random.Random, names: list[str]) -> Execution:
    parts = [component("main", cores=chance.randint(1, 2)), component("e", essential_count=0, total_count=1)]
    run_s = chance.choice([20.0, 100.0, 300.0, 1000.0, None])
    one = queued(f"r{number}", *parts, expected_run_s=run_s, time_limit_s=chance.choice([None, 900.0]))
    if chance.random() < 0.3:
        terms = FinishTerms(NOW_S + 500.0, 0.9, chance.randint(0, 1), chance.choice([50.0, 400.0]), NOW_S)
        one = as_guaranteed(changed(one, promise=Promise(terms, 1.0)))
    placed = started(one, *[chance.choice(names) for _ in range(max(len(one.core_services()), chance.choice([1, 2])))])
    placed = changed(placed, marks={**placed.marks, Mark.PLACED: NOW_S - chance.choice([1.0, 40.0, 90.0, 250.0])})
    if chance.random() < 0.1:
        return apply(placed, ev.Stopping(at_s=NOW_S, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED))
    return placed


def booking(number: int, chance: random.Random, names: list[str]) -> Booking:
    begins_s = NOW_S + chance.choice([0.0, 15.0, 60.5, 130.0, 700.0])
    places = ((chance.choice(names), Resources(chance.choice([1000, 3000]), 2**30)),)
    name = f"b{number}" + chance.choice(["", "#1"])
    return Booking(name, begins_s, begins_s + chance.choice([20.0, 77.7, 400.0]), places, tenant="default", user="eve")


def holds_of(chance: random.Random) -> tuple[NodeHold, ...]:
    since_s = NOW_S + chance.choice([-10.0, 30.0, 200.0])
    return (NodeHold(chance.choice([None, "other"]), since_s, since_s + chance.choice([50.0, 500.0])),)


def first_offer(state: State, asked_s: float) -> PromiseOffers | None:
    offers = state.asks(asked_s).offers
    return offers if offers is not None and offers.offers else None


def test_the_first_offer_is_the_least_time_that_would_be_promised() -> None:
    agree, differ = 0, []
    for seed in range(max(of_checks(0.2, 1000), _CASES)):
        state = random_state(seed)
        least_s, offers = state.least_promised_s(), first_offer(state, NOW_S + 1.0)
        offered_s = None if offers is None else offers.offers[0].terms.finish_s
        if offers is not None and least_s is None:  # it costs more than its budget, or takes the whole time
            same = offers.offers[0].kind is not OfferKind.EARLIEST or "budget" in offers.why
        else:
            same = (least_s is None) == (offered_s is None)
            same = same and (least_s is None or abs((offered_s or 0.0) - least_s) <= TOLERANCE_S)
        agree += same
        if not same:
            differ.append((seed, least_s, offered_s))
    assert not differ, f"{agree} agree; these do not: {differ}"


@pytest.mark.parametrize("seed", range(10))
def test_an_offer_stands_as_long_as_it_says(seed: int) -> None:
    """Accepted in the last moment, its room is still there: the same request is promised for the terms of then."""
    state = random_state(seed)
    offers = first_offer(state, NOW_S + 1.0)
    if offers is None:
        return
    for number, offer in enumerate(offers.offers, start=1):
        at_s = offers.ends_of(number)
        assert NOW_S <= at_s <= NOW_S + state.tick.policy.promise_offer_s
        terms = offer.terms_at(at_s)
        assert terms.begin_by_s >= min(at_s, offer.terms.begin_by_s)
        assert terms.finish_s - offer.terms.finish_s == terms.begin_by_s - offer.terms.begin_by_s
        if offer.kind is OfferKind.EARLIEST and "budget" not in offers.why:
            assert state.asks(terms.finish_s).terms is not None


def test_offers_to_an_array_leave_its_user_time_to_answer() -> None:
    indices, at_once = parse_array("0-2%2", 10)
    offered = 0
    for seed in range(40):
        state = random_state(seed)
        asks = Array("a0123456789abcd", "x", "default", "ada", state.wanted, NOW_S, indices, at_once)
        late = changed(asks, deadline_s=NOW_S + 1.0)
        members = [apply(execution_of(late, place, NOW_S), ev.Submitted(at_s=NOW_S)) for place in range(3)]
        decisions = PromiseDecisions(LearnedRunTimes(), StoredPrices(list))
        offers = decisions.decide_new_group(state.tick, members)[0].offers
        for number in range(1, 1 + len(offers.offers if offers is not None else ())):
            assert offers is not None
            assert offers.ends_of(number) >= NOW_S + ANSWER_S, (seed, number)
            offered += 1
    assert offered > 20
