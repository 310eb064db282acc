"""In which sequence executions are served: by priority and order, interactive ones and tenants in their turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from zoe_lib.domain.application import ApplicationKind
from zoe_lib.domain.execution import ACTIVE_STATES, Execution, ServiceId
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.resources import Resources, total
from zoe_master.scheduler.ordering.bandwidth import Guarantees
from zoe_master.scheduler.ordering.capacity import capacity_of
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.orders import ORDERS, SIZED_ORDERS, QueueContext
from zoe_master.scheduler.ordering.ranking import RankedQueue, in_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.ordering.tenancy import (
    TenantTurns,
    by_dominant_share,
    by_tenant,
    elastic_turns,
    interactive_first,
)
from zoe_master.scheduler.ordering.virtual_time import NOBODY, VirtualTime, arrival_of, virtual_time


class Queue:
    """The sequence for one snapshot under one policy.

    `virtual` is the emulation for `psbs` if there is one already, advanced to the snapshot's time.
    """

    def __init__(self, snapshot: Snapshot, policy: Policy, virtual: VirtualTime | None = None) -> None:
        self.estimates = snapshot.estimates()
        self.holdings = TenantReservations(snapshot.active, policy)
        self.guarantees = Guarantees(snapshot.active, snapshot.storage, policy, self.estimates, snapshot.now_s)
        self._snapshot = snapshot
        self._policy = policy
        usage = _usage_over_due(snapshot, policy) if policy.order == "fair-share" else {}
        if virtual is None:
            virtual = self._virtual_time() if policy.order == "psbs" else NOBODY
        self.virtual = virtual
        capacity = capacity_of(snapshot.nodes) if policy.order in SIZED_ORDERS else Resources()
        self._moment = QueueContext(snapshot.now_s, policy, self.estimates, usage, virtual, capacity)

    def ranked(self, executions: Iterable[Execution]) -> Sequence[Execution]:
        """Higher priority first, then the policy's order, then who came first; ties by id."""
        if isinstance(executions, RankedQueue) and in_sequence(executions, self._policy, self._moment.capacity):
            return executions
        if self._policy.order == "fifo":  # the cheapest
            return sorted(executions, key=lambda e: (-e.priority, e.submitted_at_s, e.id))
        key, moment = ORDERS[self._policy.order], self._moment
        return sorted(executions, key=lambda e: (-e.priority, *key(e, moment), e.submitted_at_s, e.id))

    def sequence(self) -> Sequence[Execution]:
        """What waits, as the pass looks at it."""
        policy, snapshot = self._policy, self._snapshot
        result = self.ranked(snapshot.queued)
        if policy.interactive_share > 0:
            held = total(
                map(self._staying, (e for e in snapshot.active if e.application.kind is ApplicationKind.INTERACTIVE))
            )
            result = interactive_first(result, held, policy.interactive_share, self._cluster())
        if policy.tenants == "drf":
            of_tenants = {tenant: total(map(self._staying, its)) for tenant, its in by_tenant(snapshot.active).items()}
            result = by_dominant_share(result, of_tenants, policy.tenant_shares, self._cluster())
        return result

    def _staying(self, execution: Execution) -> Resources:
        """What it holds that no core can take back. Were elastic services counted, taking them back would change whose
        turn it is, and giving them again would change it back, for ever."""
        takes_back = self._policy.preemption == "elastic"
        return total(
            execution.component_of(s).reservation
            for s in execution.services
            if s.node is not None and s.alive and (s.core or not takes_back)
        )

    def elastic_turns(self, ordered: Iterable[Execution]) -> Mapping[ServiceId, int] | None:
        """The turn of each elastic service that runs, where tenants take turns: the last ones are given back first."""
        if self._policy.tenants != "drf":
            return None
        return elastic_turns(ordered, self._snapshot.active, self._policy.tenant_shares, self._cluster())

    def turns(self, executions: Iterable[Execution]) -> TenantTurns | None:
        """The turns of these executions' tenants by what they hold now; None where the order alone counts."""
        if self._policy.tenants != "drf":
            return None
        held = {execution.tenant: self.holdings.of(execution.tenant) for execution in executions}
        return TenantTurns(held, self._policy.tenant_shares, self._cluster())

    def span(self, execution: Execution) -> tuple[float, float]:
        """From when until when it is expected to use what it gets now."""
        now_s = self._snapshot.now_s
        if execution.state in ACTIVE_STATES:
            return now_s, self.estimates.end_s(execution, now_s)
        return now_s, now_s + self.estimates.run_s(execution)

    def _virtual_time(self) -> VirtualTime:
        """Processor sharing of the present cluster by all that is there and by what ended last."""
        snapshot = self._snapshot
        present = (arrival_of(e, self.estimates) for e in (*snapshot.queued, *snapshot.active))
        return virtual_time((*snapshot.departed, *present), self._cluster().cores_milli, snapshot.now_s)

    def _cluster(self) -> Resources:
        return total(node.usable for node in self._snapshot.nodes)


def order_queue(queued: Sequence[Execution], now_s: float, policy: Policy) -> Sequence[Execution]:
    """The sequence of what waits on a cluster of which nothing is known."""
    return Queue(Snapshot(now_s, queued=tuple(queued)), policy).sequence()


def _usage_over_due(snapshot: Snapshot, policy: Policy) -> Mapping[str, float]:
    """Each tenant's share of what all used lately over the share that is due to it; 1 is just right."""
    tenants = sorted({e.tenant for e in snapshot.queued} | set(snapshot.used))
    due = {tenant: policy.tenant_shares.get(tenant, 1.0) for tenant in tenants}
    used, shares = sum(snapshot.used.values()), sum(due.values())
    if used <= 0:
        return {}
    return {tenant: (snapshot.used.get(tenant, 0.0) / used) * (shares / due[tenant]) for tenant in tenants}
