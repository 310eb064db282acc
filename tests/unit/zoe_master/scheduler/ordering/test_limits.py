"""Limits of tenants and of users: an execution over one waits, and blocks no other; its own elastic services give
way.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.limits import tenant_limit, user_limit
from tests.support.scheduling import FIFO, GIB, component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import ServiceEnded, ServiceStarting, ServiceStopping
from zoe_lib.domain.executions.execution import Cause, Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.what_if.explain import explain

NODES = (node("n", cores=9, memory_gib=18),)
# The same for tenant a, and for each of its users.
OF_TENANT = replace(FIFO, tenant_limits={"a": tenant_limit(cores_milli=4000)})
OF_USER = replace(FIFO, user_limits={"a": user_limit(cores_milli=4000)})
EITHER = pytest.mark.parametrize("limited", [OF_TENANT, OF_USER], ids=["of a tenant", "of a user"])
BACKFILLS = pytest.mark.parametrize("backfill", ["none", "easy", "easy-sjbf", "conservative"])


def of(
    tenant: str, name: str, at_s: float, cores: float = 1, memory_gib: float = 1, elastic: int = 0, user: str = "ada"
) -> Execution:
    one = component(cores=cores, memory_gib=memory_gib, total_count=1 + elastic)
    return replace(queued(name, one, at_s=at_s, expected_run_s=100.0), tenant=tenant, user=user)


def filling(tenant: str, name: str, elastic: int, at_s: float = 0.0, user: str = "ada") -> Execution:
    """Return a running execution with one essential service and this number of elastic ones, of one core each."""
    return started(of(tenant, name, at_s, elastic=elastic, user=user), *["n"] * (1 + elastic))


def codes(plan: Plan) -> dict[str, ReasonCode]:
    return {name: reason.code for name, reason in plan.reasons.items()}


def gone(plan: Plan) -> dict[str, int]:
    return {name: len(services) for name, services in plan.preempt.items()}


# -- who waits ---------------------------------------------------------------------------------------------------------
def test_a_tenant_at_its_limit_waits_with_a_reason_and_blocks_nobody() -> None:
    limited = replace(
        FIFO, tenant_limits={"a": tenant_limit(cores_milli=2000), "*": tenant_limit(memory_bytes=4 * GIB)}
    )
    waiting = (of("a", "a1", 1, 2), of("a", "a2", 2, 1), of("b", "b", 3, 1, 5), of("c", "c", 4, 1, 4))
    plan = schedule(Snapshot(10.0, NODES, waiting), limited)
    assert sorted(plan.starts) == ["a1", "c"]
    assert codes(plan) == {"a2": ReasonCode.TENANT_LIMIT, "b": ReasonCode.TENANT_LIMIT}
    assert plan.reasons["a2"].sentence == (
        "Its essential services need 1 core and 1 GiB, but the tenant holds 2 cores and 1 GiB of at most 2 cores."
    )


def test_a_user_at_the_limit_waits_with_a_reason_and_blocks_nobody() -> None:
    limited = replace(FIFO, user_limits={"a": user_limit(cores_milli=2000), "*": user_limit(memory_bytes=4 * GIB)})
    waiting = (
        of("a", "a1", 1, 2),
        of("a", "a2", 2, 1),
        of("a", "eve's", 3, 2, user="eve"),
        of("b", "b1", 4, 1, 3),
        of("b", "b2", 5, 1, 2),
        of("c", "c", 6, 1, 4),
    )
    plan = schedule(Snapshot(10.0, NODES, waiting), limited)
    assert sorted(plan.starts) == ["a1", "b1", "c", "eve's"], "each user, and each of them in every tenant"
    assert codes(plan) == {"a2": ReasonCode.USER_LIMIT, "b2": ReasonCode.USER_LIMIT}
    told = plan.reasons["a2"]
    assert told.sentence == (
        "Its essential services need 1 core and 1 GiB, "
        "but its user holds 2 cores and 1 GiB of at most 2 cores in this tenant."
    )
    assert "the user's own services" in told.hint


@BACKFILLS
def test_limited_execution_starts_when_the_users_own_has_ended(backfill: str) -> None:
    limited = replace(OF_USER, backfill=backfill)
    own, others = started(of("a", "own", 0, 3), "n"), started(of("a", "others", 0, 3, user="eve"), "n")
    elsewhere = started(of("b", "elsewhere", 0, 1), "n")
    waiting = (of("a", "new", 6, 2), of("a", "eve's", 7, user="eve"), of("b", "b", 8))
    plan = schedule(Snapshot(10.0, NODES, waiting, (own, others, elsewhere)), limited)
    assert sorted(plan.starts) == ["b", "eve's"]
    assert codes(plan) == {"new": ReasonCode.USER_LIMIT}
    others_ended = schedule(Snapshot(10.0, NODES, waiting[:1], (own, elsewhere)), limited)
    assert codes(others_ended) == {"new": ReasonCode.USER_LIMIT}
    own_ended = schedule(Snapshot(10.0, NODES, waiting[:1], (others, elsewhere)), limited)
    assert list(own_ended.starts) == ["new"]


@BACKFILLS
def test_execution_over_its_limit_gets_no_reservation(backfill: str) -> None:
    """The second needs the whole node; the first may not start, so nothing is reserved for it."""
    waiting = (of("a", "own", 1, 5), of("b", "wide", 2, 9), of("b", "next", 3, 9))
    plan = schedule(Snapshot(10.0, NODES, waiting), replace(OF_USER, backfill=backfill))
    assert list(plan.starts) == ["wide"]
    assert plan.reasons["own"].code is ReasonCode.USER_LIMIT


@BACKFILLS
def test_behind_a_closed_door_the_limit_is_told_too(backfill: str) -> None:
    running = (started(of("b", "r", 0, 5), "n"), started(of("a", "own", 0, 4), "n"))
    waiting = (of("b", "wide", 1, 9), of("a", "new", 2), of("a", "eve's", 3, user="eve"))
    plan = schedule(Snapshot(10.0, NODES, waiting, running), replace(OF_USER, backfill=backfill))
    assert codes(plan) == {
        "wide": ReasonCode.NO_RESOURCES,
        "new": ReasonCode.USER_LIMIT,
        "eve's": ReasonCode.BEHIND_IN_QUEUE,
    }


@pytest.mark.parametrize(
    ("of_tenant", "of_user", "starts", "told"),
    [
        (3000, 2000, 2, ReasonCode.USER_LIMIT),
        (2000, 3000, 2, ReasonCode.TENANT_LIMIT),
        (2000, 2000, 2, ReasonCode.USER_LIMIT),  # other executions of the tenant would not help
    ],
)
def test_of_two_limits_the_tighter_one_holds(of_tenant: int, of_user: int, starts: int, told: ReasonCode) -> None:
    both = replace(
        FIFO,
        tenant_limits={"*": tenant_limit(cores_milli=of_tenant)},
        user_limits={"*": user_limit(cores_milli=of_user)},
    )
    plan = schedule(Snapshot(10.0, NODES, tuple(of("a", f"e{i}", i) for i in range(4))), both)
    assert len(plan.starts) == starts
    assert set(codes(plan).values()) == {told}
    elastic = schedule(Snapshot(10.0, NODES, (of("a", "x", 0, elastic=5),)), both)
    assert len(elastic.starts["x"]) == starts


def test_users_within_their_limits_come_to_their_tenants_limit_together() -> None:
    both = replace(OF_TENANT, user_limits={"*": user_limit(cores_milli=3000)})
    waiting = (of("a", "a1", 1, 3), of("a", "a2", 2), of("a", "e1", 3, user="eve"), of("a", "e2", 4, user="eve"))
    plan = schedule(Snapshot(10.0, NODES, waiting), both)
    assert sorted(plan.starts) == ["a1", "e1"]
    assert codes(plan) == {"a2": ReasonCode.USER_LIMIT, "e2": ReasonCode.TENANT_LIMIT}


def test_one_that_is_beyond_the_limit_in_memory_may_have_cores() -> None:
    limited = replace(FIFO, user_limits={"*": user_limit(memory_bytes=GIB)})
    plan = schedule(Snapshot(10.0, NODES, (of("a", "new", 6, 1, 0),), (filling("a", "old", 3),)), limited)
    assert list(plan.starts) == ["new"]


def test_less_is_what_would_help_against_a_limit() -> None:
    snapshot = Snapshot(10.0, NODES, (of("a", "new", 6, 4),), (started(of("a", "old", 0, 2), "n"),))
    explained = explain(snapshot, OF_USER, "new")
    assert explained is not None
    assert explained.reason is not None
    assert explained.reason.code is ReasonCode.USER_LIMIT
    assert explained.change is not None
    assert explained.change.after == 2000


# -- elastic services --------------------------------------------------------------------------------------------------
@EITHER
def test_elastic_services_keep_within_the_limit_too(limited: Policy) -> None:
    plan = schedule(Snapshot(10.0, NODES, (of("a", "a", 1, elastic=5),)), limited)
    assert len(plan.starts["a"]) == 4


def test_turns_of_tenants_stay_within_the_limits_of_users() -> None:
    limited = replace(FIFO, tenants="drf", user_limits={"a": user_limit(cores_milli=2000)})
    waiting = (
        of("a", "a1", 1, elastic=5),
        of("a", "a2", 2, elastic=5),
        of("a", "a3", 3),
        of("a", "eve's", 4, user="eve", elastic=1),
        of("b", "b", 5, elastic=2),
    )
    plan = schedule(Snapshot(10.0, NODES, waiting), limited)
    assert {name: len(given) for name, given in plan.starts.items()} == {"a1": 1, "a2": 1, "eve's": 2, "b": 3}
    assert codes(plan) == {"a3": ReasonCode.USER_LIMIT}


@EITHER
def test_a_core_takes_its_limit_back_from_its_own_and_as_few_as_needed(limited: Policy) -> None:
    active = (filling("a", "old", 3), filling("b", "others", 3, at_s=5.0))
    snapshot = Snapshot(10.0, NODES, (of("a", "new", 6, 2),), active)
    plan = schedule(snapshot, limited)
    assert gone(plan) == {"old": 2}, "of its own tenant, although `others` came last"
    assert codes(plan) == {"new": ReasonCode.MAKING_ROOM}
    assert [p.node for p in plan.reserved["new"]] == ["n"]
    assert not plan.elastic, "what it takes back is not given away again"


def test_a_users_limit_is_taken_back_from_the_users_own_alone() -> None:
    """Although another's of the same tenant, and of the same user elsewhere, came later."""
    active = (
        filling("a", "own", 3),
        filling("a", "another's", 1, at_s=4.0, user="eve"),
        filling("b", "elsewhere", 1, at_s=5.0),
    )
    plan = schedule(Snapshot(10.0, NODES, (of("a", "new", 6),), active), OF_USER)
    assert gone(plan) == {"own": 1}
    assert codes(plan) == {"new": ReasonCode.MAKING_ROOM}


