"""Guaranteed bandwidth: the sum fits, a waiting execution blocks no other, and the first waiting one is not passed."""

from __future__ import annotations

from dataclasses import replace

from tests.support.limits import tenant_limit
from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates
from zoe_lib.domain.executions.waiting import WaitCause, cause_of
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.what_if.explain import explain
from zoe_master.scheduler.what_if.forecast import ForecastWait, wait_of
from zoe_master.scheduler.what_if.proposal import propose

MB = 1_000_000
NODES = (node("n", cores=8),)
# 14:00 UTC of some day.
NOW_S = 20_000 * 86400.0 + 14 * 3600
SUPPLY = BandwidthSupply(Rates(100 * MB, 100 * MB))


def reads(name: str, megabytes: int, at_s: float = 0.0, run_s: float | None = None, **more: object) -> Execution:
    guarantee = more.pop("guarantee", Guarantee.REQUIRED)
    write = more.pop("write", None)
    demand = StorageDemand(bandwidth=Bandwidth(megabytes * MB, write, guarantee))  # type: ignore[arg-type]
    return queued(name, component(**more), at_s=at_s, storage=demand, expected_run_s=run_s)


def decide(
    *waiting: Execution, active: tuple[Execution, ...] = (), supply: BandwidthSupply | None = SUPPLY, **policy: object
) -> Plan:
    snapshot = Snapshot(NOW_S, NODES, waiting, active, storage=supply)
    return schedule(snapshot, replace(FIFO, **policy))  # type: ignore[arg-type]


def running(execution: Execution, since_s: float = NOW_S) -> Execution:
    begun = started(execution, *["n"] * len(execution.services))
    return replace(begun, marks=dict.fromkeys(begun.marks, since_s))


def test_the_sum_of_guarantees_fits_and_the_reason_says_what_is_missing_and_until_when() -> None:
    active = running(reads("r", 75, run_s=290.0))
    plan = decide(reads("a", 40), active=(active,))
    assert not plan.starts
    reason = plan.reasons["a"]
    assert reason.code is ReasonCode.STORAGE_BANDWIDTH
    assert reason.sentence == ("Waiting for storage bandwidth: needs 40 MB/s to read, 25 free until about 14:05 UTC.")
    assert list(decide(reads("a", 25), active=(active,)).starts) == ["a"]


def test_two_of_one_pass_count_together_and_who_waits_holds_up_nobody() -> None:
    plan = decide(reads("a", 60, 1.0), reads("b", 60, 2.0), queued("c", at_s=3.0), reads("d", 30, 4.0))
    assert set(plan.starts) == {"a", "c"}
    assert plan.reasons["b"].code is ReasonCode.STORAGE_BANDWIDTH
    assert "waited longer" in plan.reasons["d"].sentence


def test_execution_that_does_not_delay_the_first_may_pass() -> None:
    active = running(reads("r", 60, run_s=300.0))
    first = reads("first", 80, 1.0)
    assert list(decide(first, reads("short", 30, 2.0, run_s=300.0), active=(active,)).starts) == ["short"]
    assert not decide(first, reads("long", 30, 2.0, run_s=301.0), active=(active,)).starts
    beside = decide(first, reads("long", 20, 2.0, run_s=999.0), reads("more", 1, 3.0, run_s=999.0), active=(active,))
    assert list(beside.starts) == ["long"], "20 MB/s are left beside it then, and no more"


def test_reading_and_writing_are_counted_apart() -> None:
    plan = decide(reads("r", 90, 1.0), reads("w", 0, 2.0, write=90 * MB), reads("x", 5, 3.0, write=20 * MB))
    assert set(plan.starts) == {"r", "w"}
    assert "needs 20 MB/s to write, 10 free" in plan.reasons["x"].sentence


def test_one_that_only_reads_starts_beside_bookings_though_too_much_is_written() -> None:
    """The store guarantees less than before: the grants to write exceed it."""
    writes = running(reads("r", 0, write=150 * MB))
    later = Booking("b", NOW_S + 1000, NOW_S + 2000, read_bytes_per_s=90 * MB)
    snapshot = Snapshot(NOW_S, NODES, (reads("a", 40, run_s=60.0),), (writes,), storage=SUPPLY, bookings=(later,))
    assert list(schedule(snapshot, FIFO).starts) == ["a"]


def test_preferred_bandwidth_never_waits() -> None:
    assert list(decide(reads("p", 500, guarantee=Guarantee.PREFERRED)).starts) == ["p"]
    assert list(decide(reads("p", 500, guarantee=Guarantee.PREFERRED), supply=None).starts) == ["p"]


def test_without_a_controller_or_when_it_is_not_reached_nothing_can_be_promised() -> None:
    assert "no storage controller" in decide(reads("a", 1), supply=None).reasons["a"].sentence
    down = decide(reads("a", 1), supply=BandwidthSupply(problem="the controller does not answer"))
    assert "does not answer" in down.reasons["a"].sentence


