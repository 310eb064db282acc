"""The gateway of an execution: the service that it runs beside, and its reservation.

Where a back-end reaches proxied ports through a gateway, each execution with such a port has one beside one of its
essential services. It is infrastructure and not a Service; the back-end fixes its reservation, which counts on that
node like the overhead of a pod in Kubernetes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.executions.execution import SERVICE_TERMINAL_STATES, Execution, Service
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources

NO_GATEWAY = Resources()
"""The reservation if a back-end needs no gateway."""


@value(frozen=True, slots=True)
class HeldOnNode:
    """Cores and memory that Zoe reserves on a node, the part of elastic services, and the number of running
    services.
    """

    reserved: Resources = Resources()
    elastic: Resources = Resources()
    services: int = 0

    def plus(self, amount: Resources, core: bool, services: int) -> HeldOnNode:
        """Return the sum of this and the amount held by services that are all essential, or all elastic; devices do not
        count.
        """
        plain = Resources(amount.cores_milli, amount.memory_bytes)
        elastic = self.elastic if core else self.elastic + plain
        return HeldOnNode(self.reserved + plain, elastic, self.services + services)


def bearing_component(application: Application) -> Component | None:
    """Return the component of which the first instance runs beside the gateway: the first essential one with a proxied
    port, else the first essential one.

    None if no port is proxied, so that no gateway is needed.
    """
    if not any(_has_proxied_port(component) for component in application.components):
        return None
    core = [component for component in application.components if component.essential_count]
    return next(filter(_has_proxied_port, core), core[0] if core else None)


def bearer(execution: Execution) -> Service | None:
    """Return the newest service beside the gateway; it has a node after its placement."""
    bearing = bearing_component(execution.application)
    if bearing is None:
        return None
    return next((s for s in execution.current() if _bears(s, bearing)), None)


def core_groups(application: Application, gateway: Resources) -> Sequence[tuple[Component, int]]:
    """Return essential components with counts, in start-up order: the bearer of the gateway is its own group, larger
    than the others.

    It comes right before the rest of its component, which has the instances from index 1 on.
    """
    bearing = None if _is_none(gateway) else bearing_component(application)
    if bearing is None:
        return application.core_groups
    groups: list[tuple[Component, int]] = []
    for component, count in application.core_groups:
        if component is bearing:
            groups.append((replace(component, reservation=component.reservation + gateway), 1))
        if remaining := count - (component is bearing):
            groups.append((component, remaining))
    return groups


def core_total(application: Application, gateway: Resources) -> Resources:
    """Return the total reservation of the essential services and the gateway."""
    core = application.core_resources()
    return core if _is_none(gateway) or bearing_component(application) is None else core + gateway


def held_resources(execution: Execution, gateway: Resources) -> Sequence[tuple[Service, Resources]]:
    """Return the resources that the services of an execution hold on their nodes, the gateway's at its bearer.

    The gateway stays until everything has ended, even if its bearer ends before.
    """
    holding = [
        (service, execution.component_of(service).reservation)
        for service in execution.services
        if service.node is not None and service.state not in SERVICE_TERMINAL_STATES
    ]
    bearing = bearing_component(execution.application) if gateway is not NO_GATEWAY and holding else None
    if bearing is None:
        return holding
    with_it = [(s, amount + gateway if _bears(s, bearing) else amount) for s, amount in holding]
    if not any(_bears(service, bearing) for service, _ in holding):
        ended = bearer(execution)
        if ended is not None and ended.node is not None:
            with_it.append((ended, gateway))
    return with_it


def held_on_nodes(executions: Iterable[Execution], gateway: Resources) -> Mapping[str, HeldOnNode]:
    """Return the resources that executions hold on each node, including their gateways."""
    nodes: dict[str, HeldOnNode] = defaultdict(HeldOnNode)
    for execution in executions:
        for service, amount in held_resources(execution, gateway):
            assert service.node is not None
            nodes[service.node] = nodes[service.node].plus(amount, service.core, int(service.alive))
    return dict(nodes)


def required_resources(execution: Execution, service: Service, gateway: Resources) -> Resources:
    """Return the resources that a service will hold once it is placed."""
    amount = execution.component_of(service).reservation
    bearing = None if _is_none(gateway) else bearing_component(execution.application)
    return amount + gateway if _bears(service, bearing) else amount


def _is_none(gateway: Resources) -> bool:
    """Return whether no gateway is needed; the argument is nearly always the same object."""
    return gateway is NO_GATEWAY or gateway == NO_GATEWAY


def _bears(service: Service, bearing: Component | None) -> bool:
    return bearing is not None and service.component == bearing.name and service.index == 0


def _has_proxied_port(component: Component) -> bool:
    return any(port.proxied for port in component.ports)