def test_services_given_back_by_a_user_count_for_the_tenants_limit() -> None:
    """Six cores of the tenant at most, four of a user: two of the user's own do for both."""
    both = replace(OF_USER, tenant_limits={"a": tenant_limit(cores_milli=6000)})
    active = (filling("a", "own", 3), filling("a", "another's", 1, at_s=4.0, user="eve"))
    plan = schedule(Snapshot(10.0, NODES, (of("a", "new", 6, 2),), active), both)
    assert gone(plan) == {"own": 2}


def test_excess_of_the_tenant_is_given_back_by_its_last_execution() -> None:
    both = replace(OF_USER, tenant_limits={"a": tenant_limit(cores_milli=5000)})
    active = (filling("a", "own", 3), filling("a", "another's", 1, at_s=4.0, user="eve"))
    plan = schedule(Snapshot(10.0, NODES, (of("a", "new", 6),), active), both)
    assert gone(plan) == {"own": 1, "another's": 1}
    assert codes(plan) == {"new": ReasonCode.MAKING_ROOM}


def test_where_one_of_two_limits_cannot_be_taken_back_nobody_goes() -> None:
    both = replace(OF_USER, tenant_limits={"a": tenant_limit(cores_milli=6000)})
    cores = started(of("a", "cores", 0, 5, user="eve"), "n")
    plan = schedule(Snapshot(10.0, NODES, (of("a", "new", 6, 2),), (filling("a", "own", 0), cores)), both)
    assert not plan.preempt
    assert codes(plan) == {"new": ReasonCode.TENANT_LIMIT}


