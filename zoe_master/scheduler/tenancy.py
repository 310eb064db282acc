"""What the policy does to tenants as wholes: their turns, and their limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

from zoe_lib.domain.execution import Execution, ServiceId
from zoe_lib.domain.policy import Policy, TenantLimit, limit_of
from zoe_lib.domain.reasons import Reason, ReasonCode
from zoe_lib.domain.resources import Resources

T = TypeVar("T")


class Holdings:
    """What each tenant's services reserve while a plan is made; not counted where the policy does not ask for it."""

    def __init__(self, active: Iterable[Execution], policy: Policy) -> None:
        self._policy = policy
        self._limits = policy.tenant_limits
        self._held: dict[str, Resources] = defaultdict(Resources)
        for execution in active if policy.tenant_limits or policy.tenants != "none" else ():
            for service in execution.services:
                if service.node is not None and service.alive:
                    self.take(execution.tenant, execution.component_of(service).reservation)

    def of(self, tenant: str) -> Resources:
        """What the tenant holds now."""
        return self._held.get(tenant, Resources())

    def take(self, tenant: str, amount: Resources) -> None:
        """The tenant gets so much more."""
        self._held[tenant] = self._held[tenant] + amount

    def room_for(self, tenant: str, amount: Resources) -> int | None:
        """How often the tenant may still take this amount; None when nothing limits it."""
        if not self._limits:
            return None
        limit = limit_of(self._policy, tenant)
        held = self.of(tenant)
        counts = [
            max(most - has, 0) // wanted
            for most, has, wanted in (
                (limit.cores_milli, held.cores_milli, amount.cores_milli),
                (limit.memory_bytes, held.memory_bytes, amount.memory_bytes),
            )
            if most is not None and wanted > 0
        ]
        return min(counts, default=None)

    def excess(self, execution: Execution) -> Resources | None:
        """By how much the core would take its tenant beyond its limit now; None when it would not."""
        core = execution.application.core_resources()
        if self.room_for(execution.tenant, core) != 0:
            return None
        limit, with_it = limit_of(self._policy, execution.tenant), self.of(execution.tenant) + core
        return Resources(
            _beyond(with_it.cores_milli, limit.cores_milli) if core.cores_milli else 0,
            _beyond(with_it.memory_bytes, limit.memory_bytes) if core.memory_bytes else 0,
        )

    def refusal(self, execution: Execution) -> Reason:
        """That the core would take its tenant beyond its limit."""
        core = execution.application.core_resources()
        return Reason(
            ReasonCode.TENANT_LIMIT,
            f"Its core needs {_text(core)}, and the tenant holds {_text(self.of(execution.tenant))} of at most "
            f"{_limit_text(limit_of(self._policy, execution.tenant))}.",
            hint="it starts when enough of the tenant's own services have ended, or an admin raises the limit",
        )


class Turns:
    """Whose turn it is: always the tenant's with the least weighted dominant share; equal shares go to the name.

    Ghodsi et al., "Dominant Resource Fairness", NSDI 2011. `held`: what each tenant that takes part has already.
    """

    def __init__(self, held: Mapping[str, Resources], shares: Mapping[str, float], cluster: Resources) -> None:
        self._held = dict(held)
        self._shares = shares
        self._cluster = cluster
        self._turns = [(self._share(tenant), tenant) for tenant in held]
        heapify(self._turns)

    def next(self) -> str | None:
        """The tenant, which is out until it is back; None when all are out."""
        return heappop(self._turns)[1] if self._turns else None

    def back(self, tenant: str, amount: Resources) -> None:
        """It has got so much, and wants another turn."""
        self._held[tenant] = self._held[tenant] + amount
        heappush(self._turns, (self._share(tenant), tenant))

    def _share(self, tenant: str) -> float:
        return _dominant(self._held[tenant], self._cluster) / self._shares.get(tenant, 1.0)


