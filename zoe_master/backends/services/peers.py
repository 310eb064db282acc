"""Resolve peers, inputs and outputs of an execution in a service's templates."""

from __future__ import annotations

from zoe_lib.domain.applications.templates import Template, TemplateKind
from zoe_master.backends.base import PeerService, ServiceStart
from zoe_master.backends.services.failures import CannotStartError


def referenced_peer(start: ServiceStart, template: Template) -> PeerService:
    """Return the first instance of the named component, or the service itself without a name. Raises
    CannotStartError.
    """
    if template.component is None:
        component = start.component
        return PeerService(start.service_id, component.name, start.index, start.node, component.ports)
    return referenced_instances(start, template)[0]


def referenced_instances(start: ServiceStart, template: Template) -> list[PeerService]:
    """Return all newest instances of the named component, or of the service's own, by index. Raises
    CannotStartError.
    """
    name = template.component or start.component.name
    found = sorted((peer for peer in start.peers if peer.component == name), key=lambda peer: peer.index)
    if not found:
        raise CannotStartError(f"{template}: the application has no component {name}")
    return found


def referenced_data(start: ServiceStart, template: Template) -> str:
    """Return the URI of an input or output, which may contain templates itself, or the columns of a view.
    CannotStartError.
    """
    access, name = start.storage, template.data or ""
    known = access.outputs if template.kind is TemplateKind.OUTPUT else access.inputs
    if name not in known or template.kind is TemplateKind.EACH:  # an entry is filled in before
        raise CannotStartError(f"{template}: the application has no such input or output")
    if template.kind is TemplateKind.OUTPUT:
        return access.outputs[name]
    read = access.inputs[name]
    return ",".join(read.columns) if template.kind is TemplateKind.COLUMNS else read.uri
