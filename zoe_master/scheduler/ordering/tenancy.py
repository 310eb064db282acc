"""Turns of tenants, and the precedence of interactive applications."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

from zoe_lib.domain.executions.execution import Execution, ServiceId
from zoe_lib.domain.values.resources import Resources

T = TypeVar("T")


class TenantTurns:
    """Selects the tenant with the lowest weighted dominant share; equal shares are ordered by name.

    Ghodsi et al., "Dominant Resource Fairness", NSDI 2011. `held`: present resources of each tenant in the rotation.
    """

    def __init__(self, held: Mapping[str, Resources], shares: Mapping[str, float], cluster: Resources) -> None:
        self._held = dict(held)
        self._shares = shares
        self._cluster = cluster
        self._turns: list[tuple[float, str]] = []
        self.start_round()

    def start_round(self) -> None:
        """Put all tenants back, with the resources that they have by now."""
        self._turns = [(self._share(tenant), tenant) for tenant in self._held]
        heapify(self._turns)

    def take_next(self) -> str | None:
        """Return the tenant whose turn it is and remove it until `put_back`; None if all are out."""
        return heappop(self._turns)[1] if self._turns else None

    def put_back(self, tenant: str, amount: Resources) -> None:
        """Count the tenant's new resources, and let it have another turn."""
        self._held[tenant] = self._held[tenant] + amount
        heappush(self._turns, (self._share(tenant), tenant))

    def _share(self, tenant: str) -> float:
        return _dominant(self._held[tenant], self._cluster) / self._shares.get(tenant, 1.0)


def in_turns(offers: Mapping[str, Iterator[tuple[T, Resources]]], turns: TenantTurns) -> Iterator[T]:
    """Yield the tenants' items, each in its own sequence, in turns; taken amounts count for the tenant."""
    while (tenant := turns.take_next()) is not None:
        offer = next(offers[tenant], None)
        if offer is not None:
            turns.put_back(tenant, offer[1])
            yield offer[0]


def by_dominant_share(
    ordered: Sequence[Execution], held: Mapping[str, Resources], shares: Mapping[str, float], cluster: Resources
) -> list[Execution]:
    """Return executions in turns of tenants, each with its first by the order; `held`: present resources of tenants.

    An execution counts with its core at its turn, so the turns alternate as if all of them started.
    """
    offers = {
        tenant: iter([(execution, execution.application.core_resources()) for execution in executions])
        for tenant, executions in by_tenant(ordered).items()
    }
    return list(
        in_turns(offers, TenantTurns({tenant: held.get(tenant, Resources()) for tenant in offers}, shares, cluster))
    )


def by_tenant(executions: Iterable[Execution]) -> Mapping[str, Sequence[Execution]]:
    """Return the executions of each tenant, in the same order."""
    found: dict[str, list[Execution]] = defaultdict(list)
    for execution in executions:
        found[execution.tenant].append(execution)
    return found


def elastic_turns(
    ordered: Iterable[Execution], active: Iterable[Execution], shares: Mapping[str, float], cluster: Resources
) -> Mapping[ServiceId, int]:
    """Return the turn in which each placed elastic service would get its node if all were placed again after all cores.

    The tenant with the most gives back first, and services beyond the preferred count before all others. `ordered`:
    executions with elastic services, in the policy's order; `active`: all.
    """
    cores: dict[str, Resources] = defaultdict(Resources)
    for execution in active:
        for service in execution.core_services():
            if service.node is not None and service.alive:
                cores[execution.tenant] += execution.component_of(service).reservation
    several = by_tenant(ordered)
    turns = TenantTurns({tenant: cores[tenant] for tenant in several}, shares, cluster)
    in_order: list[ServiceId] = []
    for preferred in (True, False):
        turns.start_round()
        offers = {tenant: _placed_elastic(executions, preferred) for tenant, executions in several.items()}
        in_order.extend(in_turns(offers, turns))
    return {service_id: turn for turn, service_id in enumerate(in_order)}


def _placed_elastic(executions: Iterable[Execution], preferred: bool) -> Iterator[tuple[ServiceId, Resources]]:
    for execution in executions:
        for service in execution.elastic_services():
            component = execution.component_of(service)
            if service.node is not None and service.alive and component.is_preferred(service.index) is preferred:
                yield service.id, component.reservation


def interactive_first(
    ordered: Sequence[Execution], interactive: Resources, share: float, cluster: Resources
) -> list[Execution]:
    """Return interactive executions before batch ones of the same priority, while they hold at most `share` of the
    cluster.

    `interactive`: present resources of interactive executions. Those beyond the share keep their turn in the order.
    """
    ahead: set[str] = set()
    for execution in ordered:
        if execution.application.kind == "interactive":
            with_this = interactive + execution.application.core_resources()
            if _dominant(with_this, cluster) <= share:
                interactive = with_this
                ahead.add(execution.id)
    return sorted(ordered, key=lambda e: (-e.priority, e.id not in ahead))


def _dominant(held: Resources, cluster: Resources) -> float:
    """Return the largest held share of any resource."""
    shares = [held.cores_milli / max(cluster.cores_milli, 1), held.memory_bytes / max(cluster.memory_bytes, 1)]
    shares += [amount / cluster.devices[kind] for kind, amount in held.devices.items() if cluster.devices.get(kind)]
    return max(shares)