def in_turns(offers: Mapping[str, Iterator[tuple[T, Resources]]], turns: Turns) -> Iterator[T]:
    """What the tenants offer, each in its own sequence, turn by turn; what is taken counts for its tenant."""
    while (tenant := turns.next()) is not None:
        offer = next(offers[tenant], None)
        if offer is not None:
            turns.back(tenant, offer[1])
            yield offer[0]


def by_dominant_share(
    ordered: Sequence[Execution], holdings: Holdings, shares: Mapping[str, float], cluster: Resources
) -> list[Execution]:
    """Take turns, each tenant with its first by the order.

    An execution counts with its core as soon as it has its turn, so the turns alternate as they would if all of them
    started.
    """
    offers = {
        tenant: iter([(execution, execution.application.core_resources()) for execution in executions])
        for tenant, executions in by_tenant(ordered).items()
    }
    return list(in_turns(offers, Turns({tenant: holdings.of(tenant) for tenant in offers}, shares, cluster)))


def by_tenant(executions: Iterable[Execution]) -> Mapping[str, Sequence[Execution]]:
    """Each tenant's, in the same order."""
    found: dict[str, list[Execution]] = defaultdict(list)
    for execution in executions:
        found[execution.tenant].append(execution)
    return found


def elastic_turns(
    ordered: Iterable[Execution], active: Iterable[Execution], shares: Mapping[str, float], cluster: Resources
) -> Mapping[ServiceId, int]:
    """In which turn each elastic service that has a node would be given if all were given anew, beside all cores.

    Whoever has most gives back first. `ordered`: those with elastic services, by the policy's order; `active`: all.
    """
    cores: dict[str, Resources] = defaultdict(Resources)
    for execution in active:
        for service in execution.core_services():
            if service.node is not None and service.alive:
                cores[execution.tenant] += execution.component_of(service).reservation
    offers = {
        tenant: iter(
            [
                (service.id, execution.component_of(service).reservation)
                for execution in executions
                for service in execution.elastic_services()
                if service.node is not None and service.alive
            ]
        )
        for tenant, executions in by_tenant(ordered).items()
    }
    turns = Turns({tenant: cores[tenant] for tenant in offers}, shares, cluster)
    return {service_id: turn for turn, service_id in enumerate(in_turns(offers, turns))}


def interactive_first(
    ordered: Sequence[Execution], interactive: Resources, share: float, cluster: Resources
) -> list[Execution]:
    """Interactive executions before batch ones of the same priority, while they hold at most `share` of the cluster.

    `interactive` is what interactive executions hold already. Those beyond the share keep their turn in the order.
    """
    ahead: set[str] = set()
    for execution in ordered:
        if execution.application.kind == "interactive":
            wanted = interactive + execution.application.core_resources()
            if _dominant(wanted, cluster) <= share:
                interactive = wanted
                ahead.add(execution.id)
    return sorted(ordered, key=lambda e: (-e.priority, e.id not in ahead))


def _dominant(held: Resources, cluster: Resources) -> float:
    """The largest share that is held of any resource."""
    shares = [held.cores_milli / max(cluster.cores_milli, 1), held.memory_bytes / max(cluster.memory_bytes, 1)]
    shares += [amount / cluster.devices[kind] for kind, amount in held.devices.items() if cluster.devices.get(kind)]
    return max(shares)


def _beyond(held: int, most: int | None) -> int:
    return 0 if most is None else max(held - most, 0)


def _text(amount: Resources) -> str:
    return f"{amount.cores_milli / 1000:g} cores and {amount.memory_bytes / 2**20:.0f} MiB"


def _limit_text(limit: TenantLimit) -> str:
    cores = None if limit.cores_milli is None else f"{limit.cores_milli / 1000:g} cores"
    memory = None if limit.memory_bytes is None else f"{limit.memory_bytes / 2**20:.0f} MiB"
    return " and ".join(text for text in (cores, memory) if text)
