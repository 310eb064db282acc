"""Check the execution's network: addresses for its services, and components with devices."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_client.words.amounts import count_with_noun
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.checks.finding import Finding, Target
from zoe_lib.domain.cluster.cluster import gateway_reservation
from zoe_lib.domain.executions.gateway import NO_GATEWAY, bearing_component


def check_devices(application: Application, target: Target) -> Iterator[Finding]:
    """Yield a note on each component with devices that joins a network, where Swarm may reject their start."""
    if not target.platform.capabilities.devices_alone:
        return
    for index, component in enumerate(application.components):
        needs_peers = component.ports or len(application.components) > 1
        if component.reservation.devices and needs_peers:
            yield Finding(
                ("components", index, "resources", "devices"),
                "devices_with_network",
                f"component {component.name} has devices and joins a network: Swarm may reject it while "
                "its node joins the network, and Zoe then retries up to the policy's start_attempts_max",
                "an application of one component without ports needs no network",
                certain=False,
            )


def check_addresses(application: Application, target: Target) -> Iterator[Finding]:
    """Yield a finding if an execution's network has fewer addresses than its services and their nodes need."""
    nodes, there = target.platform.nodes, target.platform.capabilities.network_addresses
    if there is None:
        return
    services = sum(component.total_count for component in application.components)
    gateway = gateway_reservation(nodes) != NO_GATEWAY and bearing_component(application) is not None
    taken = min(max(len(nodes), 1), services)
    if services + gateway + taken <= there:
        return
    certain = services + gateway + 1 > there  # even on the fewest nodes
    message = (
        f"{services} services{' with their gateway' if gateway else ''} need one address each in "
        f"the execution's network, and {count_with_noun(taken, 'node')} one each; the network has only "
        f"{there}"
    )
    hint = f"ask for {there - gateway - taken} services or fewer, or ask the admin for larger networks"
    yield Finding(("components",), "network_too_small", message, hint, certain)
