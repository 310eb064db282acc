"""Names of proxied ports: `<execution>` is the first port of an execution, `<execution>-<n>` another.

Numbers follow the description, not the services, so that an address stays valid when services are retried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zoe_lib.domain.applications.application import Port
from zoe_lib.domain.executions.execution import Execution, Service
from zoe_lib.store.errors import NotFound

NO_PORT = -1
"""A number that no port has."""


@dataclass(frozen=True, slots=True)
class ProxiedPort:
    """A proxied port of an instance of a component."""

    number: int
    component: str
    index: int
    port: Port


def proxied_ports(execution: Execution) -> Iterator[ProxiedPort]:
    """Return all proxied ports of an execution, in the order of the description."""
    number = 0
    for component in execution.application.components:
        for index in range(component.total_count):
            for port in component.ports:
                if port.proxied:
                    yield ProxiedPort(number, component.name, index, port)
                    number += 1


def number_of(execution: Execution, service: Service, port: str) -> ProxiedPort:
    """Return the number of a service's proxied port; NotFound if there is none."""
    for proxied in proxied_ports(execution):
        if (proxied.component, proxied.index, proxied.port.name) == (service.component, service.index, port):
            return proxied
    raise NotFound(f"service {service.id} has no proxied port {port}")


def service_at(execution: Execution, number: int) -> tuple[Service, Port] | None:
    """Return the live service for a port number, and its port; None if none is live."""
    for proxied in proxied_ports(execution):
        if proxied.number == number:
            alive = (
                s
                for s in execution.services
                if s.alive and (s.component, s.index) == (proxied.component, proxied.index)
            )
            service = next(alive, None)
            return None if service is None else (service, proxied.port)
    return None


def label(execution_id: str, number: int) -> str:
    """Return the first label of the host name."""
    return execution_id if number == 0 else f"{execution_id}-{number}"


def read_label(text: str) -> tuple[str, int]:
    """Return execution and number from a label as `label` writes it, else NO_PORT. Ids contain no dash."""
    execution_id, _, digits = text.partition("-")
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
    return execution_id, number if label(execution_id, number) == text else NO_PORT
