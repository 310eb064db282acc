"""Nobody is left behind whom the policy allowed to start, and nobody overtakes more than ageing allows.

The rules are those of the policy's definition, over `Room`'s plain accounts; they err on the silent side where counting
cannot tell (cores of several kinds on several nodes).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from zoe_lib.domain.execution import Execution, Mark
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.reasons import ReasonCode
from zoe_master.scheduler.estimate import Estimates
from zoe_master.scheduler.snapshot import Plan, Snapshot
from zoe_master.simulator.invariants.room import expected_start_s, room_of

# Rounding of logarithms and of sums of seconds.
_EQUAL = 1e-6
_ORDERS = ("fifo", "sjf", "srpt", "size", "hrrn", "las", "edf")
# Priority, urgency, submission where equal urgency is no matter of rounding; who is served first has the least.
_Turn = tuple[float, float, float]


def refused_for_room(snapshot: Snapshot, plan: Plan) -> Execution | None:
    """The first that found no room, which closed the door."""
    refused = (
        e
        for e in snapshot.queued
        if (reason := plan.reasons.get(e.id)) is not None and reason.code is ReasonCode.NO_RESOURCES
    )
    return next(refused, None)


def queue_problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """What is wrong with who starts and who waits, in words."""
    for execution in snapshot.queued:
        if execution.id not in plan.starts and execution.id not in plan.reasons:
            yield f"{execution.id} neither starts nor is told why it waits"
    if plan.placements >= policy.placements_per_tick_max:
        return  # whoever is beyond the bound waits for the next pass
    head = refused_for_room(snapshot, plan)
    if head is None:
        for execution in snapshot.queued:
            reason = plan.reasons.get(execution.id)
            if reason is not None and reason.code is ReasonCode.BEHIND_IN_QUEUE:
                yield f"{execution.id} waits behind nobody"
        return
    gives_way = policy.preemption == "elastic"
    if room_of(snapshot, plan, elastic_absent=gives_way, leaving_absent=True).fits(head):
        yield f"{head.id} was refused, though its core fits once elastic services give way"
    yield from _overtaken(snapshot, policy, plan, head)
    if policy.backfill in ("easy", "easy-sjbf"):
        yield from _left_behind(snapshot, policy, plan, head)


def _left_behind(snapshot: Snapshot, policy: Policy, plan: Plan, head: Execution) -> Iterator[str]:
    """Those that fit now and would be gone before the first in the queue can start."""
    shadow_s = expected_start_s(snapshot, policy, plan, head)
    room, estimates = room_of(snapshot, plan, elastic_absent=False), Estimates(snapshot.past_runs)
    for execution in snapshot.queued:
        reason = plan.reasons.get(execution.id)
        if reason is None or reason.code is not ReasonCode.BEHIND_IN_QUEUE or shadow_s == math.inf:
            continue
        if snapshot.now_s + estimates.run_s(execution) <= shadow_s and room.fits(execution):
            yield f"{execution.id} was left behind, though it fits now and ends before {head.id} can start"


def _overtaken(snapshot: Snapshot, policy: Policy, plan: Plan, head: Execution) -> Iterator[str]:
    """Whoever comes first by the order waits behind nobody; nor does another start then, unless by backfill."""
    if policy.order not in _ORDERS or policy.tenants != "none" or policy.interactive_share > 0:
        return
    turn = _turn(head, snapshot, policy)
    for execution in snapshot.queued:
        its_turn = _turn(execution, snapshot, policy)
        reason = plan.reasons.get(execution.id)
        behind = reason is not None and reason.code is ReasonCode.BEHIND_IN_QUEUE
        if behind and _before(its_turn, turn):
            yield f"{execution.id} comes before {head.id} by {policy.order}, and waits behind it"
        if execution.id in plan.starts and policy.backfill == "none" and _before(turn, its_turn):
            yield f"{head.id} comes before {execution.id} by {policy.order}, which started"


def started_in_turn(snapshot: Snapshot, policy: Policy, plan: Plan, head: Execution) -> bool:
    """Whether one that started may have come before the first that waits; so for orders that are not known here."""
    started = [e for e in snapshot.queued if e.id in plan.starts]
    if policy.order not in _ORDERS or policy.tenants != "none" or policy.interactive_share > 0:
        return bool(started)
    last = _turn(head, snapshot, policy)
    return any(_turn(execution, snapshot, policy) <= last for execution in started)


def _before(one: _Turn, other: _Turn) -> bool:
    """Whether one comes first, beyond rounding."""
    same_but_for_rounding = one[0] == other[0] and one[1] != other[1] and one[1] + _EQUAL >= other[1]
    return one < other and not same_but_for_rounding


def _turn(execution: Execution, snapshot: Snapshot, policy: Policy) -> _Turn:
    """By the definitions of the orders."""
    if policy.order in ("fifo", "las", "edf"):
        return -execution.priority, _standing(execution, policy.order), execution.submitted_at_s
    return -execution.priority, _urgency(execution, snapshot, policy), 0.0


def _standing(execution: Execution, order: str) -> float:
    """What does not change while it waits: nothing, core-seconds held in earlier tries, the deadline."""
    if order == "edf":
        return math.inf if execution.deadline_s is None else execution.deadline_s
    if order == "fifo":
        return 0.0
    return sum(
        (s.ended_at_s - s.started_at_s) * execution.component_of(s).reservation.cores_milli / 1000
        for s in execution.services
        if s.started_at_s is not None and s.ended_at_s is not None
    )


def _urgency(execution: Execution, snapshot: Snapshot, policy: Policy) -> float:
    """Of orders by size, from what is known of it and how long it waits."""
    run_s = Estimates(snapshot.past_runs).run_s(execution)
    run_s = 3600.0 if run_s == math.inf else max(run_s, 1e-9)
    since_s = execution.submitted_at_s if execution.attempt == 1 else execution.marks[Mark.QUEUED]
    waited_s = snapshot.now_s - since_s
    if policy.order == "hrrn":
        return -(waited_s + run_s) / run_s
    size = run_s
    if policy.order == "size":
        size *= max(execution.application.total_resources().cores_milli, 1) / 1000
    return math.log2(size) - (waited_s / policy.ageing_s if policy.ageing_s > 0 else 0.0)
