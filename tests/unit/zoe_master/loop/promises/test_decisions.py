"""Choice of guarantees: the cheapest services and bandwidth with which an execution ends in time."""

from __future__ import annotations

import pytest

from tests.support.scheduling import GIB
from zoe_client.vocabulary import DependencyKind, OfferKind
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Promised
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates, required_rates
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand, StorageObject
from zoe_lib.run_times.values import RunSample, RunSetting
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.booking.spans import most_held
from zoe_master.scheduler.ordering.bandwidth import Guarantees
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.promising.choosing import PromiseAnswer
from zoe_master.state.promise_bookings import PromiseBookings
from zoe_master.state.promise_prices import StoredPrices
from zoe_master.state.run_times import LearnedRunTimes

MB = 10**6
BYTES = 6000 * MB
NODES = tuple(Node(f"n{number}", Resources(8000, 32 * GIB)) for number in range(4))


def reader(workers: int = 8) -> Application:
    """Return a program that reads and computes, with elastic workers."""
    one = Resources(1000, GIB)
    return Application(
        "reads",
        (
            Component("main", "zoe/tiny", one, ends_application=True),
            Component("worker", "zoe/tiny", one, essential_count=1, total_count=1 + workers),
        ),
        storage=StorageDemand(inputs=(StorageObject("in", "swift2d://c.zoe/in"),)),
        promise=PromiseWish(0.5),
    )


def taught(compute_s: float, read_bytes: float = BYTES) -> LearnedRunTimes:
    """Learn runs that take `compute_s` divided by the cores of workers, plus the time for their bytes at the rate of
    the store.
    """
    times, kind = LearnedRunTimes(), ("default", "ada", reader().program)
    for number in range(24):
        cores, rate = (1.0, 2.0, 4.0, 8.0, 9.0)[number % 5], (10.0, 20.0, 40.0)[number % 3] * MB
        computes_s, reads_s = compute_s / cores, read_bytes / rate
        work_s = max(computes_s, reads_s)
        sample = RunSample(RunSetting(cores, read_bytes, rate, rate), 1.0, work_s, min(computes_s / work_s, 1.0))
        times._times.learn(str(number), kind, sample)
    return times


def decided(times: LearnedRunTimes, in_s: float, supply: int = 40 * MB, **more: object) -> PromiseAnswer:
    snapshot = Snapshot(1000.0, NODES, storage=BandwidthSupply(Rates(supply, supply)), **more)  # type: ignore[arg-type]
    return asked(times, in_s, Policy(promise_offer_s=10.0, promise_share=1.0), snapshot=snapshot)


def asked(
    times: LearnedRunTimes,
    in_s: float,
    policy: Policy,
    snapshot: Snapshot | None = None,
    supply: int = 40 * MB,
    time_limit_s: float | None = None,
) -> PromiseAnswer:
    seen = snapshot or Snapshot(1000.0, NODES, storage=BandwidthSupply(Rates(supply, supply)))
    tick = Tick(seen, Plan(), "plan", 0.0, False, policy=policy)
    application = changed(reader(), time_limit_s=time_limit_s)
    wanted = tick.fresh(application, "default", "ada", seen.now_s + in_s)
    return PromiseDecisions(times, StoredPrices(list)).decide_new(tick, wanted)


def terms(answer: PromiseAnswer) -> FinishTerms:
    assert answer.terms is not None, answer.offers
    return answer.terms


def test_three_times_for_one_job_end_in_three_choices() -> None:
    """A loose time needs little; a tighter one more bandwidth, since it reads for that long; then more workers, too."""
    times = taught(900.0)
    loose, tighter, tight = (terms(decided(times, in_s)) for in_s in (2000.0, 300.0, 175.0))
    assert [terms.read_bytes_per_s for terms in (loose, tighter, tight)] == [20 * MB, 40 * MB, 40 * MB]
    assert loose.elastic < tighter.elastic < tight.elastic
    assert [float(terms.price or 0) for terms in (loose, tighter, tight)] == sorted(
        float(terms.price or 0) for terms in (loose, tighter, tight)
    )