def test_a_dead_store_admits_nothing_and_the_reason_says_so() -> None:
    dead = BandwidthSupply(Rates(), away="no proxy of the object store answers")
    plan = decide(reads("a", 1), reads("p", 1, guarantee=Guarantee.PREFERRED), supply=dead)
    assert list(plan.starts) == ["p"]
    assert plan.reasons["a"].sentence.endswith("0 can be promised in all; no proxy of the object store answers.")
    assert "when the object store is back" in plan.reasons["a"].hint


def test_more_than_there_is_waits_without_holding_up_others_who_require_some() -> None:
    plan = decide(reads("huge", 101, 1.0), reads("a", 100, 2.0))
    assert list(plan.starts) == ["a"]
    assert "needs 101 MB/s to read, 100 can be promised in all" in plan.reasons["huge"].sentence


def test_bandwidth_held_by_policies_is_named_in_the_reason() -> None:
    supply = BandwidthSupply(Rates(60 * MB, 100 * MB), others=Rates(40 * MB, 0))
    held = "(standing SLOs, rules and other clients hold 40 MB/s to read)"
    assert f"60 can be promised in all {held}" in decide(reads("a", 70), supply=supply).reasons["a"].sentence
    plan = decide(reads("b", 30, 1.0), reads("c", 50, 2.0), reads("w", 0, 3.0, write=101 * MB), supply=supply)
    assert f"needs 50 MB/s to read, 30 free {held}" in plan.reasons["c"].sentence
    assert "hold" not in plan.reasons["w"].sentence
    assert list(decide(reads("a", 60), supply=supply).starts) == ["a"]


def test_a_tenant_s_limit_makes_it_wait() -> None:
    limits = {"default": tenant_limit(read_bytes_per_s=50 * MB)}
    plan = decide(reads("a", 30, 1.0), reads("b", 30, 2.0), tenant_limits=limits)
    assert list(plan.starts) == ["a"]
    assert plan.reasons["b"].code is ReasonCode.TENANT_LIMIT
    assert "30 of at most 50 MB/s" in plan.reasons["b"].sentence


def test_the_first_that_waits_for_a_tenant_s_limit_is_passed_by_those_who_do_not_delay_it() -> None:
    limits = {"default": tenant_limit(read_bytes_per_s=50 * MB)}
    active = (running(reads("r", 30, run_s=300.0)),)
    first = reads("first", 40, 1.0)
    passing = (reads("short", 20, 2.0, run_s=300.0), reads("beside", 10, 2.0, run_s=999.0))
    for execution in passing:
        assert list(decide(first, execution, active=active, tenant_limits=limits).starts) == [execution.id]
    long = reads("long", 20, 2.0, run_s=301.0)
    other = replace(reads("other", 20, 3.0, run_s=999.0), tenant="other")
    plan = decide(first, long, queued("plain", at_s=3.0), other, active=active, tenant_limits=limits)
    assert set(plan.starts) == {"plain", "other"}
    assert plan.reasons["long"].code is ReasonCode.TENANT_LIMIT
    assert "is ahead by the policy" in plan.reasons["long"].sentence
    for never in (reads("never", 51, 1.0), reads("wide", 40, 1.0, cores=9)):
        assert "long" in decide(never, long, active=active, tenant_limits=limits).starts, "it keeps no turn"


def test_the_line_of_a_limit_counts_an_hour_for_what_is_not_known() -> None:
    limits = {"default": tenant_limit(read_bytes_per_s=50 * MB)}
    active = (running(reads("r", 30)),)
    plan = decide(
        reads("first", 40, 1.0), reads("a", 20, 2.0), reads("b", 20, 3.0), active=active, tenant_limits=limits
    )
    assert list(plan.starts) == ["a"], "it is expected to end with what runs"


def test_execution_waiting_for_nodes_keeps_its_bandwidth() -> None:
    active = running(queued("r", component(cores=8), expected_run_s=600.0))
    plan = decide(reads("a", 80, 1.0), reads("b", 30, 2.0, run_s=1.0, cores=0), active=(active,), backfill="easy")
    assert plan.reasons["a"].code is ReasonCode.NO_RESOURCES
    assert plan.reasons["b"].code is ReasonCode.STORAGE_BANDWIDTH


def test_explain_eta_and_plan_know_of_it() -> None:
    active = (running(reads("r", 75, run_s=290.0)),)
    waiting = reads("a", 40, 1.0)
    snapshot = Snapshot(NOW_S, NODES, (waiting,), active, storage=SUPPLY)
    answer = explain(snapshot, FIFO, "a")
    assert answer is not None
    assert answer.reason is not None
    assert answer.reason.code is ReasonCode.STORAGE_BANDWIDTH
    assert wait_of(snapshot, FIFO, "a", Estimates({})) == ForecastWait(290.0)
    proposal = propose(replace(snapshot, queued=()), FIFO, waiting)
    assert not proposal.starts_now
    assert proposal.reason is not None
    assert proposal.reason.code is ReasonCode.STORAGE_BANDWIDTH
    assert cause_of(proposal.reason) is WaitCause.STORAGE
