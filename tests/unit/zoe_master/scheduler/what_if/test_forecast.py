"""The wait of one execution, by running the scheduler forward; and the spread from outcomes."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from tests.support.limits import tenant_limit, user_limit
from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.finish_times import FinishTerms, Promise
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.what_if.calibration import ForecastCalibration
from zoe_master.scheduler.what_if.forecast import STEPS_MAX, ForecastWait, wait_of

NODES = (node("n", cores=4, memory_gib=64),)
DECLARED = Estimates({})


def job(name: str, at_s: float, run_s: float | None, cores: float = 4, **more: object) -> Execution:
    return queued(name, component(cores=cores, **more), at_s=at_s, expected_run_s=run_s)


def wait(
    execution_id: str, *waiting: Execution, active: tuple[Execution, ...] = (), **policy: object
) -> ForecastWait | None:
    snapshot = Snapshot(100.0, NODES, waiting, active)
    return wait_of(snapshot, replace(FIFO, **policy), execution_id, DECLARED)  # type: ignore[arg-type]


def test_it_waits_for_what_runs_and_for_those_ahead() -> None:
    running = started(job("r", 0, 150.0), "n")  # placed at 1
    waiting = (job("a", 1, 10.0), job("b", 2, 20.0), job("c", 3, 30.0))
    assert wait("a", *waiting, active=(running,)) == ForecastWait(51.0)
    assert wait("c", *waiting, active=(running,)) == ForecastWait(81.0)
    assert wait("c", *waiting, active=(running,), order="sjf", ageing_s=0.0) == ForecastWait(81.0)
    assert wait("b", job("x", 0, 500.0), *waiting, active=(running,), order="sjf", ageing_s=0.0) == ForecastWait(61.0)


def test_execution_that_can_start_now_waits_zero_seconds() -> None:
    assert wait("a", job("a", 1, 10.0)) == ForecastWait(0.0)
    greedy = started(job("g", 0, 1e6, cores=1, essential_count=1, total_count=4), "n", "n", "n", "n")
    assert wait("a", job("a", 1, 10.0, cores=3), active=(greedy,)) == ForecastWait(0.0)


def test_elastic_services_that_do_not_give_way_are_waited_for() -> None:
    active = started(queued("a", component(total_count=4), expected_run_s=199.0), "n", "n", "n", "n")
    assert wait("new", job("new", 1.0, 50.0), active=(active,), preemption="none") == ForecastWait(100.0)


def test_backfill_and_limits_count() -> None:
    running = started(job("r", 0, 150.0, cores=2), "n")
    waiting = (job("large", 1, 10.0), job("small", 2, 20.0, cores=1))
    assert wait("small", *waiting, active=(running,)) == ForecastWait(61.0)
    assert wait("small", *waiting, active=(running,), backfill="easy") == ForecastWait(0.0)


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
def test_a_tenant_at_its_limit_waits_for_its_own(backfill: str) -> None:
    """There is room for it, and its tenant may not have it before its first has ended."""
    running = started(job("r", 0, 150.0, cores=2), "n")  # until 151
    waiting = (job("own", 1, 10.0, cores=1),)
    limits = {"*": tenant_limit(cores_milli=2000)}
    assert wait("own", *waiting, active=(running,), backfill=backfill) == ForecastWait(0.0)
    assert wait("own", *waiting, active=(running,), backfill=backfill, tenant_limits=limits) == ForecastWait(51.0)


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
def test_a_user_at_the_limit_waits_for_the_users_own(backfill: str) -> None:
    """Another's of the same tenant ends earlier, which does not help."""
    running = started(job("r", 0, 150.0, cores=2), "n")  # until 151
    another = started(replace(job("another", 0, 120.0, cores=1), user="eve"), "n")
    limits = {"*": user_limit(cores_milli=2000)}
    waiting = job("own", 1, 10.0, cores=1)
    told = {
        user: wait("own", replace(waiting, user=user), active=(running, another), backfill=backfill, user_limits=limits)
        for user in ("ada", "eve")
    }
    assert told == {"ada": ForecastWait(51.0), "eve": ForecastWait(0.0)}


def test_conservative_backfill_keeps_a_reservation_for_everybody_ahead() -> None:
    """The long one leaves room for the first of those ahead, but would delay the second."""
    running = started(job("r", 0, 150.0, cores=2), "n")  # until 151
    waiting = (job("first", 1, 10.0, cores=3), job("second", 2, 100.0), job("long", 3, 1000.0, cores=1))
    assert wait("long", *waiting, active=(running,), backfill="easy") == ForecastWait(0.0)
    assert wait("long", *waiting, active=(running,), backfill="conservative") == ForecastWait(161.0)
    assert wait("second", *waiting, active=(running,), backfill="conservative") == ForecastWait(61.0)
    many = tuple(job(f"n{i:04}", 4 + i, 10.0) for i in range(2000))
    told = wait("n1999", *waiting[1:2], *many, backfill="conservative")
    assert told == ForecastWait(pytest.approx(100.0 + 1999 * 10.0, rel=0.02), extrapolated=True)


