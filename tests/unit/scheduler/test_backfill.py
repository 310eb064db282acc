"""Who may pass the first that waits, where elastic services hold what it waits for."""

from __future__ import annotations

import pytest

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.snapshot import Plan, Snapshot

NODES = (node("n", cores=5),)
BLOCKED = queued("blocked", component(cores=4), at_s=2.0, expected_run_s=10.0)


def with_elastic(name: str, run_s: float) -> Execution:
    """One core and one elastic service of one core each, placed at 1."""
    return started(queued(name, component(essential_count=1, total_count=2), expected_run_s=run_s), "n", "n")


def small(run_s: float) -> Execution:
    return queued("small", component(cores=1), at_s=3.0, expected_run_s=run_s)


def decide(waiting: Execution, **policy: str) -> Plan:
    """At 100; the cores of one that runs end at 150 and of the other at 200."""
    active = (with_elastic("first", 149.0), with_elastic("second", 199.0))
    snapshot = Snapshot(100.0, NODES, (BLOCKED, waiting), active)
    return schedule(snapshot, Policy(**policy))  # type: ignore[arg-type]


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_elastic_services_are_counted_as_gone_when_the_core_that_waits_will_need_their_room(backfill: str) -> None:
    plan = decide(small(run_s=80.0), backfill=backfill)
    assert not plan.starts, "the other one starts at 150: the elastic service beside it gives way"
    assert plan.reasons["blocked"].code is ReasonCode.NO_RESOURCES
    assert list(decide(small(run_s=50.0), backfill=backfill).starts) == ["small"]


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_elastic_services_that_stay_are_waited_for(backfill: str) -> None:
    plan = decide(small(run_s=80.0), backfill=backfill, preemption="none")
    assert list(plan.starts) == ["small"]
