"""Invariants of the queue: no execution that the policy allows to start is left behind, and none overtakes more than
ageing allows.

The rules follow the policy's definition, over the plain accounts of `Room`; if counting is not conclusive (cores of
several kinds on several nodes), they report nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from lab.invariants.room import Room, expected_start_s, room_of
from lab.invariants.turns import Turns
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode, holds_up_others
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot


def refused_for_room(snapshot: Snapshot, plan: Plan) -> Execution | None:
    """Return the first execution without room, which holds up the others; one that needs absent nodes does not."""
    refused = (e for e in snapshot.queued if (reason := plan.reasons.get(e.id)) is not None and holds_up_others(reason))
    return next(refused, None)


def queue_problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Yield violations in the choice of executions that start, as sentences."""
    empty = Room(snapshot.nodes)
    for execution in snapshot.queued:
        reason = plan.reasons.get(execution.id)
        if execution.id not in plan.starts and reason is None:
            yield f"{execution.id} neither starts nor has a reason to wait"
        lasting = reason is not None and reason.code in (
            ReasonCode.NODES_AWAY,
            ReasonCode.WINDOW_AHEAD,
            ReasonCode.FOREIGN_USE,
        )
        if reason is not None and lasting and empty.has_room_for(execution):
            yield f"{execution.id} has the reason {reason.code}, and its core fits on the present nodes"
    if plan.placements >= policy.placements_per_tick_max:
        return  # executions beyond the bound wait for the next pass
    head = refused_for_room(snapshot, plan)
    if head is None:
        for execution in snapshot.queued:
            reason = plan.reasons.get(execution.id)
            if reason is not None and reason.code is ReasonCode.BEHIND_IN_QUEUE:
                yield f"{execution.id} waits behind no other"
        return
    gives_way = policy.preemption == "elastic"
    if room_of(snapshot, plan, elastic_absent=gives_way, leaving_absent=True).has_room_for(head):
        yield f"{head.id} was refused, though its core fits once elastic services give way"
    yield from _overtaking_problems(snapshot, policy, plan, head)
    if policy.backfill in ("easy", "easy-sjbf"):
        yield from _left_behind(snapshot, policy, plan, head)


def _left_behind(snapshot: Snapshot, policy: Policy, plan: Plan, head: Execution) -> Iterator[str]:
    """Yield executions that fit, if elastic services are preempted, and would end before the first in the queue can
    start.

    Elastic services get what the whole queue leaves, so they do not extend the time.
    """
    shadow_s = expected_start_s(snapshot, policy, _cores_alone(snapshot, plan), head)
    gives_way, estimates = policy.preemption == "elastic", snapshot.estimates(limits_first=policy.limits_first)
    room = room_of(snapshot, plan, elastic_absent=gives_way, leaving_absent=True)
    for execution in snapshot.queued:
        reason = plan.reasons.get(execution.id)
        if reason is None or reason.code is not ReasonCode.BEHIND_IN_QUEUE or shadow_s == math.inf:
            continue
        if snapshot.now_s + estimates.guess_s(execution) <= shadow_s and room.has_room_for(execution):
            yield f"{execution.id} was left behind, though it fits and ends before {head.id} can start"


def _cores_alone(snapshot: Snapshot, plan: Plan) -> Plan:
    cores = {s.id for e in snapshot.queued if e.id in plan.starts for s in e.services if s.core}
    starts = {k: tuple(p for p in placements if p.service_id in cores) for k, placements in plan.starts.items()}
    return replace(plan, starts=starts)


def _overtaking_problems(snapshot: Snapshot, policy: Policy, plan: Plan, head: Execution) -> Iterator[str]:
    """Yield executions that wait although they come first by the policy, and starts before the first one except by
    backfill.
    """
    turns = Turns(snapshot, policy)
    for execution in snapshot.queued if turns.known else ():
        reason = plan.reasons.get(execution.id)
        behind = reason is not None and reason.code is ReasonCode.BEHIND_IN_QUEUE
        if behind and turns.precedes(execution, head):
            yield f"{execution.id} comes before {head.id} by {policy.order}, and waits behind it"
        if execution.id in plan.starts and policy.backfill == "none" and turns.precedes(head, execution):
            yield f"{head.id} comes before {execution.id} by {policy.order}, which started"


def started_in_turn(snapshot: Snapshot, policy: Policy, plan: Plan, head: Execution) -> bool:
    """Return whether an execution that got a place may precede the first waiting one."""
    given = [e for e in snapshot.queued if e.id in plan.starts or e.id in plan.reserved]
    if not given:
        return False
    turns = Turns(snapshot, policy)
    return any(turns.may_be_before(execution, head) for execution in given)