def test_reader_is_not_promised_without_a_rate() -> None:
    """Bandwidth beyond guarantees is lent: the next promise may take it, and would break this one."""
    assert terms(decided(taught(600.0), 100_000.0)).read_bytes_per_s is not None
    others = (Booking("other", 1000.0, 200_000.0, (), 40 * MB),)
    nothing_left = decided(taught(600.0), 100_000.0, bookings=others)
    assert nothing_left.terms is None
    assert nothing_left.offers is not None
    assert nothing_left.offers.offers[0].terms.begin_by_s >= 200_000.0
    no_store = decided(taught(600.0), 100_000.0, supply=MB // 2)
    assert no_store.offers is not None
    assert "no bandwidth to guarantee" in no_store.offers.why


@pytest.mark.parametrize(("waited_s", "decides"), [(1.0, False), (29.0, False), (31.0, True)])
def test_a_store_whose_bandwidth_is_not_known_for_a_moment_refuses_nothing(waited_s: float, decides: bool) -> None:
    """As right after a start: the refusal would stay, though the controller answers a second later."""
    away = Snapshot(1000.0, NODES, storage=BandwidthSupply(problem="the storage controller cannot be reached"))
    tick = Tick(away, Plan(), "plan", 0.0, False, policy=Policy(promise_share=1.0))
    wanted = changed(tick.fresh(reader(), "default", "ada", 101_000.0), submitted_at_s=1000.0 - waited_s)
    decisions = PromiseDecisions(taught(600.0), StoredPrices(list))
    assert bool(decisions.decide_on(changed(tick, asking=(wanted,)))) is decides
    known = changed(away, storage=BandwidthSupply(Rates(40 * MB, 40 * MB)))
    [made] = decisions.decide_on(changed(tick, snapshot=known, asking=(wanted,)))
    assert made.answer is not None
    assert made.answer.terms is not None


def test_a_rate_is_left_out_only_where_the_least_part_of_the_store_is_enough() -> None:
    """30 MB take 30 s at 1 MB/s, less than it computes; with many other readers, a small store delivers less."""
    few = taught(600.0, 30 * MB)
    assert terms(decided(few, 100_000.0, supply=4 * MB)).read_bytes_per_s is not None
    assert terms(decided(few, 100_000.0, supply=400 * MB)).read_bytes_per_s is None
    assert terms(decided(taught(600.0, MB), 100_000.0, supply=4 * MB)).read_bytes_per_s is None


def test_promises_hold_no_more_of_the_store_than_their_share() -> None:
    for share in (1.0, 0.5):
        supply = BandwidthSupply(Rates(40 * MB, 40 * MB))
        snapshot = Snapshot(1000.0, NODES, storage=supply)
        found = asked(taught(60.0), 200.0, Policy(promise_share=share, promise_offer_s=10.0), snapshot=snapshot)
        assert (found.terms is not None) == (share == 1.0), "it needs 40 MB/s for that"


def test_a_little_more_is_paid_for_a_run_that_does_not_hold_the_whole_store() -> None:
    """With 400 MB/s, reading limits it at each rate, so that half the rate costs about as much."""
    found = terms(decided(taught(10.0), 2000.0, supply=400 * MB))
    assert found.read_bytes_per_s is not None
    assert found.read_bytes_per_s < 200 * MB


def test_more_services_alone_do_not_help_where_the_store_holds_it_back() -> None:
    answer = decided(taught(60.0), 200.0, supply=0)
    assert answer.terms is None
    assert answer.offers is not None
    assert answer.offers.offers[0].kind is OfferKind.EARLIEST
    assert terms(decided(taught(60.0), 200.0)).read_bytes_per_s is not None


def test_bandwidth_that_others_hold_or_have_booked_is_not_promised() -> None:
    booked = (Booking("other", 1050.0, 2000.0, (), 30 * MB),)
    answer = decided(taught(60.0), 250.0, bookings=booked)
    assert answer.terms is None, "10 MB/s are left, with which it takes 600 s"
    assert answer.offers is not None
    assert answer.offers.offers[0].kind is OfferKind.EARLIEST
    before = decided(taught(60.0), 250.0, bookings=(Booking("other", 1300.0, 2000.0, (), 30 * MB),))
    assert terms(before).read_bytes_per_s == 40 * MB, "it has ended when the other begins"


def test_reader_of_the_whole_store_delays_later_promises() -> None:
    rate = Bandwidth(40 * MB, guarantee=Guarantee.REQUIRED)
    own = changed(reader(), storage=StorageDemand(bandwidth=rate), expected_run_s=400.0)
    runs = Execution("r", "r", "default", "bob", own, 900.0, state=ExecutionState.RUNNING, marks={Mark.PLACED: 900.0})
    assert decided(taught(60.0), 250.0, active=(runs,)).terms is None
    late = terms(decided(taught(60.0), 2000.0, active=(runs,)))
    assert late.begin_by_s >= 900.0 + 1.5 * 400.0
    endless = changed(runs, application=changed(own, expected_run_s=None))
    refused = decided(taught(60.0), 100_000.0, active=(endless,))
    assert refused.offers is not None
    assert refused.offers.offers == (), "nobody knows when it ends"


def test_until_booked_bandwidth_is_needed_others_that_end_before_have_it() -> None:
    supply, booking = BandwidthSupply(Rates(40 * MB, 0)), Booking("x", 1500.0, 2000.0, (), 30 * MB)
    application = changed(reader(), storage=StorageDemand(bandwidth=Bandwidth(40 * MB, guarantee=Guarantee.REQUIRED)))
    estimates = Snapshot(1000.0).estimates()
    for run_s, now_s, fits in (
        (200.0, 1000.0, True),
        (600.0, 1000.0, False),
        (None, 1000.0, False),
        (200.0, 1400.0, False),
        (200.0, 2000.5, False),  # the booked one is late, and waits for it
    ):
        guarantees = Guarantees((), supply, Policy(), estimates, now_s, (booking,))
        asks = changed(application, expected_run_s=run_s)
        one = Execution("o", "o", "default", "bob", asks, 900.0, state=ExecutionState.QUEUED)
        assert (guarantees.refusal(one) is None) is fits, (run_s, now_s)
        if fits:
            guarantees.take(one)
            assert guarantees.refusal(changed(one, id="p")) is not None


def test_promised_bandwidth_is_required_and_kept_from_others() -> None:
    found = terms(decided(taught(60.0), 250.0))
    execution = Execution("x", "x", "default", "ada", reader(), 1000.0, deadline_s=found.finish_s)
    promised = apply(execution, Promised(at_s=1000.0, terms=found))
    assert required_rates(promised.application) == Rates(read=found.read_bytes_per_s or 0)
    supply = BandwidthSupply(Rates(40 * MB, 0))
    bookings = (Booking("x", 1500.0, 2000.0, (), 40 * MB), Booking("x#1", 1500.0, 2000.0, (), 30 * MB))
    estimates = Snapshot(1000.0).estimates()
    guarantees = Guarantees((), supply, Policy(), estimates, 1000.0, bookings)
    other = changed(promised, id="other", promise=None)
    assert guarantees.refusal(other) is not None
    own = changed(promised, application=changed(promised.application))
    assert guarantees.refusal(own) is None
    guarantees.take(own)
    assert guarantees.refusal(changed(own, id="third")) is not None


def test_members_of_a_whole_hold_no_more_bandwidth_together_than_there_is() -> None:
    """Each begins with its rate, although the other's is booked for then."""
    seen = Snapshot(1000.0, NODES, storage=BandwidthSupply(Rates(40 * MB, 0)))
    tick = Tick(seen, Plan(), "plan", 0.0, False, policy=Policy(promise_share=1.0))
    asks = [tick.fresh(reader(), "default", "ada", 1900.0) for _ in range(2)]
    first = changed(asks[0], id="a", conditions=Conditions(whole="w", members=2))
    after = (Dependency(DependencyKind.OK, "a"),)
    second = changed(asks[1], id="b", conditions=Conditions(after=after, whole="w", members=2))
    made = PromiseDecisions(taught(60.0), StoredPrices(list)).decide_on(changed(tick, asking=(second, first)))
    [decision] = made
    found = [entry.answer for entry in (decision, *decision.together)]
    rates = [terms(answer).read_bytes_per_s or 0 for answer in found if answer is not None]
    assert len(rates) == 2
    assert min(rates) > 0
    rooms = [booking for answer in found if answer is not None for booking in answer.bookings]
    spans = [booking.bandwidth_span(1000.0) for booking in rooms]
    assert most_held(spans, 0.0, 9999.0) <= 40 * MB
    for number, entry in enumerate((decision, *decision.together)):
        assert entry.answer is not None
        promised = apply(entry.execution, Promised(at_s=1000.0, terms=terms(entry.answer)))
        guarantees = Guarantees((), seen.storage, Policy(), seen.estimates(), rooms[number].begins_s, rooms[number:])
        assert guarantees.refusal(promised) is None


def test_no_more_is_guaranteed_than_limits_allow() -> None:
    """With two cores, one worker beside the main program; with one, nothing can be promised."""
    times = taught(600.0)
    for cores, elastic in ((4, 2), (3, 1), (2, 0)):
        policy = Policy(user_limits={"default": {"cores_milli": cores * 1000}})
        assert terms(asked(times, 2000.0, policy, supply=0)).elastic <= elastic
    refused = asked(times, 2000.0, Policy(user_limits={"default": {"cores_milli": 1000}}), supply=0)
    assert refused.offers is not None
    assert "limits" in refused.offers.why


def test_a_running_one_is_expected_to_end_by_what_is_guaranteed_to_it_and_no_more() -> None:
    """With two workers it takes 300 s. Its guaranteed one counts once, though the scheduler treats it as essential."""
    times = LearnedRunTimes()
    for number in range(12):
        cores = (1.0, 2.0, 4.0, 8.0)[number % 4]
        sample = RunSample(RunSetting(cores), 1.0, 600.0 / cores)
        times._times.learn(str(number), ("default", "ada", reader().program), sample)
    promise = Promise(FinishTerms(1250.0, 0.5, 1, 200.0, 1000.0), 990.0)
    began = Execution("x", "x", "default", "ada", reader(), 990.0, promise=promise)
    running = changed(began, state=ExecutionState.RUNNING, marks={Mark.PLACED: 1000.0})
    bookings = PromiseBookings([running])
    assert bookings.started_executions["x"].application.components[1].essential_count == 2
    tick = Tick(Snapshot(1010.0, NODES, active=tuple(bookings.started_executions.values())), Plan(), "plan", 0.0, False)
    made = PromiseDecisions(times, StoredPrices(list)).decide_on(changed(tick, promised=bookings.promised_executions()))
    [notice] = [decision.notice for decision in made if decision.notice is not None]
    assert notice.end_s == pytest.approx(1301.0, abs=15.0)


def test_run_beyond_its_time_limit_is_not_promised() -> None:
    found = asked(taught(600.0), 2000.0, Policy(), time_limit_s=100.0)
    assert found.offers is not None
    assert "time limit" in found.offers.why


def told(
    state: ExecutionState, marks: dict[Mark, float], now_s: float, finish_s: float, begins_s: float | None = None
) -> list[float]:
    """Return the announced ends of an execution that declares 100 s, with room from `begins_s` on."""
    promise = Promise(FinishTerms(finish_s, 0.5, 0, 100.0, finish_s - 107.0), 990.0)
    one = Execution("x", "x", "default", "ada", reader(), 990.0, promise=promise, state=state, marks=marks)
    places = (("n0", Resources(1000, GIB)),)
    bookings = () if begins_s is None else (Booking("x", begins_s, begins_s + 107.0, places),)
    tick = Tick(Snapshot(now_s, NODES, bookings=bookings), Plan(), "plan", 0.0, False, promised=(one,))
    made = PromiseDecisions(LearnedRunTimes(), StoredPrices(list)).decide_on(tick)
    return [decision.notice.end_s for decision in made if decision.notice is not None]


def test_start_before_the_booked_time_has_not_run_until_then() -> None:
    assert told(ExecutionState.STARTING, {Mark.PLACED: 1000.0}, 1001.0, 1607.0, 1500.0) == []
    assert told(ExecutionState.QUEUED, {}, 1001.0, 1607.0, 1500.0) == []
    assert told(ExecutionState.QUEUED, {}, 1001.0, 1607.0, 1550.0) == [1650.0]


def test_an_end_that_is_told_to_be_late_is_later_in_full_seconds() -> None:
    assert told(ExecutionState.QUEUED, {}, 1100.6, 1200.4) == [1201.0]


def test_small_prices_are_compared_unrounded_and_told_with_their_first_digits() -> None:
    """Each costs a hundredth of a core for 1.4 s, so about 0.000004 core-hours: rounded to four decimals it is free."""
    small = Application(
        "small", (Component("main", "zoe/tiny", Resources(10, GIB), ends_application=True),), expected_run_s=1.4
    )
    tick = Tick(Snapshot(1000.0, NODES), Plan(), "plan", 0.0, False, policy=Policy(promise_share=1.0))

    def answers(budget: str, several: int) -> list[PromiseAnswer]:
        application = changed(small, promise=PromiseWish(0.5, budget))
        asks = [tick.fresh(application, "default", "ada", 1900.0) for _ in range(several)]
        whole = Conditions(whole="w" if several > 1 else "", members=several)
        asks = [changed(ask, conditions=whole) for ask in asks]
        [made] = PromiseDecisions(LearnedRunTimes(), StoredPrices(list)).decide_on(changed(tick, asking=tuple(asks)))
        return [decision.answer for decision in (made, *made.together) if decision.answer is not None]

    for several in (1, 30):
        budget = several * 3.89e-6
        kept = answers(f"{budget * 1.05:f}", several)
        assert [float(terms(answer).price or 0) for answer in kept] == pytest.approx([3.89e-6] * several, rel=0.01)
        refused = answers(f"{budget * 0.95:.9f}", several)
        assert all(answer.terms is None and answer.offers is not None for answer in refused)
        assert refused[0].offers is not None
        assert "than its budget" in refused[0].offers.why
        assert "0.0000 " not in refused[0].offers.why
