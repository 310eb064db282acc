"""Whether a user's own running work keeps a waiting execution of theirs from starting. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources


@value(frozen=True, slots=True)
class OwnReservations:
    """Executions of the user that hold what the waiting one lacks. what: cores, or bytes of memory; total: of the
    nodes.
    """

    ids: tuple[ExecutionId, ...]
    what: Literal["cores", "memory"]
    held: float
    total: float


def own_use(
    wanted: Resources, total: Resources, reserved: Resources, own: Mapping[ExecutionId, Resources]
) -> OwnReservations | None:
    """Return what the user's own executions hold; None if enough is free, or if their end alone would not be enough.

    wanted: by the essential services of the waiting execution; total, reserved: on all nodes that can be used.
    """
    for what, amount in (("cores", _cores), ("memory", _memory)):
        held = sum(map(amount, own.values()))
        free = amount(total) - amount(reserved)
        if held and free < amount(wanted) <= free + held:
            ids = sorted((id_ for id_ in own if amount(own[id_])), key=lambda id_: (-amount(own[id_]), id_))
            return OwnReservations(tuple(ids), "cores" if what == "cores" else "memory", held, amount(total))
    return None


def _cores(resources: Resources) -> float:
    return resources.cores_milli / 1000


def _memory(resources: Resources) -> float:
    return resources.memory_bytes
