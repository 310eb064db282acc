"""The effect of losing nodes: what ends, starts again and waits longer. Pure; nothing is carried out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from itertools import islice

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import ElasticPlaced, Queued, StartPlanned, Submitted
from zoe_lib.domain.executions.execution import (
    Cause,
    Execution,
    ExecutionId,
    ExecutionState,
    Outcome,
    Service,
    ServiceId,
)
from zoe_lib.domain.lifecycle.consequences import will_retry
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.reasons import Reason
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.reasons import Reasons
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.budget import GiveUp, OutOfBudget, never
from zoe_master.scheduler.what_if.forecast import wait_of

# Waits that are forecast, of restarted executions and of waiting ones, each by a simulation of the queue.
_FORECAST_MAX = 20
_PASSES_MAX = 3  # that place something, after the loss and after the pause of what starts again
# Longer or shorter by less is no change for a forecast.
_SAME_S = 1.0


@value(frozen=True, slots=True)
class RestartedExecution:
    """An execution that loses essential services, so many of them, and starts again.

    starts_now: it would be placed on other nodes at once, or as soon as elastic services have made room. wait_s:
    seconds until its start, 0 if `starts_now`; None: unknown. reason: why it does not start now. misses_promise: it is
    expected to end after the promised time.
    """

    execution_id: ExecutionId
    services: int
    starts_now: bool
    wait_s: float | None
    reason: Reason | None
    misses_promise: bool


@value(frozen=True, slots=True)
class DelayedExecution:
    """A waiting execution that starts later: seconds from now; None: unknown, or never."""

    execution_id: ExecutionId
    before_s: float | None
    after_s: float | None


@value(frozen=True, slots=True)
class NodeLoss:
    """What the loss of nodes does to the present executions.

    failed: they lose so many essential services, and their attempts are used up. shrunk: executions that lose so many
    elastic services alone. booked: promised executions that wait, and whose places were booked on these nodes.
    longer: the first waiting executions by the policy whose expected start changes.
    """

    failed: tuple[tuple[ExecutionId, int], ...]
    restarts: tuple[RestartedExecution, ...]
    shrunk: tuple[tuple[ExecutionId, int], ...]
    booked: tuple[ExecutionId, ...]
    longer: tuple[DelayedExecution, ...]


def node_loss(snapshot: Snapshot, policy: Policy, nodes: Set[str], give_up: GiveUp = never) -> NodeLoss:
    """Return the effect of losing these nodes now. Raises OutOfBudget before the pass without them is complete."""
    hit = [(execution, _core_on(execution, nodes)) for execution in snapshot.active]
    ended = {execution.id: count for execution, count in hit if count}
    retried = [execution for execution in snapshot.active if execution.id in ended and _starts_again(execution, policy)]
    # What waits already is placed before what starts again, which pauses first.
    left, _ = _settled(_without(snapshot, nodes, ended.keys()), policy, give_up)
    after = replace(left, queued=(*left.queued, *map(_queued_again, retried)))
    settled, reasons = _settled(after, policy, give_up)
    placed = {execution.id for execution in settled.active}
    forecasts = _Waits(after, policy, give_up)
    restarts = []
    for execution in retried:
        now = execution.id in placed
        wait_s = 0.0 if now else forecasts.wait_s(execution.id)
        late = _is_late(execution, after, wait_s)
        reason = None if now else reasons.get(execution.id)
        restarts.append(RestartedExecution(execution.id, ended[execution.id], now, wait_s, reason, late))
    kept = {execution.id for execution in retried}
    return NodeLoss(
        tuple((execution_id, count) for execution_id, count in ended.items() if execution_id not in kept),
        tuple(restarts),
        tuple(_shrunk(snapshot.active, nodes, ended.keys())),
        tuple(sorted({b.execution_id for b in snapshot.bookings if any(name in nodes for name, _ in b.places)})),
        tuple(_longer(snapshot, policy, _Waits(snapshot, policy, give_up), forecasts)),
    )


class _Waits:
    """Forecasts of starts, as many as are affordable."""

    def __init__(self, snapshot: Snapshot, policy: Policy, give_up: GiveUp) -> None:
        self._snapshot, self._policy, self._give_up = snapshot, policy, give_up
        self._estimates = snapshot.estimates()
        self._left = 2 * _FORECAST_MAX

    def wait_s(self, execution_id: ExecutionId) -> float | None:
        """Return the seconds until the start; None if they are unknown, or no further forecast is affordable."""
        if not self._left or self._give_up():
            return None
        self._left -= 1
        try:
            found = wait_of(self._snapshot, self._policy, execution_id, self._estimates, self._give_up)
        except OutOfBudget:
            return None
        return None if found is None or found.seconds == math.inf else found.seconds


def _core_on(execution: Execution, nodes: Set[str]) -> int:
    return sum(service.core for service in _alive_on(execution, nodes))


def _alive_on(execution: Execution, nodes: Set[str]) -> Iterator[Service]:
    return (service for service in execution.current() if service.alive and service.node in nodes)


def _starts_again(execution: Execution, policy: Policy) -> bool:
    """Return whether an execution whose essential services are lost is tried again."""
    if execution.state is ExecutionState.STOPPING:
        return will_retry(execution, policy)
    return will_retry(replace(execution, outcome=Outcome.FAILED, cause=Cause.NODE_LOST), policy)


def _queued_again(execution: Execution) -> Execution:
    """Return the execution as it waits for its next attempt."""
    fresh = replace(
        execution,
        state=ExecutionState.SUBMITTED,
        services=(),
        marks={},
        outcome=None,
        cause=None,
        reason=None,
    )
    at_s = execution.submitted_at_s
    return apply(apply(fresh, Submitted(at_s=at_s)), Queued(at_s=at_s))


def _settled(snapshot: Snapshot, policy: Policy, give_up: GiveUp) -> tuple[Snapshot, Reasons]:
    """Return the snapshot after the next passes, and the reasons of what waits then."""
    plan = schedule(snapshot, policy, give_up)
    for _ in range(_PASSES_MAX):
        if not (plan.starts or plan.reserved or plan.elastic):
            break
        snapshot = _carried_out(snapshot, plan)
        plan = schedule(snapshot, policy, give_up)
    return snapshot, plan.reasons


def _carried_out(snapshot: Snapshot, plan: Plan) -> Snapshot:
    """Return the snapshot after a plan, and after the services that it stops."""
    starts = {**plan.starts, **plan.reserved}
    stopped = {service for services in plan.preempt.values() for service in services}
    placed = (
        apply(execution, StartPlanned(at_s=snapshot.now_s, placements=starts[execution.id]))
        for execution in snapshot.queued
        if execution.id in starts
    )
    active = [
        apply(execution, ElasticPlaced(at_s=snapshot.now_s, placements=plan.elastic[execution.id]))
        if execution.id in plan.elastic
        else execution
        for execution in (*(_shorn(execution, stopped) for execution in snapshot.active), *placed)
    ]
    queued = tuple(execution for execution in snapshot.queued if execution.id not in starts)
    return replace(snapshot, queued=queued, active=tuple(active), accounts=None)


def _without(snapshot: Snapshot, nodes: Set[str], ended: Set[ExecutionId]) -> Snapshot:
    """Return the snapshot after the loss."""
    return replace(
        snapshot,
        nodes=tuple(replace(node, ready=False) if node.name in nodes else node for node in snapshot.nodes),
        active=tuple(
            _shorn(execution, {service.id for service in _alive_on(execution, nodes)})
            for execution in snapshot.active
            if execution.id not in ended
        ),
        bookings=tuple(b for b in snapshot.bookings if not any(name in nodes for name, _ in b.places)),
        scan_from=0,
        accounts=None,
    )


def _shorn(execution: Execution, gone: Set[ServiceId]) -> Execution:
    """Return the execution without these services."""
    left = tuple(service for service in execution.services if service.id not in gone)
    return execution if len(left) == len(execution.services) else replace(execution, services=left)


def _shrunk(active: Iterable[Execution], nodes: Set[str], ended: Set[ExecutionId]) -> Iterator[tuple[ExecutionId, int]]:
    for execution in active:
        count = sum(1 for _ in _alive_on(execution, nodes))
        if count and execution.id not in ended:
            yield execution.id, count


def _is_late(execution: Execution, after: Snapshot, wait_s: float | None) -> bool:
    """Return whether a promised execution is expected to end too late, or to wait without a known end."""
    if execution.promise is None:
        return False
    run_s = after.estimates().run_s(execution)
    return wait_s is None or after.now_s + wait_s + run_s > execution.promise.terms.finish_s


def _longer(before: Snapshot, policy: Policy, past: _Waits, future: _Waits) -> Iterator[DelayedExecution]:
    """Yield the first waiting executions whose expected start changes."""
    sequence = queue_sequence(Pass.from_snapshot(before, policy))
    for execution in islice(sequence, _FORECAST_MAX):
        earlier_s, later_s = past.wait_s(execution.id), future.wait_s(execution.id)
        if earlier_s != later_s and (earlier_s is None or later_s is None or abs(later_s - earlier_s) >= _SAME_S):
            yield DelayedExecution(execution.id, earlier_s, later_s)
