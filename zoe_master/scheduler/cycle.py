"""One pass of the scheduler: a snapshot and a policy in, a plan out. Pure: the same input gives the same plan.

Every execution is looked at once and every placement shrinks the ledger or ends a loop, so a pass takes
O(queue x nodes + placements) and ends.
"""

from __future__ import annotations

from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.reasons import Reason, ReasonCode
from zoe_master.scheduler.admission import admit, refusal
from zoe_master.scheduler.elastic import give_elastic
from zoe_master.scheduler.ledger import Ledger
from zoe_master.scheduler.placement import Placer
from zoe_master.scheduler.queue import order_queue
from zoe_master.scheduler.reclaim import Reclaim
from zoe_master.scheduler.snapshot import Plan, Snapshot

_BACKOFF = Reason(ReasonCode.RETRY_BACKOFF, "It is tried again after a pause.", hint="`zoe show` gives the earlier end")
_MAKING_ROOM = Reason(
    ReasonCode.MAKING_ROOM,
    "Its core has its place and starts as soon as the services that are leaving there have ended.",
)
_NOT_SCANNED = Reason(
    ReasonCode.SCAN_LIMIT, "The queue is longer than one pass looks at.", hint="it is looked at when others have gone"
)


def schedule(snapshot: Snapshot, policy: Policy) -> Plan:
    """Decide which executions start, which elastic services they get, and why the others wait."""
    # 1. Account for what runs.
    placer = Placer(Ledger(snapshot.nodes, snapshot.active), policy)
    # 2. Order the queue.
    ordered = order_queue(snapshot.queued, snapshot.now_s, policy)
    # 3. Admit cores, all or none, in order, as if elastic services were absent; those in the way of a core must go.
    #    The first that finds no room even so closes the door behind it.
    reclaim = Reclaim(placer, snapshot.active)
    starts, reasons = _admit_in_order(ordered, placer, reclaim, snapshot, policy)
    # 4. What no core can use goes to elastic services, running executions first: a core takes it back when it can.
    candidates = [e for e in snapshot.active if e.state is not ExecutionState.STOPPING]
    candidates += [e for e in ordered if e.id in starts]
    left = policy.placements_per_tick_max - sum(map(len, starts.values()))
    elastic = give_elastic(candidates, placer, snapshot.now_s, left)
    # 5. An execution that starts gets its elastic services with its core.
    for execution_id in starts.keys() & elastic.keys():
        starts[execution_id] += elastic.pop(execution_id)
    return Plan(starts=starts, elastic=elastic, reserved=reclaim.reserved, preempt=reclaim.preempted(), reasons=reasons)


def _admit_in_order(
    ordered: list[Execution], placer: Placer, reclaim: Reclaim, snapshot: Snapshot, policy: Policy
) -> tuple[dict[ExecutionId, tuple[Placement, ...]], dict[ExecutionId, Reason]]:
    starts: dict[ExecutionId, tuple[Placement, ...]] = {}
    reasons: dict[ExecutionId, Reason] = {}
    door: Reason | None = None
    placed = 0
    for position, execution in enumerate(ordered):
        reason = door if position < policy.queue_scan_max else _NOT_SCANNED
        if execution.not_before_s > snapshot.now_s:
            reason = _BACKOFF
        reason = snapshot.held.get(execution.id, reason)
        if reason is None:
            answer = admit(execution, placer)
            if isinstance(answer, tuple):
                starts[execution.id] = answer
                placed += len(answer)
                door = _NOT_SCANNED if placed >= policy.placements_per_tick_max else None
                continue
            reason = _MAKING_ROOM
            if not reclaim.make_room(execution):
                reason = refusal(execution, answer, placer)
                if reason.code is not ReasonCode.NEVER_FITS:
                    door = _behind(policy)
        reasons[execution.id] = reason
    return starts, reasons


def _behind(policy: Policy) -> Reason:
    return Reason(
        ReasonCode.BEHIND_IN_QUEUE,
        f"Others come first by the policy ({policy.order}); the first of them waits for room.",
        hint="`zoe explain` tells how many are ahead",
    )