@EITHER
def test_once_they_are_leaving_nobody_else_goes_and_the_core_starts_when_they_have_gone(
    limited: Policy,
) -> None:
    old = filling("a", "old", 3)
    going, *_ = old.elastic_services()
    leaving = apply(
        apply(old, ServiceStarting(at_s=2.0, service_id=going.id)),
        ServiceStopping(at_s=3.0, service_id=going.id, cause=Cause.PREEMPTED),
    )
    snapshot = Snapshot(10.0, NODES, (of("a", "new", 6),), (leaving,))
    plan = schedule(snapshot, limited)
    assert not plan.preempt
    assert codes(plan) == {"new": ReasonCode.MAKING_ROOM}
    left = apply(leaving, ServiceEnded(at_s=4.0, service_id=going.id, exit_code=0, cause=Cause.PREEMPTED))
    assert list(schedule(replace(snapshot, active=(left,)), limited).starts) == ["new"]


@EITHER
def test_cores_that_fill_a_limit_are_waited_for_and_so_is_everything_where_nothing_is_preempted(
    limited: Policy,
) -> None:
    waiting = (of("a", "new", 6, 2),)
    core = started(of("a", "old", 0, 3), "n")
    for active, policy in (
        ((core, filling("b", "others", 3)), limited),
        ((filling("a", "old", 3),), replace(limited, preemption="none")),
    ):
        plan = schedule(Snapshot(10.0, NODES, waiting, active), policy)
        assert not plan.preempt
        assert codes(plan) == {"new": ReasonCode.USER_LIMIT if limited is OF_USER else ReasonCode.TENANT_LIMIT}


@EITHER
@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
def test_backfilled_execution_takes_its_limit_back(limited: Policy, backfill: str) -> None:
    active = (filling("a", "old", 3), filling("b", "others", 0))
    short = of("a", "short", 8)
    short = replace(short, application=replace(short.application, expected_run_s=1.0))
    waiting = (of("b", "wide", 7, 8), short)
    plan = schedule(Snapshot(10.0, NODES, waiting, active), replace(limited, backfill=backfill))
    assert codes(plan) == {"wide": ReasonCode.NO_RESOURCES, "short": ReasonCode.MAKING_ROOM}
    assert gone(plan) == {"old": 1}


@EITHER
def test_services_that_free_the_limit_free_the_room_first(
    limited: Policy,
) -> None:
    full = (node("n", cores=6, memory_gib=18),)
    active = (filling("a", "old", 3), filling("b", "others", 1, at_s=5.0))
    plan = schedule(Snapshot(10.0, full, (of("a", "new", 6),), active), limited)
    assert gone(plan) == {"old": 1}
