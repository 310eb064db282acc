"""The first execution in a limit's line keeps its turn, and lets some others pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.limits import tenant_limit, user_limit
from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

NODES = (node("n", cores=32),)
OF_TENANT = Policy(order="fifo", tenant_limits={"*": tenant_limit(8000)})
OF_USER = Policy(order="fifo", user_limits={"*": user_limit(8000)})
EITHER = pytest.mark.parametrize("policy", [OF_TENANT, OF_USER], ids=["of a tenant", "of a user"])


def waits(name: str, cores: int, at_s: float, run_s: float, tenant: str = "a") -> Execution:
    return replace(queued(name, component(cores=cores), at_s=at_s, expected_run_s=run_s), tenant=tenant)


def decide(policy: Policy, *waiting: Execution) -> Plan:
    """Decide at 10, with 6 of 8 cores held: 2 until 30, 4 until 60."""
    active = (started(waits("short", 2, 0.0, 29.0), "n"), started(waits("long", 4, 0.0, 59.0), "n"))
    return schedule(Snapshot(10.0, NODES, waiting, active), policy)


@EITHER
@pytest.mark.parametrize("backfill", ["none", "easy", "easy-sjbf", "conservative"])
def test_execution_that_delays_the_first_waits_with_the_reason(policy: Policy, backfill: str) -> None:
    policy = replace(policy, backfill=backfill)
    large = waits("large", 4, 1.0, 10.0)
    small, brief = waits("small", 2, 2.0, 100.0), waits("brief", 2, 2.0, 15.0)
    plan = decide(policy, large, small)
    assert not plan.starts
    of_whom = "tenant" if policy.tenant_limits else "user"
    assert plan.reasons["small"].code is plan.reasons["large"].code
    assert plan.reasons["small"].sentence == (
        f"Another execution of its {of_whom} is ahead by the policy, and waits for the rest of the {of_whom}'s limit."
    )
    assert set(decide(policy, large, brief).starts) == {"brief"}, "it ends before the large one can start at 30"
    assert set(decide(policy, large, waits("b", 2, 2.0, 100.0, "b")).starts) == {"b"}, "others have limits of their own"


@EITHER
def test_execution_that_fits_beside_the_first_passes(policy: Policy) -> None:
    """At 30 there are 4 held and 3 of the first: one is left."""
    waiting = [waits(f"small{i}", 1, 2.0 + i, 100.0) for i in range(2)]
    plan = decide(policy, waits("large", 3, 1.0, 10.0), *waiting)
    assert set(plan.starts) == {"small0"}


@EITHER
def test_one_that_can_never_start_keeps_nothing_and_is_told_so(policy: Policy) -> None:
    small = waits("small", 2, 2.0, 100.0)
    plan = decide(policy, waits("large", 9, 1.0, 10.0), small)
    assert set(plan.starts) == {"small"}
    assert plan.reasons["large"].hint.startswith("it never starts within the limit")
    two = queued("two", component(cores=4, memory_gib=1000), at_s=1.0)
    assert set(decide(policy, replace(two, tenant="a"), small).starts) == {"small"}, "no node has so much memory"


@EITHER
def test_elastic_services_that_stay_leave_what_the_first_waits_for(policy: Policy) -> None:
    extra = component("e", cores=1, essential_count=0, total_count=4)
    grows = started(replace(queued("grows", component(cores=4), extra, expected_run_s=999.0), tenant="a"), "n")
    short = started(waits("short", 2, 0.0, 29.0), "n")
    snapshot = Snapshot(10.0, NODES, (waits("large", 4, 1.0, 10.0),), (grows, short))
    assert not schedule(snapshot, replace(policy, preemption="none")).elastic
    assert schedule(replace(snapshot, queued=()), replace(policy, preemption="none")).elastic


def test_user_limit_does_not_hold_up_other_users_of_the_tenant() -> None:
    policy = replace(OF_USER, tenant_limits={"*": tenant_limit(9000)})
    other = replace(waits("other", 2, 2.0, 100.0), user="eve")
    plan = decide(policy, waits("large", 4, 1.0, 10.0), other)
    assert plan.reasons["large"].code is ReasonCode.USER_LIMIT
    assert set(plan.starts) == {"other"}
