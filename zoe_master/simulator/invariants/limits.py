"""No tenant, and no user in it, gets more cores and memory than the policy's limits allow, nor is refused less.

Everything is summed anew over plain lists of who has which service.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, ExecutionId, Service
from zoe_lib.domain.policy import Holder, Limit, Policy, UserLimit, limits_of
from zoe_lib.domain.promises import required
from zoe_lib.domain.reasons import ReasonCode
from zoe_lib.domain.resources import Resources, total
from zoe_master.scheduler.snapshot import Plan, Snapshot
from zoe_master.simulator.invariants.room import cores_of, counts_for, leaving

_REFUSALS = (ReasonCode.TENANT_LIMIT, ReasonCode.USER_LIMIT)
# What services of whom.
Part = tuple[Execution, Service]


def limit_problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Who gets more than a limit, and who is refused for one, though elastic services fill it; in words."""
    if policy.tenant_limits or policy.user_limits:
        yield from _given_too_much(snapshot, policy, plan)
    if policy.preemption == "elastic":
        yield from _refused_too_early(snapshot, policy, plan)


def _given_too_much(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Who holds more of something already may have more of the rest."""
    known = {e.id: e for e in (*snapshot.queued, *snapshot.active)}
    given = [*_parts(known, plan.starts), *_parts(known, plan.elastic)]
    kept = list(_parts(known, plan.reserved))
    held = [(e, s) for e in snapshot.active for s in e.services if s.node is not None and s.alive]
    going = {service_id for services in plan.preempt.values() for service_id in services}
    staying = [(e, s) for e, s in held if s.id not in going and not leaving(e, s)]
    for holder, limit in dict.fromkeys(one for e, _ in (*given, *kept) for one in limits_of(policy, e.tenant, e.user)):
        if _beyond(limit, _sum(given, holder), _sum(held, holder)):
            yield f"{_name(holder)} gets more than {limit}"
        if _beyond(limit, _sum(kept, holder), _sum([*staying, *given], holder)):
            yield f"a place is kept for {_name(holder)} beyond {limit}"


def _refused_too_early(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[str]:
    """Limits of bandwidth aside."""
    for execution in snapshot.queued:
        reason = plan.reasons.get(execution.id)
        if reason is None or reason.code not in _REFUSALS or required(execution.application) is not None:
            continue
        holder = Holder(execution.tenant, execution.user if reason.code is ReasonCode.USER_LIMIT else None)
        limit = dict(limits_of(policy, execution.tenant, execution.user)).get(holder, UserLimit())
        if not _beyond(limit, execution.application.core_resources(), cores_of(snapshot, plan, holder)):
            yield f"{execution.id} was refused for {reason.code}, though elastic services fill it"


def _parts(known: Mapping[ExecutionId, Execution], placed: Mapping[ExecutionId, Iterable[Placement]]) -> Iterator[Part]:
    for execution_id, placements in placed.items():
        for placement in placements:
            yield known[execution_id], known[execution_id].service(placement.service_id)


def _sum(parts: Iterable[Part], holder: Holder) -> Resources:
    return total(e.component_of(s).reservation for e, s in parts if counts_for(e, holder))


def _beyond(limit: Limit, more: Resources, held: Resources) -> bool:
    return any(
        most is not None and wanted > 0 and has + wanted > most
        for most, wanted, has in (
            (limit.cores_milli, more.cores_milli, held.cores_milli),
            (limit.memory_bytes, more.memory_bytes, held.memory_bytes),
        )
    )


def _name(holder: Holder) -> str:
    return holder.tenant if holder.user is None else f"{holder.user} in {holder.tenant}"
