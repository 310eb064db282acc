"""The sequence in which executions are served: by priority, order, precedence of interactive ones, and turns of
tenants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution, ServiceId
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.ordering.capacity import capacity_of
from zoe_master.scheduler.ordering.columns import sorted_by_columns
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.orders import ORDERS, SIZED_ORDERS, QueueContext
from zoe_master.scheduler.ordering.ranking import RankedQueue, in_columns, in_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.ordering.tenancy import (
    TenantTurns,
    by_dominant_share,
    by_tenant,
    elastic_turns,
    interactive_first,
)
from zoe_master.scheduler.ordering.virtual_time import NOBODY, VirtualTime, arrival_of, virtual_time


@value(frozen=True, slots=True)
class Pass:
    """The input of one pass of the scheduler: the snapshot, the policy, and data for orders."""

    snapshot: Snapshot
    policy: Policy
    moment: QueueContext

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, policy: Policy, virtual: VirtualTime | None = None) -> Pass:
        """Return a pass; `virtual`: the emulation for `psbs`, if there is one already, advanced to the snapshot's
        time.
        """
        estimates = snapshot.estimates(limits_first=policy.limits_first)
        usage = _usage_over_due(snapshot, policy) if policy.order == "fair-share" else {}
        if virtual is None:
            virtual = _virtual_time(snapshot, estimates) if policy.order == "psbs" else NOBODY
        capacity = capacity_of(snapshot.nodes) if policy.order in SIZED_ORDERS else Resources()
        return cls(snapshot, policy, QueueContext(snapshot.now_s, policy, estimates, usage, virtual, capacity))

    @property
    def estimates(self) -> Estimates:
        """Return the expected run times of executions."""
        return self.moment.estimates

    def span(self, execution: Execution) -> tuple[float, float]:
        """Return begin and end of its expected use of resources placed now."""
        now_s = self.snapshot.now_s
        if execution.state in ACTIVE_STATES:
            return now_s, self.estimates.end_s(execution, now_s)
        return now_s, now_s + self.estimates.run_s(execution)

    def leaves_s(self, execution: Execution) -> float:
        """Return when its use of resources placed now has ended for certain; a promised one keeps its booked time."""
        if execution.promise is not None:
            return self.span(execution)[1]
        return self.estimates.latest_end_s(execution, self.snapshot.now_s)


def rank_executions(executions: Iterable[Execution], moment: QueueContext) -> Sequence[Execution]:
    """Return executions by priority, then by the policy's order, then by arrival; ties by id."""
    policy = moment.policy
    if isinstance(executions, RankedQueue) and in_sequence(executions, policy, moment.capacity):
        return executions
    if isinstance(executions, RankedQueue) and in_columns(executions, policy, moment.capacity):
        return sorted_by_columns(executions, executions.columns, moment.now_s)
    if policy.order == "fifo":  # the cheapest
        return sorted(executions, key=lambda e: (-e.priority, e.submitted_at_s, e.id))
    key = ORDERS[policy.order]
    return sorted(executions, key=lambda e: (-e.priority, *key(e, moment), e.submitted_at_s, e.id))


def queue_sequence(present: Pass) -> Sequence[Execution]:
    """Return the waiting executions in the sequence of the pass."""
    policy, snapshot = present.policy, present.snapshot
    result = rank_executions(snapshot.queued, present.moment)
    takes_back = policy.preemption == "elastic"
    if policy.interactive_share > 0:
        interactive = (e for e in snapshot.active if e.application.kind is ApplicationKind.INTERACTIVE)
        held = total(_staying(e, takes_back) for e in interactive)
        result = interactive_first(result, held, policy.interactive_share, _cluster(snapshot))
    if policy.tenants == "drf":
        of_tenants = {
            tenant: total(_staying(e, takes_back) for e in executions)
            for tenant, executions in by_tenant(snapshot.active).items()
        }
        result = by_dominant_share(result, of_tenants, policy.tenant_shares, _cluster(snapshot))
    return result


def turns_of_elastic(
    ordered: Iterable[Execution], snapshot: Snapshot, policy: Policy
) -> Mapping[ServiceId, int] | None:
    """Return the turn of each running elastic service if tenants take turns; the last ones are given back first."""
    if policy.tenants != "drf":
        return None
    return elastic_turns(ordered, snapshot.active, policy.tenant_shares, _cluster(snapshot))


def turns_of_tenants(
    executions: Iterable[Execution], holdings: TenantReservations, snapshot: Snapshot, policy: Policy
) -> TenantTurns | None:
    """Return the turns of these executions' tenants by their present resources; None where the order alone counts."""
    if policy.tenants != "drf":
        return None
    held = {execution.tenant: holdings.reserved_by(execution.tenant) for execution in executions}
    return TenantTurns(held, policy.tenant_shares, _cluster(snapshot))


def _staying(execution: Execution, takes_back: bool) -> Resources:
    """Return its resources that no core can take back. If elastic services counted, taking them back would change whose
    turn it is, and giving them again would change it back, for ever.
    """
    return total(
        execution.component_of(s).reservation
        for s in execution.services
        if s.node is not None and s.alive and (s.core or not takes_back)
    )


def _virtual_time(snapshot: Snapshot, estimates: Estimates) -> VirtualTime:
    """Return processor sharing of the present cluster, emulated from present executions and the last ended ones."""
    present = (arrival_of(e, estimates) for e in (*snapshot.queued, *snapshot.active))
    return virtual_time((*snapshot.departed, *present), _cluster(snapshot).cores_milli, snapshot.now_s)


def _cluster(snapshot: Snapshot) -> Resources:
    return total(node.usable for node in snapshot.nodes)


def _usage_over_due(snapshot: Snapshot, policy: Policy) -> Mapping[str, float]:
    """Return each tenant's share of recent use, relative to its due share; 1 is fair."""
    tenants = sorted({e.tenant for e in snapshot.queued} | set(snapshot.used))
    due = {tenant: policy.tenant_shares.get(tenant, 1.0) for tenant in tenants}
    used, shares = sum(snapshot.used.values()), sum(due.values())
    if used <= 0:
        return {}
    return {tenant: (snapshot.used.get(tenant, 0.0) / used) * (shares / due[tenant]) for tenant in tenants}
