"""The effect of another policy on the present queue. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.frozen import value
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.placement import ServicePlacer


@value(frozen=True, slots=True)
class DryRun:
    """One pass under a policy: the waiting executions in its sequence, those that would start, and losses.

    `preempted`: number of elastic services that would have to stop. `window_ahead`: waiting executions that fit on the
    nodes, but may not have ended when these are drained or reserved; `without_limit`: those of them without a time
    limit and a declared run time. No step is carried out.
    """

    sequence: tuple[ExecutionId, ...]
    starts: tuple[ExecutionId, ...]
    preempted: int
    window_ahead: int = 0
    without_limit: int = 0


def dry_run(snapshot: Snapshot, policy: Policy, give_up: GiveUp = never) -> DryRun:
    """Run one pass over the present queue, with nodes held as this policy says. Raises OutOfBudget."""
    nodes = tuple(replace(node, holds=policy.holds_of(node.name, snapshot.now_s)) for node in snapshot.nodes)
    held = replace(snapshot, nodes=nodes)
    plan, present = schedule(held, policy, give_up), Pass.from_snapshot(held, policy)
    ordered = tuple(e.id for e in queue_sequence(present))
    starts = tuple(execution for execution in ordered if execution in plan.starts)
    ahead = list(_held_up_by_windows(present))
    unlimited = sum(present.leaves_s(execution) == math.inf for execution in ahead)
    return DryRun(ordered, starts, sum(map(len, plan.preempt.values())), len(ahead), unlimited)


def _held_up_by_windows(present: Pass) -> Iterator[Execution]:
    """Yield waiting executions that would fit on empty nodes only if they ended before a hold begins."""
    empty = present.snapshot.ledger().without_services()
    placer = ServicePlacer(empty, present.policy, present.span, leaves_s=present.leaves_s)
    as_planned = CapacityCheck(placer)
    without_windows = CapacityCheck(placer.as_if_leaving(present.snapshot.now_s, empty))
    for execution in present.snapshot.queued:
        if not as_planned.may_have_room(execution) and without_windows.may_have_room(execution):
            yield execution
