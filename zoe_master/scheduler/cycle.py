"""One pass of the scheduler: a snapshot and a policy in, a plan out. Pure: the same input gives the same plan.

Every execution is examined once and every placement shrinks the ledger or ends a loop, so a pass takes O(queue x nodes
+ placements) and ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_master.scheduler.backfill.elastic import ElasticGiving
from zoe_master.scheduler.backfill.reclaim import ElasticReclaim
from zoe_master.scheduler.backfill.replacing import replace_missing
from zoe_master.scheduler.ordering.booked import booked_ledger, due_first
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.queue import (
    Pass,
    queue_sequence,
    rank_executions,
    turns_of_elastic,
    turns_of_tenants,
)
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.queue_pass import QueuePass


def schedule(snapshot: Snapshot, policy: Policy, give_up: GiveUp = never) -> Plan:
    """Decide which executions start, which elastic services they get, and why the others wait; OutOfBudget."""
    # 1. Account for running services.
    present, holdings = Pass.from_snapshot(snapshot, policy), TenantReservations(snapshot.active, policy)
    placer = ServicePlacer(booked_ledger(snapshot, policy), policy, present.span, give_up, present.leaves_s)
    # 2. Order queued and running executions: earlier ones get elastic services first and give them back last. Rigid
    # ones do neither, and only those whose room becomes free matter.
    ordered = due_first(queue_sequence(present), snapshot.bookings, snapshot.now_s)
    placer.check_budget()
    leaving = ExecutionState.STOPPING
    give_back = (e for e in snapshot.active if e.application.malleable or e.state is leaving)
    running = rank_executions(give_back, present.moment)
    # 3. Admit cores, all or none, in order, as if elastic services were absent; those in the way of a core must stop.
    # The first that still finds no room ends the walk; after it, only executions that the policy's backfill allows may
    # pass.
    turns_of_running = turns_of_elastic(running, snapshot, policy)
    reclaim = ElasticReclaim(placer, running, policy.preemption, turns_of_running, holdings.holders)
    walk = QueuePass(placer, reclaim, present, holdings)
    replaced = replace_missing(snapshot.active, placer, reclaim)
    walk.walk(ordered)
    starts = walk.starts
    # 4. The rest goes to elastic services in policy order, or in turns of tenants; a core takes it back when needed.
    candidates: Sequence[Execution] = [e for e in running if e.state is not leaving]
    started = [e for e, _ in walk.started if e.application.malleable]
    if started:
        candidates = rank_executions([*candidates, *started], present.moment)
    placements_left = policy.placements_per_tick_max - sum(map(len, starts.values()))
    if any(e.promise is not None and e.promise.notice is not None for e in candidates):
        candidates = sorted(candidates, key=_promise_is_safe)  # more services may still save a promise
    # Elastic services that no core can take back must leave the room that backfill has reserved for the first waiting
    # execution.
    growth = walk.growth() if policy.preemption == "none" else None
    turns = turns_of_tenants(candidates, holdings, snapshot, policy)
    giving = ElasticGiving(placer, holdings, snapshot.now_s, growth, gives_way=policy.preemption == "elastic")
    elastic = giving.in_order(candidates, placements_left, turns)
    for execution_id, placements in replaced.items():
        elastic[execution_id] = placements + elastic.get(execution_id, ())
    # 5. An execution that starts gets its elastic services with its core.
    for execution_id in starts.keys() & elastic.keys():
        starts[execution_id] += elastic.pop(execution_id)
    return Plan(
        starts=starts,
        elastic=elastic,
        reserved=reclaim.reserved,
        preempt=reclaim.preempted_services(),
        reasons=walk.reasons,
        scan_from=walk.scan_from,
    )


def _promise_is_safe(execution: Execution) -> bool:
    """Return False for executions with a promise at risk, which come first."""
    return execution.promise is None or execution.promise.notice is None
