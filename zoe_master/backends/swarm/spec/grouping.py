"""Group the services that start together into tasks of one Swarm service."""

from __future__ import annotations

import json
from collections.abc import Iterable

from zoe_master.backends.engine.spec.rendering import RenderedService


def group_services(services: Iterable[RenderedService]) -> list[list[RenderedService]]:
    """Return groups of identical tasks, in order of index; the position in its group is the slot.

    Services that differ only in `host` and `environment` are one group.
    """
    groups: dict[object, list[RenderedService]] = {}
    for service in services:
        groups.setdefault(_key_of(service), []).append(service)
    for group in groups.values():
        group.sort(key=lambda service: service.start.index)
    return list(groups.values())


def _key_of(service: RenderedService) -> object:
    """Return the values that must be equal for two services to be tasks of one Swarm service."""
    start = service.start
    core = start.index < start.component.essential_count
    fixed = json.dumps([service.arguments, service.work_dir, service.mounts])
    return start.execution_id, start.component.name, core, start.node, start.service_id.rpartition(".")[2], fixed
