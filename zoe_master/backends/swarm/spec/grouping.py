"""Which of the services that start together are tasks of one Swarm service."""

from __future__ import annotations

from collections.abc import Iterable

from zoe_master.backends.swarm.spec.specification import RenderedService


def grouped(services: Iterable[RenderedService]) -> list[list[RenderedService]]:
    """Identical tasks together, in order of index; each has its slot by its place in the group."""
    groups: dict[object, list[RenderedService]] = {}
    for service in services:
        groups.setdefault(service.group_key, []).append(service)
    for group in groups.values():
        group.sort(key=lambda one: one.start.index)
    return list(groups.values())
