"""Why indices of an array wait, also before any of them has an execution, which would have a reason of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zoe_api.access.wire_forms import offers_reason, waits_for
from zoe_api.services.dependencies import Services
from zoe_client.vocabulary import ExecutionState, IndexState, ReasonCode
from zoe_lib.domain.executions.arrays import Array, ArrayId, awaits_list, member_id, member_of, requests_joint_promise
from zoe_lib.domain.executions.execution import WAITING_STATES, Execution
from zoe_lib.domain.executions.guaranteed import awaits_promise
from zoe_lib.domain.values.conditions import reason_of
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.store.errors import QuotaExceeded
from zoe_lib.store.values import ArrayRuns, ExecutionQuery

# The master keeps at most 100 executions of an array in the queue, and all of one with a joint promise.
_QUEUED_MAX = 100
# Executions that are counted for a list: some 30 ms.
_COUNTED_MAX = 20_000
Active = Mapping[ExecutionState, int]
"""Number of executions of active indices by state."""


def reason_of_array(services: Services, array: Array, active: Active) -> Reason | None:
    """Return why its waiting indices do not run; None if none waits, or the master has not considered them yet."""
    return _reason(services, array, active, _next_execution(services, array, active))


def reasons_of_arrays(
    services: Services, arrays: Sequence[Array], active: Mapping[ArrayId, Active]
) -> Mapping[ArrayId, Reason]:
    """Return why no index runs, for arrays of which none does; by their first indices, in one query for all."""
    still = [array for array in arrays if array.open_count and not _runs(active.get(array.id, {}))]
    firsts = {member_id(array.id, array.indices.lowest, array.run): array.id for array in still}
    asked = ExecutionQuery(ids=frozenset(firsts), states=WAITING_STATES, limit=max(len(firsts), 1))
    found = {firsts[one.id]: one for one in services.store.executions(asked).executions} if firsts else {}
    reasons = ((one.id, _reason(services, one, active.get(one.id, {}), found.get(one.id))) for one in still)
    return {array_id: reason for array_id, reason in reasons if reason is not None}


def runs_of_arrays(services: Services, arrays: Sequence[Array]) -> Mapping[ArrayId, ArrayRuns]:
    """Return how long arrays ran and why they failed, for the first ones with a bounded number of executions in all."""
    counted, executions = {}, 0
    for one in arrays:
        executions += (one.indices.count - one.count(IndexState.WAITING)) * one.run
        if executions > _COUNTED_MAX:
            break
        counted[one.id] = one.run
    return services.store.runs_of_arrays(counted, services.clock.now_s()) if executions else {}


def _runs(active: Active) -> bool:
    return any(number for state, number in active.items() if state not in WAITING_STATES)


def _next_execution(services: Services, array: Array, active: Active) -> Execution | None:
    """Return the waiting execution of its lowest index; a held one only if there is no other."""
    if not any(active.get(state) for state in WAITING_STATES):
        return None
    asked = ExecutionQuery(array_id=array.id, states=WAITING_STATES, limit=_QUEUED_MAX)
    found: Sequence[Execution] = ()
    if requests_joint_promise(array):
        first = member_id(array.id, array.indices.lowest)
        found = services.store.executions(
            ExecutionQuery(ids=frozenset({first}), states=WAITING_STATES, limit=1)
        ).executions
    found = found or services.store.executions(asked).executions
    return min(found, key=lambda one: (one.conditions.held is not None, _index(one)), default=None)


def _index(execution: Execution) -> int:
    member = member_of(execution.id)
    return 0 if member is None else member.index


def _reason(services: Services, array: Array, active: Active, queued: Execution | None) -> Reason | None:
    if not array.open_count:
        return None
    kept = reason_of(array.conditions, services.clock.now_s())
    if queued is not None and queued.offers is not None and awaits_promise(queued):
        return offers_reason(queued.offers, kept)  # the user has little time to answer
    if kept is not None:
        return kept
    if any(active.get(one) for one in WAITING_STATES):
        limited = requests_joint_promise(array) and _runs(active)
        limit = _own_limit(array, can_change=False) if limited else None
        return limit or (None if queued is None else waits_for(queued, clock=services.clock))
    if not array.count(IndexState.WAITING) or awaits_list(array):
        return None
    return _own_limit(array) or _limit_of_executions(services, array) or _partners(array)


def _own_limit(array: Array, *, can_change: bool = True) -> Reason | None:
    """Return that as many of its indices are active as it allows at once; `can_change`: users may change this limit."""
    if array.at_once is None or array.count(IndexState.ACTIVE) < array.at_once:
        return None
    number = "one index is" if array.at_once == 1 else f"{array.at_once} indices are"
    sentence = f"At most {number} active at once, by the limit of the array: the others run after them."
    hint = f"`zoe array modify {array.id} --at-once NUMBER` changes this limit" if can_change else ""
    return Reason(ReasonCode.DEPENDENCIES, sentence, {"at_once": array.at_once}, hint=hint)


def _limit_of_executions(services: Services, array: Array) -> Reason | None:
    """Return that the tenant, or the user in it, may have no more executions now."""
    limits, owner = services.store.policy().limits, (array.tenant, array.user)
    of_tenant, of_user = limits.for_subject(array.tenant).executions, limits.for_subject(*owner).executions
    if of_tenant is None and of_user is None:
        return None
    counts = services.store.active_counts()
    there = sum(number for (tenant, _), number in counts.items() if tenant == array.tenant)
    if of_tenant is not None and there >= of_tenant:
        return _quota(ReasonCode.TENANT_LIMIT, QuotaExceeded(array.tenant, of_tenant))
    if of_user is not None and counts.get(owner, 0) >= of_user:
        return _quota(ReasonCode.USER_LIMIT, QuotaExceeded(f"{array.user} in {array.tenant}", of_user))
    return None


def _quota(code: ReasonCode, why: QuotaExceeded) -> Reason:
    return Reason(code, f"No more executions may begin to wait or run: {why}.")


def _partners(array: Array) -> Reason | None:
    """Return that each index awaits another array. Its id may be hidden from a user who sees this array."""
    if not array.corr:
        return None
    others = "another array" if len(array.corr) == 1 else f"{len(array.corr)} other arrays"
    return Reason(ReasonCode.DEPENDENCIES, f"Each index runs after the same index of {others}.")
