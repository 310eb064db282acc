"""Invariants of limits: no tenant or user gets more cores and memory than the policy allows, or is refused within its
limits.

Everything is summed up again over plain lists of services by execution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from lab.invariants.room import Room, cores_of, counts_for, leaving
from zoe_lib.domain.cluster.policy import Policy, limits_of
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution, ExecutionId, Mark, Service
from zoe_lib.domain.executions.limits import Limit, LimitSubject
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

_REFUSALS = (ReasonCode.TENANT_LIMIT, ReasonCode.USER_LIMIT)
# An execution, and one of its services.
Part = tuple[Execution, Service]


def limit_problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Yield holders above a limit, and executions that are refused although only elastic services fill it, as
    sentences.
    """
    if policy.limits.can_delay_executions():
        yield from _given_too_much(snapshot, policy, plan)
    if policy.preemption == "elastic":
        yield from _refused_too_early(snapshot, policy, plan)


def _given_too_much(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Yield each breach of a limit; a holder above one amount may get more of the others."""
    known = {e.id: e for e in (*snapshot.queued, *snapshot.active)}
    given = [*_parts(known, plan.starts), *_parts(known, plan.elastic)]
    kept = list(_parts(known, plan.reserved))
    held = [(e, s) for e in snapshot.active for s in e.services if s.node is not None and s.alive]
    going = {service_id for services in plan.preempt.values() for service_id in services}
    staying = [(e, s) for e, s in held if s.id not in going and not leaving(e, s)]
    for holder, limit in dict.fromkeys(
        item for e, _ in (*given, *kept) for item in limits_of(policy, e.tenant, e.user)
    ):
        if _exceeds(limit, _sum(given, holder), _sum(held, holder)):
            yield f"{_name(holder)} gets more than {limit}"
        if _exceeds(limit, _sum(kept, holder), _sum([*staying, *given], holder)):
            yield f"a place is kept for {_name(holder)} beyond {limit}"


def _refused_too_early(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Yield refusals that limits do not justify, except by bandwidth. A later execution may wait for the same limit as
    the first.
    """
    firsts: set[LimitSubject] = set()
    for execution in _refused_by_limit(snapshot, policy, plan):
        holder, limit = _refusing(execution, policy, plan)
        if _exceeds(limit, execution.application.core_resources(), cores_of(snapshot, plan, holder)):
            firsts.add(holder)
        elif holder not in firsts and required_rates(execution.application) is None:
            yield f"{execution.id} was refused for {plan.reasons[execution.id].code}, though elastic services fill it"


def line_problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Yield executions with a place that delay the first one waiting for the same limit, and executions that wait
    without need.

    The expected ends are computed again. The check follows the order of the queue, so it does not cover `easy-sjbf`,
    which considers the shortest first.
    """
    if policy.backfill == "easy-sjbf" or plan.placements >= policy.placements_per_tick_max:
        return
    ordered = list(queue_sequence(Pass.from_snapshot(snapshot, policy)))
    lines: dict[LimitSubject, Execution] = {}
    for execution in _refused_by_limit(snapshot, policy, plan):
        holder, limit = _refusing(execution, policy, plan)
        core = execution.application.core_resources()
        alone = not _exceeds(limit, core, Resources()) and Room(snapshot.nodes).has_room_for(execution)
        if alone and holder not in lines and _exceeds(limit, core, cores_of(snapshot, plan, holder)):
            lines[holder] = execution
    for holder, first in lines.items():
        _, limit = _refusing(first, policy, plan)
        behind = ordered[ordered.index(first) + 1 :]
        passed = [e for e in behind if counts_for(e, holder) and (e.id in plan.starts or e.id in plan.reserved)]
        without = {e.id for e in passed}
        starts_s = _starts_s(snapshot, policy, plan, holder, first, limit, without)
        if any(_end_s(snapshot, policy, e) > starts_s for e in passed):
            held = _held_at(snapshot, policy, plan, holder, starts_s, set())
            if _exceeds(limit, first.application.core_resources(), held):
                yield f"{first.id} waits for a limit of {_name(holder)}, and {without} that come later delay it"


def _refused_by_limit(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[Execution]:
    """Return the executions that a limit refuses, in the order of the queue."""
    limited = {e.id for e in snapshot.queued if (r := plan.reasons.get(e.id)) is not None and r.code in _REFUSALS}
    return (e for e in queue_sequence(Pass.from_snapshot(snapshot, policy)) if e.id in limited) if limited else iter(())


def _refusing(execution: Execution, policy: Policy, plan: Plan) -> tuple[LimitSubject, Limit]:
    of_user = plan.reasons[execution.id].code is ReasonCode.USER_LIMIT
    holder = LimitSubject(execution.tenant, execution.user if of_user else None)
    return holder, dict(limits_of(policy, execution.tenant, execution.user)).get(holder, Limit())


def _starts_s(
    snapshot: Snapshot,
    policy: Policy,
    plan: Plan,
    holder: LimitSubject,
    first: Execution,
    limit: Limit,
    without: set[str],
) -> float:
    """Return when the limit is expected to admit it if the executions in `without` had got nothing; infinite for
    never.
    """
    ends = {snapshot.now_s, *(_end_s(snapshot, policy, e) for e in (*snapshot.active, *snapshot.queued))}
    core = first.application.core_resources()
    fits = (
        at_s
        for at_s in sorted(ends)
        if not _exceeds(limit, core, _held_at(snapshot, policy, plan, holder, at_s, without))
    )
    return next(fits, math.inf)


def _held_at(
    snapshot: Snapshot, policy: Policy, plan: Plan, holder: LimitSubject, at_s: float, without: set[str]
) -> Resources:
    """Return the resources that the holder is expected to hold beyond that time and that no core can take back."""
    keeps = policy.preemption == "none"
    held = [
        execution.component_of(service).reservation
        for execution in snapshot.active
        if counts_for(execution, holder) and _end_s(snapshot, policy, execution) > at_s
        for service in execution.services
        if service.node is not None and service.alive and (service.core or keeps) and not leaving(execution, service)
    ]
    placed = [
        execution.component_of(service).reservation
        for execution, service in _parts({e.id: e for e in snapshot.queued}, {**plan.starts, **plan.reserved})
        if execution.id not in without and counts_for(execution, holder) and _end_s(snapshot, policy, execution) > at_s
        if service.core
    ]
    return total([*held, *placed])


def _end_s(snapshot: Snapshot, policy: Policy, execution: Execution) -> float:
    estimates = snapshot.estimates(limits_first=policy.limits_first)
    if Mark.PLACED in execution.marks and execution.state in ACTIVE_STATES:
        return estimates.release_s(execution, snapshot.now_s)
    return snapshot.now_s + estimates.guess_s(execution)


def _parts(known: Mapping[ExecutionId, Execution], placed: Mapping[ExecutionId, Iterable[Placement]]) -> Iterator[Part]:
    for execution_id, placements in placed.items():
        for placement in placements:
            yield known[execution_id], known[execution_id].service(placement.service_id)


def _sum(parts: Iterable[Part], holder: LimitSubject) -> Resources:
    return total(e.component_of(s).reservation for e, s in parts if counts_for(e, holder))


def _exceeds(limit: Limit, more: Resources, held: Resources) -> bool:
    return any(
        most is not None and wanted > 0 and has + wanted > most
        for most, wanted, has in (
            (limit.cores_milli, more.cores_milli, held.cores_milli),
            (limit.memory_bytes, more.memory_bytes, held.memory_bytes),
        )
    )


def _name(holder: LimitSubject) -> str:
    return holder.tenant if holder.user is None else f"{holder.user} in {holder.tenant}"
