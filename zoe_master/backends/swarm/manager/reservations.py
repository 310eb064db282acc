"""Reservations of foreign tasks on the nodes of a swarm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zoe_lib.domain.values.resources import NOTHING, Resources
from zoe_master.backends.engine.spec.naming import labels

Json = Mapping[str, Any]
_HOLDING = frozenset({"assigned", "accepted", "preparing", "ready", "starting", "running"})


def foreign_reservations(tasks: Iterable[Json], installation: str) -> Mapping[str, Resources]:
    """Return the reservations of foreign tasks, by the node's id; Swarm keeps them free even if the tasks are idle."""
    result: dict[str, Resources] = {}
    for task in tasks:
        spec, node = task["Spec"], task.get("NodeID", "")
        tags = (spec.get("ContainerSpec") or {}).get("Labels") or {}
        if node and task["Status"]["State"] in _HOLDING and tags.get(labels.INSTALLATION) != installation:
            result[node] = result.get(node, NOTHING) + _task_reservation(spec)
    return result


def _task_reservation(spec: Json) -> Resources:
    reserved = (spec.get("Resources") or {}).get("Reservations") or {}
    pieces = (entry.get("DiscreteResourceSpec") for entry in reserved.get("GenericResources") or ())
    devices = {piece["Kind"]: int(piece["Value"]) for piece in pieces if piece is not None}
    return Resources(reserved.get("NanoCPUs", 0) // 10**6, reserved.get("MemoryBytes", 0), devices)


def larger(one: Resources, other: Resources) -> Resources:
    """Return the larger of each amount."""
    kinds = {**one.devices, **other.devices}
    return Resources(
        max(one.cores_milli, other.cores_milli),
        max(one.memory_bytes, other.memory_bytes),
        {kind: max(one.devices.get(kind, 0), other.devices.get(kind, 0)) for kind in kinds},
    )
