from __future__ import annotations

from dataclasses import replace

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.what_if.missing_instances import missing_instances, planned_instances
from zoe_master.scheduler.what_if.proposal import propose

PLAIN = Policy()
WORKER = component("worker", essential_count=1, total_count=6, preferred_count=4)


def _why(execution: Execution, cores: int, policy: Policy = PLAIN) -> Reason | None:
    snapshot = Snapshot(10.0, nodes=(node("n1", cores),), active=(execution,))
    return missing_instances(snapshot, policy, execution, schedule(snapshot, policy))


def test_a_full_cluster_is_named_with_what_another_instance_needs() -> None:
    why = _why(started(queued("e", WORKER), "n1"), cores=2)
    assert why is not None
    assert why.code is ReasonCode.NO_RESOURCES
    assert why.sentence == (
        "Another instance of worker needs 1 core and 1 GiB, and no node has room for it (refused: 1 by resources)."
    )


def test_enough_instances_need_no_reason() -> None:
    assert _why(started(queued("e", WORKER), "n1"), cores=4) is None


def test_a_limit_of_the_tenant_is_named() -> None:
    policy = Policy(tenant_limits={"default": {"cores_milli": 2000}})
    why = _why(started(queued("e", WORKER), "n1"), 8, policy)
    assert why is not None
    assert why.code is ReasonCode.TENANT_LIMIT
    assert "Another instance of worker needs 1 core and 1 GiB, but the tenant holds 2 cores" in why.sentence


def test_failed_instances_are_no_lack_of_room() -> None:
    execution = started(queued("e", WORKER), "n1", "n1")
    failed = ev.ServiceEnded(at_s=5.0, service_id=execution.services[1].id, cause=Cause.EXITED, exit_code=1)
    execution = apply(execution, failed)
    snapshot = Snapshot(10.0, nodes=(node("n1", 8),), active=(execution,))
    plan = schedule(snapshot, Policy(placements_per_tick_max=1))
    assert [count.given for count in planned_instances(execution, plan)] == [2]
    waits = replace(execution, services=tuple(replace(s, not_before_s=99.0) for s in execution.services))
    why = missing_instances(snapshot, Policy(), waits, plan)
    assert why is not None
    assert why.code is ReasonCode.RETRY_BACKOFF


def test_a_plan_says_how_many_instances_it_would_start_with() -> None:
    found = propose(Snapshot(10.0, nodes=(node("n1", 3),)), Policy(), queued("e", WORKER))
    (count,) = found.instances
    assert (found.starts_now, count.given, count.preferred, count.total) == (True, 3, 4, 6)
    assert found.fewer is not None
    assert found.fewer.code is ReasonCode.NO_RESOURCES