def test_one_that_never_fits_holds_up_nobody() -> None:
    assert wait("a", job("monster", 0, 10.0, cores=99), job("a", 1, 10.0)) == ForecastWait(0.0)


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
def test_execution_waiting_for_absent_nodes_has_no_forecast(backfill: str) -> None:
    running = started(job("r", 0, 150.0), "n")  # until 151
    waiting = (job("wants", 1, 10.0, cores=16), job("a", 2, 10.0), job("b", 3, 10.0))
    policy = replace(FIFO, backfill=backfill)

    def told(execution_id: str, away: Node) -> ForecastWait | None:
        return wait_of(Snapshot(100.0, (*NODES, away), waiting, (running,)), policy, execution_id, DECLARED)

    large = node("large", cores=16, memory_gib=64)
    for away in (replace(large, ready=False), replace(large, holds=(NodeHold(),))):
        assert told("wants", away) == ForecastWait(math.inf)
        assert [told(name, away) for name in "ab"] == [ForecastWait(51.0), ForecastWait(61.0)]
    if backfill != "conservative":
        assert told("wants", replace(large, holds=(NodeHold(until_s=180.0),))) == ForecastWait(80.0), "its end is known"


def test_wait_behind_an_endless_execution_is_unknown() -> None:
    running = started(job("r", 0, None), "n")
    assert wait("a", job("a", 1, 10.0), active=(running,)) == ForecastWait(math.inf)
    limited = replace(running, application=replace(running.application, time_limit_s=200.0))
    assert wait("a", job("a", 1, 10.0), active=(limited,)) == ForecastWait(101.0)


def test_unqueued_execution_has_no_wait() -> None:
    assert wait("nobody", job("a", 1, 10.0)) is None


def test_a_queue_too_long_to_simulate_is_extrapolated_close_to_the_truth() -> None:
    count = 5 * STEPS_MAX
    waiting = tuple(job(f"e{i:05}", i, 10.0) for i in range(count))
    found = wait(waiting[-1].id, *waiting)
    assert found is not None
    assert found.extrapolated
    assert found.seconds == pytest.approx(10.0 * (count - 1), rel=0.02)


@pytest.mark.parametrize("backfill", ["none", "easy"])
def test_execution_within_the_steps_is_not_extrapolated(backfill: str) -> None:
    waiting = tuple(job(f"e{i:05}", i, 10.0) for i in range(STEPS_MAX))
    assert wait(waiting[-1].id, *waiting, backfill=backfill) == ForecastWait(10.0 * (STEPS_MAX - 1))


def test_one_that_runs_over_is_expected_to_go_on_as_long_again() -> None:
    running = started(job("r", 0, 79.0), "n")  # expected to end at 80; it is 100
    assert wait("a", job("a", 1, 10.0), active=(running,)) == ForecastWait(20.0)


def test_p90_holds_nine_times_of_ten_whatever_the_error_is_like() -> None:
    for seed in range(5):
        chance, calibration = random.Random(seed), ForecastCalibration()
        bias = chance.uniform(0.2, 3.0)
        for _ in range(3000):
            simulated = chance.lognormvariate(7, 1.5)
            spread = calibration.spread(simulated)
            calibration.learn(simulated, spread.p90_s, simulated * bias * chance.lognormvariate(0, 0.7))
        assert calibration.coverage == pytest.approx(0.9, abs=0.03), f"seed {seed}"
        assert calibration.spread(1000.0).p50_s == pytest.approx(1000.0 * bias, rel=0.35), f"seed {seed}"


def test_before_anything_was_learned_the_spread_says_so() -> None:
    spread = ForecastCalibration().spread(600.0)
    assert (spread.samples, spread.p50_s) == (0, 600.0)
    assert spread.p90_s > 1000.0


def promised(name: str, at_s: float, run_s: float, finish_s: float) -> Execution:
    terms = FinishTerms(finish_s, 0.9, 0, run_s, finish_s - run_s)
    return replace(job(name, at_s, run_s), promise=Promise(terms, at_s), deadline_s=finish_s)


def test_booked_room_is_nobody_elses_and_who_booked_it_begins_then() -> None:
    """All four cores are booked from 300 s to 400 s after now; it is 100."""
    one = promised("p", 1, 100.0, 500.0)
    booking = Booking("p", 400.0, 500.0, (("n", Resources(4000, 0)),))

    def begins(execution_id: str, *others: Execution, busy: tuple[Execution, ...] = ()) -> float:
        snapshot = Snapshot(100.0, NODES, (*others, one), busy, bookings=(booking,))
        found = wait_of(snapshot, replace(FIFO, backfill="easy"), execution_id, DECLARED)
        assert found is not None
        return found.seconds

    assert begins("short", job("short", 0, 100.0)) == 0.0
    assert begins("long", job("long", 0, 1000.0)) == 100.0, "the promised one does not wait for its time"
    held = started(job("held", 0, 150.0), "n")  # placed at 1: until 151, cautiously 226
    assert begins("long", job("long", 0, 1000.0), busy=(held,)) == 151.0
    assert begins("p", job("long", 0, 1000.0), busy=(held,)) == 51.0


def test_a_booking_of_what_is_not_in_the_queue_is_waited_for() -> None:
    """A later step of a workflow has its room before it may begin."""
    booking = Booking("step", 400.0, 500.0, (("n", Resources(4000, 0)),))
    snapshot = Snapshot(100.0, NODES, (job("long", 0, 1000.0), job("short", 1, 100.0)), bookings=(booking,))
    assert wait_of(snapshot, FIFO, "long", DECLARED) == ForecastWait(400.0)
    assert wait_of(snapshot, FIFO, "short", DECLARED) == ForecastWait(0.0)
