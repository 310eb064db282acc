"""Conservative backfill: a place that delays an earlier execution is detected, and one without delay has to be
given.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.invariants.reservations import reservation_problems
from tests.support.limits import tenant_limit, user_limit
from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.run_times.samples import run_key
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.reasons import Reasons
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

EASY, CONSERVATIVE = (replace(FIFO, backfill=name) for name in ("easy", "conservative"))
NO_ROOM = Reason(ReasonCode.NO_RESOURCES, "no room")
BEHIND = Reason(ReasonCode.BEHIND_IN_QUEUE, "behind")
DELAYS = "third has a place, and delays second, which was to start at"


def job(execution_id: str, cores: float, run_s: float = 100.0) -> Execution:
    return queued(execution_id, component(cores=cores, memory_gib=0), expected_run_s=run_s)


def one_node(third_cores: float) -> Snapshot:
    """Six of ten cores are free until 101 s; then `head` has eight of ten until 201 s, and `second` nine after that."""
    waiting = (job("head", 8), job("second", 9), job("third", third_cores, run_s=500.0))
    in_turn = tuple(replace(e, submitted_at_s=float(i)) for i, e in enumerate(waiting))
    return Snapshot(5.0, (node("n", 10),), queued=in_turn, active=(started(job("r", 4), "n"),))


def two_nodes() -> Snapshot:
    """`head` has all of `b` from 51 s on, `second` five of the six cores of `a` from 101 s on; both have two free."""
    runs = (started(job("r", 4), "a"), started(job("s", 2, run_s=50.0), "b"))
    waiting = (job("head", 4), job("second", 5), job("third", 2, run_s=500.0))
    in_turn = tuple(replace(e, submitted_at_s=float(i)) for i, e in enumerate(waiting))
    return Snapshot(5.0, (node("a", 6), node("b", 4)), queued=in_turn, active=runs)


def found(snapshot: Snapshot, policy: Policy, plan: Plan) -> list[str]:
    return list(reservation_problems(snapshot, policy, plan))


@pytest.mark.parametrize(("snapshot", "at_s"), [(one_node(2), 201), (two_nodes(), 101)])
def test_one_that_delays_another_than_the_first(snapshot: Snapshot, at_s: int) -> None:
    right, wrong = schedule(snapshot, CONSERVATIVE), schedule(snapshot, EASY)
    assert (set(right.starts), set(wrong.starts)) == (set(), {"third"})
    assert found(snapshot, CONSERVATIVE, right) == []
    assert found(snapshot, CONSERVATIVE, wrong) == [f"{DELAYS} {at_s} s"]
    assert found(snapshot, EASY, wrong) == []


def test_one_that_would_delay_nobody() -> None:
    snapshot = one_node(1)
    right = schedule(snapshot, CONSERVATIVE)
    assert set(right.starts) == {"third"}
    assert found(snapshot, CONSERVATIVE, right) == []
    wrong = Plan(reasons=Reasons({"head": NO_ROOM, "second": BEHIND, "third": BEHIND}))
    assert found(snapshot, CONSERVATIVE, wrong) == ["third was left behind, though it would delay no other"]


def test_a_place_that_is_kept_for_one_counts_as_one_that_is_given() -> None:
    wrong = schedule(one_node(2), EASY)
    kept = replace(wrong, starts={}, reserved=dict(wrong.starts))
    assert found(one_node(2), CONSERVATIVE, kept) == [f"{DELAYS} 201 s"]


@pytest.mark.parametrize(
    "policy",
    [
        replace(CONSERVATIVE, backfill_depth_max=1),
        replace(CONSERVATIVE, tenant_limits={"*": tenant_limit(cores_milli=10**9)}),
        replace(CONSERVATIVE, user_limits={"*": user_limit(cores_milli=10**9)}),
    ],
)
def test_executions_beyond_the_depth_may_be_delayed(policy: Policy) -> None:
    """Beyond the depth no execution keeps a reservation; only the pass knows whether a limit stops one."""
    assert found(one_node(2), policy, schedule(one_node(2), EASY)) == []


def test_overdue_executions_are_expected_to_end_one_after_another() -> None:
    """At 300 s `head` is to start after the overdue ones, and `second` when `head` ends."""
    snapshot = replace(one_node(2), now_s=300.0)
    right, wrong = schedule(snapshot, CONSERVATIVE), schedule(snapshot, EASY)
    assert found(snapshot, CONSERVATIVE, right) == []
    assert found(snapshot, CONSERVATIVE, wrong) == [f"{DELAYS} 400 s"]


def test_one_that_is_expected_to_take_no_time_is_promised_a_second_and_delays_nobody() -> None:
    snapshot = one_node(2)
    head, *others = snapshot.queued
    instant = replace(head, application=replace(head.application, expected_run_s=None))
    snapshot = replace(snapshot, queued=(instant, *others), past_runs={run_key(instant): 0.0})
    right, wrong = schedule(snapshot, CONSERVATIVE), schedule(snapshot, EASY)
    assert found(snapshot, CONSERVATIVE, right) == []
    assert found(snapshot, CONSERVATIVE, wrong) == [f"{DELAYS} 102 s"]
