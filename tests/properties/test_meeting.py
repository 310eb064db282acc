"""Numbers in which several features meet are what a count over moments says, feature by feature.

What meets in which number:

- what limits leave now (`TenantReservations`): cores and memory; of the tenant and of the user; of the default, the
  tenant and the user by name; essential and elastic services; what a plan takes beside
- what limits leave later (`FutureLimits`, `BookedLimits`): the same with bookings and offers; with run times, time
  limits and promises of what runs; with late and stopping executions, and with preemption
- whether bandwidth is free now (`Guarantees`): required bandwidth to read and to write; the tenant's limit; bookings,
  offers and late bookings; what a plan takes; promised ones with a booking of their own
- who is granted bandwidth (`promises`): required and preferred bandwidth; present grants; the age of placements
- whether a promise can be kept for later (`FutureNodes`, `FutureShares`): guaranteed services, promised running ones,
  bookings and offers within the promised share of cores; bandwidth of all within the supply, of promises within their
  share of it, of a tenant within its limit; limits of cores and memory of tenant and user
- what an execution under a promise holds: essential, guaranteed and elastic services; adjustments of an attempt

Room on nodes is never short here: test_scheduler.py and tests/unit/zoe_master/scheduler/booking are about that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.checks import of_checks
from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy, with_limits
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.executions.guaranteed import as_guaranteed
from zoe_lib.domain.executions.limits import Limits
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates, promises
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseAdjustment
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.bandwidth import Guarantees
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.limits_later import BookedLimits, FutureLimits
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.promising.future import FutureNodes
from zoe_master.scheduler.promising.shares_later import FutureShares

CASES = settings(max_examples=of_checks(0.6, 20_000), phases=(Phase.explicit, Phase.reuse, Phase.generate))
SEED = st.integers(0, 2**32)
NOW_S = 1000.0
PLACED_AT_S = 1.0  # as `started` places them
NODES = (node("n0", cores=200, memory_gib=4000),)  # room is never short
GIB = 2**30
TENANTS, USERS = ("red", "blue"), ("ada", "eve")


@dataclass(frozen=True)
class World:
    snapshot: Snapshot
    policy: Policy
    wanted: Execution

    @classmethod
    def random(cls, chance: Random, reading: bool = False) -> World:
        """reading: all of them require bandwidth, so that it is short."""
        policy = with_limits(
            Policy(
                preemption=chance.choice(["elastic", "none"]), promise_share=chance.choice([0.02, 0.05, 0.1, 0.9, 1.0])
            ),
            Limits(
                {key: amounts(chance, rates=True) for key in ("*", *TENANTS) if chance.random() < 0.5},
                {key: amounts(chance) for key in ("*", "red", "red/ada", "blue/eve") if chance.random() < 0.4},
            ),
        )
        active = tuple(running(f"r{number}", chance, reading) for number in range(chance.randint(0, 4)))
        bookings = tuple(booking for number in range(chance.randint(0, 3)) for booking in booked(f"b{number}", chance))
        storage = BandwidthSupply(Rates(chance.choice([60, 90, 150]), chance.choice([40, 60, 120])))
        wanted = waiting("w", chance, reading)
        if wanted.promise is not None and chance.random() < 0.6:
            bookings = (*bookings, replace(booked("w", chance)[0], execution_id="w"))
        return cls(Snapshot(NOW_S, NODES, active=active, storage=storage, bookings=bookings), policy, wanted)

    def most(self, name: str, tenant: str, user: str | None = None) -> float:
        """Return a limit: the amount of the narrowest subject that has one."""
        limits = self.policy.limits
        where, keys = (limits.tenants, [tenant]) if user is None else (limits.users, [f"{tenant}/{user}", tenant])
        said = [where[key][name] for key in [*keys, "*"] if name in where.get(key, {})]
        return math.inf if not said or said[0] is None else float(said[0])

    def others(self) -> list[Booking]:
        return [
            booking for booking in self.snapshot.bookings if booking.execution_id.partition("#")[0] != self.wanted.id
        ]


def amounts(chance: Random, rates: bool = False) -> dict[str, int | None]:
    some = {"cores_milli": [4000, 7000, 12_000, None], "memory_bytes": [5 * GIB, 9 * GIB, None]}
    some |= {"read_bytes_per_s": [30, 60, None], "write_bytes_per_s": [30, 60]} if rates else {}
    return {name: chance.choice(values) for name, values in some.items() if chance.random() < 0.6}  # type: ignore[attr-defined]


def waiting(name: str, chance: Random, reading: bool = False) -> Execution:
    essential, cores = chance.randint(1, 2), chance.choice([0, 1, 2, 3])
    parts = [component("c", cores, chance.choice([0, 1, 2]), essential_count=essential)]
    if chance.random() < 0.6:
        most = chance.randint(1, 3)
        parts.append(component("e", chance.choice([1, 2]), 1, essential_count=0, total_count=most, startup_order=1))
    wish = Bandwidth(chance.choice([None, 10, 20, 45]), chance.choice([None, 15, 40]), chance.choice(list(Guarantee)))
    if reading:
        wish = replace(wish, guarantee=Guarantee.REQUIRED)
    one = queued(
        name, *parts, expected_run_s=chance.choice([None, 30.0, 800.0, 1500.0]),
        time_limit_s=chance.choice([None, None, 1000.0, 4000.0]),
        storage=StorageDemand(bandwidth=wish) if reading or chance.random() < 0.7 else None,
    )  # fmt: skip
    one = replace(one, tenant=chance.choice(TENANTS), user=chance.choice(USERS))
    if chance.random() < (0.6 if reading and name == "w" else 0.4):
        run_s, rate = chance.choice([50.0, 1200.0]), chance.choice([None, 20, 45])
        terms = FinishTerms(5000.0, 0.9, chance.randint(0, 3), run_s, 900.0, read_bytes_per_s=rate)
        one = as_guaranteed(replace(one, promise=Promise(terms, 1.0)))
    return one


def running(name: str, chance: Random, reading: bool = False) -> Execution:
    one = waiting(name, chance, reading)
    placed = started(one, *["n0"] * chance.randint(len(one.core_services()), len(one.current())))
    return (
        apply(placed, ev.Stopping(at_s=5.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED))
        if chance.random() < 0.15
        else placed
    )


def booked(name: str, chance: Random) -> list[Booking]:
    """One booking, or two offers that may differ in time."""
    found = []
    for number in range(1, chance.choice([2, 2, 3])):
        begins_s = NOW_S + chance.choice([-50, 0, 10, 40, 100, 300])
        amount = Resources(chance.choice([1000, 2000, 4000]), chance.choice([GIB, 3 * GIB]))
        rate = chance.choice([0, 15, 40])
        found.append(
            Booking(
                f"{name}#{number}", begins_s, begins_s + chance.choice([20, 60, 200]), (("n0", amount),) * 2, rate,
                tenant=chance.choice(TENANTS), user=chance.choice(USERS),
            )
        )  # fmt: skip
    if len(found) == 1:
        return [replace(found[0], execution_id=name)]
    return [found[0], replace(found[1], tenant=found[0].tenant, user=found[0].user)]


# -- counts over moments ---------------------------------------------------------------------------------------------
Span = tuple[float, float, float]


def most_at_once(spans: Iterable[Span], begins_s: float, ends_s: float) -> float:
    """Return the maximum held at the moments when something begins."""
    held = list(spans)
    moments = {begins_s, *(begin for begin, _, _ in held if begins_s < begin)}
    return max((sum(o[2] for o in held if o[0] <= at_s < o[1]) for at_s in moments if at_s < ends_s), default=0)


def stays_until(one: Execution, caution: float = 1.5) -> float:
    """Return the time to rely on: half as long again, unless it is promised; a late one stays for as long again."""
    if one.state is ExecutionState.STOPPING:
        return NOW_S
    expected_s = one.application.expected_run_s or math.inf
    limit_s = one.application.time_limit_s or math.inf
    ends_s = PLACED_AT_S + (caution if one.promise is None else 1.0) * min(expected_s, limit_s)
    if ends_s < NOW_S:
        ends_s = NOW_S + (NOW_S - ends_s)
    return max(min(ends_s, PLACED_AT_S + limit_s), NOW_S)


def services(one: Execution, core_only: bool) -> dict[str, int]:
    """Cores and memory of its services that are placed, counted one by one."""
    found = {"cores_milli": 0, "memory_bytes": 0}
    for service in one.services:
        if service.node is not None and service.alive and (service.core or not core_only):
            reservation = one.component_of(service).reservation
            found["cores_milli"] += reservation.cores_milli
            found["memory_bytes"] += reservation.memory_bytes
    return found


def core_of(one: Execution) -> dict[str, int]:
    parts = one.application.components
    return {
        name: sum(part.essential_count * getattr(part.reservation, name) for part in parts)
        for name in ("cores_milli", "memory_bytes")
    }


def rates_of(one: Execution, kind: Guarantee = Guarantee.REQUIRED) -> tuple[int, int]:
    wish = one.application.storage.bandwidth if one.application.storage is not None else None
    if wish is None or wish.guarantee is not kind:
        return 0, 0
    return wish.read_bytes_per_s or 0, wish.write_bytes_per_s or 0


def subjects(one: Execution) -> list[tuple[str, str | None]]:
    return [(one.tenant, None), (one.tenant, one.user)]


def belongs(one: Execution | Booking, subject: tuple[str, str | None]) -> bool:
    return one.tenant == subject[0] and subject[1] in (None, one.user)


def reads(bookings: Iterable[Booking]) -> list[Span]:
    """One that is late holds its bandwidth from now on, for as long."""
    spans = []
    for booking in bookings:
        late_s = max(NOW_S - booking.begins_s, 0.0)
        spans.append((booking.begins_s + late_s, booking.ends_s + late_s, float(booking.read_bytes_per_s)))
    return spans


# --------------------------------------------------------------------------------------------------------------------
@CASES
@given(seed=SEED)
def test_present_room_under_limits_equals_the_count(seed: int) -> None:
    chance = Random(seed)
    world = World.random(chance)
    found = TenantReservations(world.snapshot.active, world.policy)
    more = Resources(chance.choice([0, 1000]), chance.choice([0, GIB]))
    beside = waiting("other", chance)
    found.take(beside, more)
    wanted, core = world.wanted, core_of(world.wanted)
    piece = Resources(chance.choice([0, 1, 500, 1500]), chance.choice([0, GIB // 2, GIB]))
    fits, excess = [], {}
    for subject in subjects(wanted):
        over = {}
        for name in ("cores_milli", "memory_bytes"):
            held = sum(
                services(execution, False)[name] for execution in world.snapshot.active if belongs(execution, subject)
            )
            held += getattr(more, name) if belongs(beside, subject) else 0
            most = world.most(name, *subject)
            over[name] = max(held + core[name] - most, 0) if core[name] else 0
            if getattr(piece, name) and most < math.inf:
                fits.append(max(int(most) - held, 0) // getattr(piece, name))
        if any(over.values()):
            excess[subject] = over
    limited = world.policy.limits.can_delay_executions()
    assert found.room_for(wanted, piece) == (min(fits) if fits and limited else None)
    assert {
        tuple(subject): {name: getattr(amount, name) for name in ("cores_milli", "memory_bytes")}
        for subject, amount in found.excess(wanted).items()
    } == excess


def held_later(world: World, subject: tuple[str, str | None], name: str, bookings: Iterable[Booking]) -> list[Span]:
    taken_back = world.policy.preemption == "elastic"
    spans = [
        (NOW_S, stays_until(execution), float(services(execution, core_only=taken_back)[name]))
        for execution in world.snapshot.active
        if belongs(execution, subject)
    ]
    for booking in bookings:
        if belongs(booking, subject):
            spans.append(
                (booking.begins_s, booking.ends_s, float(sum(getattr(amount, name) for _, amount in booking.places)))
            )
    return spans


def limits_allow(world: World, bookings: Sequence[Booking], begins_s: float, ends_s: float) -> bool:
    """At every moment, for tenant and user, of cores and memory."""
    return all(
        most_at_once(held_later(world, subject, name, bookings), begins_s, ends_s) + core_of(world.wanted)[name]
        <= world.most(name, *subject)
        for subject in subjects(world.wanted)
        for name in ("cores_milli", "memory_bytes")
    )


@CASES
@given(seed=SEED)
def test_later_room_under_limits_equals_the_count(seed: int) -> None:
    chance = Random(seed)
    world = World.random(chance)
    begins_s = NOW_S + chance.choice([0, 20, 150])
    ends_s = begins_s + chance.choice([1, 70, 600])
    later = FutureLimits(world.snapshot, world.policy)
    assert later.allow(world.wanted, world.others(), begins_s, ends_s) == limits_allow(
        world, world.others(), begins_s, ends_s
    )


@CASES
@given(seed=SEED)
def test_room_kept_for_bookings_equals_the_count(seed: int) -> None:
    """Who starts now gets nothing of it that it would not give back in time; promised ones have their part."""
    chance = Random(seed)
    world = World.random(chance)
    found = BookedLimits(world.snapshot, world.policy, world.snapshot.estimates())
    beside = [waiting(f"o{number}", chance) for number in range(chance.choice([0, 1, 2]))]
    for execution in beside:
        found.take(execution)
    refused = False
    wanted = world.wanted
    for subject in subjects(wanted):
        if not any(belongs(booking, subject) for booking in world.snapshot.bookings):
            continue
        for name in ("cores_milli", "memory_bytes"):
            more = sum(
                core_of(execution)[name]
                for execution in [wanted, *beside]
                if execution is wanted or belongs(execution, subject)
            )
            held = most_at_once(held_later(world, subject, name, world.snapshot.bookings), NOW_S, leaves_at(wanted))
            refused |= held + more > world.most(name, *subject)
    assert (found.refusal(wanted) is not None) == (refused and wanted.promise is None)


def leaves_at(one: Execution) -> float:
    """What starts now is taken to stay half as long again as is expected, rounded up to a power of 1.25."""
    expected_s = min(one.application.expected_run_s or math.inf, one.application.time_limit_s or math.inf)
    if expected_s == math.inf:
        return math.inf
    rounded_s = 1.25**-10
    while rounded_s < 1.5 * expected_s * (1 - 1e-9):
        rounded_s *= 1.25
    return NOW_S + rounded_s


@CASES
@given(seed=SEED)
def test_granted_bandwidth_equals_the_count(seed: int) -> None:
    """All required bandwidth; then preferred bandwidth that still fits, present grants and then early ones first."""
    chance = Random(seed)
    active = []
    for number in range(chance.randint(1, 6)):
        one = running(f"r{number}", chance)
        active.append(
            apply(one, ev.StorageGranted(at_s=2.0))
            if chance.random() < 0.4 and one.state is not ExecutionState.STOPPING
            else one
        )
    supply = Rates(chance.choice([30, 90, 200]), chance.choice([40, 100]))
    granted: dict[str, tuple[int, int]] = {}
    known = chance.random() < 0.8
    room = [supply.read, supply.write]
    for one in active:
        if has_wish(one, Guarantee.REQUIRED):
            granted[one.id] = rates_of(one)
            room = [left - more for left, more in zip(room, rates_of(one), strict=True)]
    holds = {execution.id: any(mark.value == "storage_granted" for mark in execution.marks) for execution in active}
    for one in sorted(active, key=lambda execution: (not holds[execution.id], execution.id)):
        rates = rates_of(one, Guarantee.PREFERRED)
        if not has_wish(one, Guarantee.PREFERRED):
            continue
        if all(more <= max(left, 0) for left, more in zip(room, rates, strict=True)) if known else holds[one.id]:
            granted[one.id] = rates
            room = [left - more for left, more in zip(room, rates, strict=True)]
    found = promises(active, supply if known else None)
    assert {guarantee.execution_id: (guarantee.rates.read, guarantee.rates.write) for guarantee in found} == granted
    assert {guarantee.execution_id for guarantee in found if guarantee.required} == {
        execution.id for execution in active if has_wish(execution, Guarantee.REQUIRED)
    }


def has_wish(one: Execution, kind: Guarantee) -> bool:
    wish = one.application.storage.bandwidth if one.application.storage is not None else None
    return wish is not None and wish.guarantee is kind


@settings(CASES, max_examples=of_checks(2, 40_000))
@given(seed=SEED)
def test_whether_bandwidth_is_free_now(seed: int) -> None:
    chance = Random(seed)
    world = World.random(chance, reading=chance.random() < 0.9)
    wanted, supply, bookings = world.wanted, world.snapshot.storage, world.snapshot.bookings
    assert supply is not None
    estimates = world.snapshot.estimates()
    found = Guarantees(world.snapshot.active, supply, world.policy, estimates, NOW_S, bookings)
    taken = [replace(waiting("t", chance), promise=None)] if chance.random() < 0.5 else []
    for execution in taken:
        found.take(execution)
    expected = not has_wish(wanted, Guarantee.REQUIRED) or bandwidth_fits(world, taken)
    assert (found.refusal(wanted) is None) == expected


def bandwidth_fits(world: World, taken: Sequence[Execution]) -> bool:
    wanted, supply, bookings = world.wanted, world.snapshot.storage, world.snapshot.bookings
    assert supply is not None
    total = supply.rates.read, supply.rates.write
    there = [*world.snapshot.active, *taken]
    used = [sum(rates_of(execution)[way] for execution in there) for way in (0, 1)]
    mine = [sum(rates_of(execution)[way] for execution in there if execution.tenant == wanted.tenant) for way in (0, 1)]
    for way, name in enumerate(("read_bytes_per_s", "write_bytes_per_s")):
        asked = rates_of(wanted)[way]
        if asked and (asked > total[way] or mine[way] + asked > world.most(name, wanted.tenant)):
            return False
        if way and asked and used[way] + asked > total[way]:
            return False
    asked = rates_of(wanted)[0]
    kept: dict[str, int] = defaultdict(int)
    for booking in bookings:
        name = booking.execution_id.partition("#")[0]
        kept[name] = max(kept[name], booking.read_bytes_per_s)
    kept.pop(wanted.id, None)
    if not asked or used[0] + sum(kept.values()) + asked <= total[0]:
        return True
    return beside_bookings(world, taken, asked, total[0])


def beside_bookings(world: World, taken: Sequence[Execution], asked: int, total: int) -> bool:
    """Its use until its end leaves all that is booked for later; earlier ones go first."""
    wanted, bookings = world.wanted, [booking for booking in world.snapshot.bookings if booking.read_bytes_per_s]
    running = [
        (NOW_S, max(stays_until(execution), NOW_S + 0.001), float(rates_of(execution)[0]))
        for execution in world.snapshot.active
    ]
    ends_s = leaves_at(wanted)
    own = [booking for booking in bookings if booking.execution_id == wanted.id]
    if own and wanted.promise is not None:
        ends_s = max(NOW_S + wanted.promise.terms.run_s, own[0].ends_s)
        due = (own[0].begins_s, own[0].execution_id)
        bookings = [
            booking
            for booking in bookings
            if booking is not own[0] and (booking.begins_s > NOW_S or (booking.begins_s, booking.execution_id) < due)
        ]
    if not bookings and not own:
        return False
    held = most_at_once([*running, *reads(bookings)], NOW_S, ends_s)
    return held + sum(rates_of(execution)[0] for execution in taken) + asked <= total


def rate_fits(
    world: World, tenant: str, rate: int, bookings: Sequence[Booking], begins_s: float, ends_s: float,
    active: Sequence[Execution] | None = None,
) -> bool:  # fmt: skip
    """Of all within the supply, of promises within their share of it, of the tenant within its limit."""
    supply = world.snapshot.storage
    assert supply is not None
    there = world.snapshot.active if active is None else active
    ends = [(execution, (NOW_S, stays_until(execution), float(rates_of(execution)[0]))) for execution in there]
    later = list(zip(bookings, reads(bookings), strict=True))
    groups = (
        ([span for _, span in ends] + [span for _, span in later], supply.rates.read),
        (
            [span for execution, span in ends if execution.promise is not None] + [span for _, span in later],
            int(world.policy.promise_share * supply.rates.read),
        ),
        (
            [span for booking, span in ends if booking.tenant == tenant]
            + [s for booking, s in later if booking.tenant == tenant],
            world.most("read_bytes_per_s", tenant),
        ),
    )
    return not rate or all(most_at_once(spans, begins_s, ends_s) + rate <= most for spans, most in groups)


def share_allows(world: World, bookings: Sequence[Booking], begins_s: float, ends_s: float) -> bool:
    """Cores of promised ones; of several offers to one execution, only one can be accepted."""
    spans = [
        (NOW_S, stays_until(execution), float(core_of(execution)["cores_milli"]))
        for execution in world.snapshot.active
        if execution.promise
    ]
    moments = {begins_s, *(booking.begins_s for booking in bookings if begins_s < booking.begins_s < ends_s)}
    share = int(world.policy.promise_share * sum(node.usable.cores_milli for node in NODES))
    for at_s in moments:
        held = sum(amount for _, until_s, amount in spans if at_s < until_s)
        of_each: dict[str, int] = defaultdict(int)
        for booking in bookings:
            if booking.begins_s <= at_s < booking.ends_s:
                name = booking.execution_id.partition("#")[0]
                of_each[name] = max(of_each[name], sum(amount.cores_milli for _, amount in booking.places))
        if held + sum(of_each.values()) + core_of(world.wanted)["cores_milli"] > share:
            return False
    return True


@settings(CASES, max_examples=of_checks(1.2, 40_000))
@given(seed=SEED)
def test_later_promise_equals_the_count(seed: int) -> None:
    chance = Random(seed)
    world = World.random(chance, reading=chance.random() < 0.6)
    begins_s = NOW_S + chance.choice([0, 20, 150])
    run_s = chance.choice([30.0, 100.0, 700.0])
    found = FutureNodes(world.snapshot, world.policy).latest(world.wanted, begins_s, run_s, from_s=begins_s)
    others, ends_s = world.others(), begins_s + run_s
    rate = world.wanted.promise.terms.read_bytes_per_s if world.wanted.promise is not None else None
    allowed = share_allows(world, others, begins_s, ends_s)
    allowed &= rate_fits(world, world.wanted.tenant, rate or 0, others, begins_s, ends_s)
    allowed &= limits_allow(world, others, begins_s, ends_s)
    assert (found is not None) == allowed
    if found is not None:
        assert (found.begins_s, found.ends_s, found.cores_milli) == (
            begins_s, ends_s, core_of(world.wanted)["cores_milli"],
        )  # fmt: skip


@settings(CASES, max_examples=of_checks(1.2, 40_000))
@given(seed=SEED)
def test_how_much_bandwidth_a_running_promise_may_have(seed: int) -> None:
    chance = Random(seed)
    world = World.random(chance, reading=chance.random() < 0.6)
    shares, bookings, supply = FutureShares(world.snapshot, world.policy), world.others(), world.snapshot.storage
    assert supply is not None
    there = [execution for execution in world.snapshot.active if stays_until(execution) > NOW_S]
    all_, promised = (
        sum(rates_of(execution)[0] for execution in there if execution.promise or every) for every in (True, False)
    )
    share = int(world.policy.promise_share * supply.rates.read)
    assert shares.free_rate() == max(min(supply.rates.read - all_, share - promised), 0)
    for execution in world.snapshot.active:
        rate, until_s = chance.choice([10, 30, 60]), chance.choice([0.0, NOW_S + 500])
        others = [other for other in world.snapshot.active if other is not execution]
        ends_s = max(stays_until(execution), until_s)
        has = rates_of(execution)[0]
        fits = rate_fits(world, execution.tenant, rate, bookings, NOW_S, ends_s, others)
        assert shares.may_hold(execution, rate, bookings, until_s) == (has > 0 and (rate <= has or fits))
    for booking in bookings:
        name = booking.execution_id.partition("#")[0]
        beside = [entry for entry in bookings if entry is not booking and entry.execution_id.partition("#")[0] != name]
        begins_s = max(booking.begins_s, NOW_S)
        if begins_s < booking.ends_s:
            expected = rate_fits(world, booking.tenant, booking.read_bytes_per_s, beside, begins_s, booking.ends_s)
            assert shares.still_fits(booking, bookings) == expected


@CASES
@given(seed=SEED)
def test_guaranteed_services_count_as_essential(seed: int) -> None:
    """First services that start first; an adjustment counts for its attempt only."""
    chance = Random(seed)
    orders = chance.sample(range(5), 3)
    sizes = [(chance.randint(0, 2), chance.randint(0, 2)) for _ in orders]
    parts = [
        component(f"c{order}", essential_count=most, total_count=most + elastic, startup_order=order)
        for order, (most, elastic) in zip(orders, sizes, strict=True)
        if most + elastic
    ]
    one = queued("w", *parts)
    adjusted, attempt = chance.choice([None, 0, 2, 5]), chance.choice([one.attempt, one.attempt + 1])
    promise = Promise(
        FinishTerms(5000.0, 0.9, chance.randint(0, 4), 77.0, 900.0, read_bytes_per_s=20), 1.0,
        adjusted=None if adjusted is None else PromiseAdjustment(adjusted, attempt, 2.0, chance.choice([None, 33])),
    )  # fmt: skip
    seen = as_guaranteed(replace(one, promise=promise))
    in_force = promise.adjusted if promise.adjusted is not None and attempt == one.attempt else None
    left = promise.terms.elastic if in_force is None else in_force.elastic
    for part in sorted(one.application.components, key=lambda part: part.startup_order):
        more = min(part.total_count - part.essential_count, left)
        left -= more
        core = [service for service in seen.services if service.component == part.name and service.core]
        assert len(core) == part.essential_count + more
        assert sorted(service.index for service in core) == list(range(part.essential_count + more))
    assert seen.application.expected_run_s == 77.0
    assert promise.rate(one.attempt) == ((in_force.read_bytes_per_s if in_force else None) or 20)
    assert len(seen.core_services()) + len(seen.elastic_services()) == len(one.current())
