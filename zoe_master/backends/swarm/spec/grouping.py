"""Group the services that start together into tasks of one Swarm service."""

from __future__ import annotations

from collections.abc import Iterable

from zoe_master.backends.swarm.spec.specification import RenderedService


def group_services(services: Iterable[RenderedService]) -> list[list[RenderedService]]:
    """Return groups of identical tasks, in order of index; the position in its group is the slot."""
    groups: dict[object, list[RenderedService]] = {}
    for service in services:
        groups.setdefault(service.group_key, []).append(service)
    for group in groups.values():
        group.sort(key=lambda service: service.start.index)
    return list(groups.values())
