"""The plan for an application submitted now, and the smallest change with which it would start. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, new_services
from zoe_lib.domain.executions.instances import ComponentCounts
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.booked import booked_ledger
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.budget import NODES_OF_A_STEP, GiveUp, OutOfBudget, never
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.what_if.exact_reason import exact_reason
from zoe_master.scheduler.what_if.missing_instances import missing_instances, planned_instances

# The smallest size tried is a sixteenth, in multiples of a grain, which is doubled until there are at most a thousand.
_LEAST_SHARE = 16
_STEPS_MAX = 1024
# The search for a change takes up to a dozen passes over the queue for each part of each component.
_QUEUE_MAX = 2_000


class ComponentPart(StrEnum):
    """The part of a component that may shrink."""

    ESSENTIAL_COUNT = "essential_count"
    MEMORY = "memory_bytes"
    CORES = "cores_milli"


_GRAIN = {ComponentPart.ESSENTIAL_COUNT: 1, ComponentPart.MEMORY: 16 * 2**20, ComponentPart.CORES: 100}


@value(frozen=True, slots=True)
class ComponentChange:
    """A smaller core that would start now: the component, its part, and the amounts before and after."""

    component: str
    part: ComponentPart
    before: int
    after: int


@value(frozen=True, slots=True)
class PlanProposal:
    """Whether an application would start now; if not, why, how many are ahead, and a helpful change (None: nothing
    smaller).

    With the reason `never_fits` it never starts. `change_sought` is False if no change was sought, because the queue is
    too long, or the search was given up. `instances`: of each component with elastic ones, the first number without a
    start 0; `fewer`: why it would start with fewer than the preferred ones.
    """

    starts_now: bool
    reason: Reason | None = None
    ahead: int = 0
    change: ComponentChange | None = None
    change_sought: bool = True
    instances: Sequence[ComponentCounts] = ()
    fewer: Reason | None = None


def propose(
    snapshot: Snapshot, policy: Policy, execution: Execution, too_late: GiveUp = never, give_up: GiveUp = never
) -> PlanProposal:
    """Return the next pass's decision for the application, behind all waiting executions; OutOfBudget when `too_late`
    returns True.

    `give_up` ends only the search for a change.
    """
    with_it = _snapshot_with(snapshot, execution)
    plan = schedule(with_it, policy, too_late)
    instances = planned_instances(execution, plan)
    if execution.id in plan.starts:
        fewer = missing_instances(with_it, policy, execution, plan, too_late)
        return PlanProposal(True, instances=instances, fewer=fewer)
    present = Pass.from_snapshot(with_it, policy)
    ordered = queue_sequence(present)
    ahead = next(i for i, e in enumerate(ordered) if e.id == execution.id)
    change, sought = smallest_change(snapshot, policy, execution, give_up)
    placer = ServicePlacer(booked_ledger(with_it, policy), policy, present.span, too_late, present.leaves_s)
    reason = exact_reason(execution, plan.reasons[execution.id], placer)
    return PlanProposal(False, reason, ahead, change, sought, instances)


def starts_together(
    snapshot: Snapshot, policy: Policy, executions: Sequence[Execution], too_late: GiveUp = never
) -> tuple[int, Reason | None]:
    """Return how many of several executions submitted together would start in the next pass, and why the first of the
    others would not; OutOfBudget when `too_late` returns True.
    """
    plan = schedule(replace(snapshot, queued=(*snapshot.queued, *executions)), policy, too_late)
    waiting = [plan.reasons.get(execution.id) for execution in executions if execution.id not in plan.starts]
    why = next((reason for reason in waiting if reason and reason.code != ReasonCode.BEHIND_IN_QUEUE), None)
    return len(executions) - len(waiting), why or next(iter(waiting), None)


def smallest_change(
    snapshot: Snapshot, policy: Policy, execution: Execution, give_up: GiveUp = never
) -> tuple[ComponentChange | None, bool]:
    """Return the smallest change of one component's core, as a share of it, that lets the application start now, if
    any.

    Also return whether all changes were tried: not in a very long queue, nor after giving up.
    """
    if len(snapshot.queued) > _QUEUE_MAX:
        return None, False
    try:
        return _smallest_change(snapshot, policy, execution, give_up), True
    except OutOfBudget:
        return None, False


def _smallest_change(
    snapshot: Snapshot, policy: Policy, execution: Execution, give_up: GiveUp
) -> ComponentChange | None:

    def starts(application: Application) -> bool:
        if give_up(1 + len(snapshot.queued) + len(snapshot.nodes) // NODES_OF_A_STEP):
            raise OutOfBudget
        services = new_services(execution.id, application, execution.attempt)
        changed = replace(execution, application=application, services=services)
        return changed.id in schedule(_snapshot_with(snapshot, changed), policy, give_up).starts

    found: list[tuple[float, ComponentChange]] = []
    for component in execution.application.components:
        for part, before in _shrinkable(component):
            after = _most_that_starts(execution.application, component, part, before, starts)
            if after is not None:
                found.append((1 - after / before, ComponentChange(component.name, part, before, after)))
    return min(found, key=lambda item: (item[0], item[1].component, item[1].part))[1] if found else None


def _shrinkable(component: Component) -> Iterator[tuple[ComponentPart, int]]:
    if component.essential_count == 0:
        return
    for part, before in (
        (ComponentPart.ESSENTIAL_COUNT, component.essential_count),
        (ComponentPart.MEMORY, component.reservation.memory_bytes),
        (ComponentPart.CORES, component.reservation.cores_milli),
    ):
        if before > 1:
            yield part, before


def _most_that_starts(
    application: Application,
    component: Component,
    part: ComponentPart,
    before: int,
    starts: Callable[[Application], bool],
) -> int | None:
    """Bisect over multiples of the part's grain, since less never needs more room."""
    grain = _GRAIN[part]
    while before > grain * _STEPS_MAX:
        grain *= 2
    least = max(before // _LEAST_SHARE, 1)
    low, high = math.ceil(least / grain), math.ceil(before / grain)
    if low >= high or not starts(_shrunk(application, component, part, low * grain)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if starts(_shrunk(application, component, part, middle * grain)):
            low = middle
        else:
            high = middle
    return low * grain


def _shrunk(application: Application, component: Component, part: ComponentPart, value: int) -> Application:
    reservation = component.reservation
    match part:
        case ComponentPart.ESSENTIAL_COUNT:
            smaller = replace(component, essential_count=value)
        case ComponentPart.MEMORY:
            smaller = replace(component, reservation=replace(reservation, memory_bytes=value))
        case ComponentPart.CORES:
            smaller = replace(component, reservation=replace(reservation, cores_milli=value))
    return replace(application, components=tuple(smaller if c is component else c for c in application.components))


def _snapshot_with(snapshot: Snapshot, execution: Execution) -> Snapshot:
    return replace(snapshot, queued=(*snapshot.queued, execution))
