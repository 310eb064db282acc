"""Invariants of conservative backfill: no execution that gets a place delays the promised start of an earlier one.

Everything is summed up again over plain lists of holders, amounts, nodes and times. Counting cannot tell the nodes of a
promise: these come from the placement, and run times from the estimates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lab.invariants.queue import refused_for_room
from lab.invariants.timetable import Timetable
from zoe_lib.domain.cluster.policy import Policy, limits_of
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot


def reservation_problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Yield executions with a place that delay others, and executions left behind, as sentences.

    Promises go to waiting executions in the order of the queue, up to the first one that the pass may not have
    considered: the rest of a limit or of the store's bandwidth changes during the pass.
    """
    blocked = _blocked_queue(snapshot, policy, plan) if policy.backfill == "conservative" else None
    if blocked is None:
        return
    head, table = blocked.head, blocked.table
    promised, promising = 0, True
    for execution in blocked.waiting:
        if given := blocked.given.get(execution.id):
            use = table.now(execution, given)
            if (late := table.delayed_by(use)) is not None:
                yield f"{execution.id} has a place, and delays {late.name}, which was to start at {late.begin_s:g} s"
            table.hold(use)
        elif promising and plan.reasons[execution.id].code in (ReasonCode.NO_RESOURCES, ReasonCode.BEHIND_IN_QUEUE):
            promising = execution is head or not _may_be_kept_back(execution, policy)
            promise = table.earliest(execution) if promising else None
            if promise is not None and promise.begin_s == snapshot.now_s:
                yield f"{execution.id} was left behind, though it would delay no other"
            elif promise is not None:
                table.hold(promise, promised=True)
            promised += 1
            promising &= promised < policy.backfill_depth_max


def passing_problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """With EASY, yield executions whose place delays the first waiting one, and executions that wait although theirs
    would not.
    """
    blocked = _blocked_queue(snapshot, policy, plan) if policy.backfill in ("easy", "easy-sjbf") else None
    if blocked is None:
        return
    head, table = blocked.head, blocked.table
    promise = table.earliest(head)
    if promise is None:
        return
    table.hold(promise, promised=True)
    passed = [
        table.now(execution, blocked.given[execution.id])
        for execution in blocked.waiting
        if execution.id in blocked.given
    ]
    for use in passed:
        if table.delayed_by(use) is not None:
            yield f"{use.name} has a place, and delays {head.id}, which was to start at {promise.begin_s:g} s"
        table.hold(use)
    for execution in blocked.waiting:
        reason = plan.reasons.get(execution.id)
        if reason is None or reason.code is not ReasonCode.BEHIND_IN_QUEUE or _may_be_kept_back(execution, policy):
            continue
        first = table.earliest(execution)
        if first is not None and first.begin_s == snapshot.now_s:
            yield f"{execution.id} was left behind, though it would not delay {head.id}"


@value(frozen=True, slots=True)
class _BlockedQueue:
    """A queue whose `head` waits for room; `table` has the places of earlier executions.

    `waiting`: the head and the ones behind it, in order. `given`: assigned and kept places of executions, by id.
    """

    head: Execution
    table: Timetable
    waiting: Sequence[Execution]
    given: Mapping[ExecutionId, Sequence[Placement]]


def _blocked_queue(snapshot: Snapshot, policy: Policy, plan: Plan) -> _BlockedQueue | None:
    """Return the blocked queue; None if no execution waits for room, or if bounds or unknowns exceed the rule of
    backfill.
    """
    head = refused_for_room(snapshot, plan)
    if head is None or plan.placements >= policy.placements_per_tick_max:
        return None
    present = Pass.from_snapshot(snapshot, policy)
    table = Timetable(present)
    if not table.known:
        return None
    ordered = queue_sequence(present)
    place = next(i for i, execution in enumerate(ordered) if execution.id == head.id)
    given = {e.id: given for e in ordered if (given := plan.starts.get(e.id) or plan.reserved.get(e.id))}
    for execution in ordered[:place]:
        if execution.id in given:
            table.hold(table.now(execution, given[execution.id]))
    return _BlockedQueue(head, table, ordered[place:], given)


def _may_be_kept_back(execution: Execution, policy: Policy) -> bool:
    limited = limits_of(policy, execution.tenant, execution.user)
    return bool(limited) or required_rates(execution.application) is not None
