"""The targets of a gateway."""

from __future__ import annotations

from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.spec.naming.names import host_name


def targets_of(start: ServiceStart) -> tuple[str, ...]:
    """Return host:port of each proxied port of the execution's instances; empty unless this service bears the
    gateway.
    """
    if not start.bears_gateway:
        return ()
    return tuple(
        f"{host_name(peer.component, peer.index)}:{port.number}"
        for peer in start.peers
        for port in peer.ports
        if port.proxied
    )
