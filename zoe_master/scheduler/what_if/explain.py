"""Explain why one execution is not running, in useful detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.locality import InputPlaces, places_of
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.booked import booked_ledger
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.admission import admit, core_requests
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.what_if.exact_reason import exact_reason
from zoe_master.scheduler.what_if.proposal import ComponentChange, smallest_change

_ABOUT_ITS_SIZE = (
    ReasonCode.NO_RESOURCES,
    ReasonCode.NODES_AWAY,
    ReasonCode.FOREIGN_USE,
    ReasonCode.TENANT_LIMIT,
    ReasonCode.USER_LIMIT,
    ReasonCode.BEHIND_IN_QUEUE,
)
# Maximum texts about nodes; a thousand components on a thousand nodes would make a million.
_TEXTS_MAX = 10_000
# Maximum named executions ahead: of the user, and of the tenant, whose operators see all.
_IDS_MAX = 10


@value(frozen=True, slots=True)
class Explanation:
    """The reason, the executions ahead, and by node and component the refusing filter with its reason.

    `ahead`: number of all, `ahead_of_tenant`: of the same tenant. `ahead_ids`: the first of the tenant and the first of
    the user; the API leaves out ids invisible to the client. `change`: the smallest one that would let it start now, if
    any; it is not sought in a very long queue, nor for longer than the client waits. `nodes` has at most 10,000 texts.
    `places`: how much of its inputs nodes hold.
    """

    reason: Reason | None
    ahead: int
    ahead_of_tenant: int
    ahead_ids: Sequence[ExecutionId]
    nodes: Mapping[str, Mapping[str, str]]
    change: ComponentChange | None = None
    places: Sequence[InputPlaces] = ()


def explain(
    snapshot: Snapshot, policy: Policy, execution_id: ExecutionId, too_late: GiveUp = never, give_up: GiveUp = never
) -> Explanation | None:
    """Return the explanation of a queued execution, by repeating the pass; None if it is not queued.

    The reason is None when the pass would start it now. Nodes are judged for each core component as the first to be
    placed on free resources, so a node without an entry could take one more of it. Raises OutOfBudget when `too_late`
    returns True; `give_up` ends only the search for a change.
    """
    execution = next((e for e in snapshot.queued if e.id == execution_id), None)
    if execution is None:
        return None
    plan = schedule(snapshot, policy, too_late)
    present = Pass.from_snapshot(snapshot, policy)
    ordered = queue_sequence(present)
    placer = ServicePlacer(booked_ledger(snapshot, policy), policy, present.span, too_late, present.leaves_s)
    nodes = {} if isinstance(admit(execution, placer), tuple) else _refusals(execution, placer)
    reason = exact_reason(execution, plan.reasons.get(execution_id), placer)
    position = ordered.index(execution)
    of_tenant = [e for e in ordered[:position] if e.tenant == execution.tenant]
    own = [e for e in of_tenant if e.user == execution.user]
    named = {e.id for e in (*of_tenant[:_IDS_MAX], *own[:_IDS_MAX])}
    ids = [e.id for e in of_tenant if e.id in named]
    change = _helpful_change(snapshot, policy, execution, reason, give_up)
    storage = execution.application.storage
    places = places_of(storage.inputs, execution.tenant, snapshot.locality) if storage is not None else ()
    return Explanation(reason, position, len(of_tenant), ids, nodes, change, places)


def _refusals(wanted: Execution, placer: ServicePlacer) -> dict[str, dict[str, str]]:
    nodes: dict[str, dict[str, str]] = {}
    texts = 0
    for request in core_requests(wanted, placer):
        refusals = placer.refusals(request)
        texts += len(refusals)
        if texts > _TEXTS_MAX and nodes:
            break
        for node, (_, text) in refusals.items():
            nodes.setdefault(node, {}).setdefault(request.component.name, text)
    return nodes


def _helpful_change(
    snapshot: Snapshot, policy: Policy, wanted: Execution, reason: Reason | None, give_up: GiveUp
) -> ComponentChange | None:
    if reason is None or reason.code not in _ABOUT_ITS_SIZE:
        return None
    others = tuple(e for e in snapshot.queued if e.id != wanted.id)
    return smallest_change(replace(snapshot, queued=others), policy, wanted, give_up)[0]
