"""The effect of another policy on the present queue. Pure."""

from __future__ import annotations

from dataclasses import replace

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.frozen import value
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.budget import GiveUp, never


@value(frozen=True, slots=True)
class DryRun:
    """One pass under a policy: the waiting executions in its sequence, those that would start, and losses.

    `preempted`: number of elastic services that would have to stop. No step is carried out.
    """

    sequence: tuple[ExecutionId, ...]
    starts: tuple[ExecutionId, ...]
    preempted: int


def dry_run(snapshot: Snapshot, policy: Policy, give_up: GiveUp = never) -> DryRun:
    """Run one pass over the present queue, with nodes held as this policy says. Raises OutOfBudget."""
    nodes = tuple(replace(node, holds=policy.holds_of(node.name, snapshot.now_s)) for node in snapshot.nodes)
    held = replace(snapshot, nodes=nodes)
    plan = schedule(held, policy, give_up)
    ordered = tuple(e.id for e in queue_sequence(Pass.from_snapshot(held, policy)))
    starts = tuple(execution for execution in ordered if execution in plan.starts)
    return DryRun(ordered, starts, sum(map(len, plan.preempt.values())))
