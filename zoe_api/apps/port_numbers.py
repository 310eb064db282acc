"""Names of proxied ports: `<execution>` is an execution's first one, `<execution>-<n>` another.

They count through the description, not through services, so that an address holds when services are tried again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zoe_lib.domain.application import Port
from zoe_lib.domain.execution import Execution, Service
from zoe_lib.store.base import NotFound

NO_PORT = -1
"""The number of no port."""


@dataclass(frozen=True, slots=True)
class ProxiedPort:
    """A proxied port of an instance of a component."""

    number: int
    component: str
    index: int
    port: Port


def proxied_ports(execution: Execution) -> Iterator[ProxiedPort]:
    """All of an execution, as the description names them."""
    number = 0
    for component in execution.application.components:
        for index in range(component.total_count):
            for port in component.ports:
                if port.proxied:
                    yield ProxiedPort(number, component.name, index, port)
                    number += 1


def number_of(execution: Execution, service: Service, port: str) -> ProxiedPort:
    """The proxied port of a service; NotFound."""
    for proxied in proxied_ports(execution):
        if (proxied.component, proxied.index, proxied.port.name) == (service.component, service.index, port):
            return proxied
    raise NotFound(f"service {service.id} has no proxied port {port}")


def service_at(execution: Execution, number: int) -> tuple[Service, Port] | None:
    """The living service behind a number, with its port; None when none lives now, or ever will."""
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
    """The first part of the host name."""
    return execution_id if number == 0 else f"{execution_id}-{number}"


def read_label(text: str) -> tuple[str, int]:
    """Return execution and number of such a part, as `label` writes it; NO_PORT for any other. Ids hold no dash."""
    execution_id, _, digits = text.partition("-")
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
    return execution_id, number if label(execution_id, number) == text else NO_PORT
