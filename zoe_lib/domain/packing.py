"""Packing groups of services onto nodes, largest first: the last resort of admission, and the test of "never".

Two heuristics of bin packing (Johnson, 1973): best fit decreasing leaves the largest holes, worst fit decreasing the
evenest. Whoever asks both gets the same answer at submission and at admission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

from zoe_lib.domain.application import Component
from zoe_lib.domain.resources import Resources

Allowed = Callable[[Component, str], bool]
Group = tuple[Component, int]


class Fit(IntEnum):
    """Which node is taken among those with room: the fullest or the emptiest."""

    BEST = 1
    WORST = -1


def pack_somehow(groups: Sequence[Group], free: Mapping[str, Resources], allowed: Allowed) -> list[list[str]] | None:
    """Node names per group, in the order given, by best fit or else worst fit; None when neither finds room for all."""
    for fit in Fit:
        packed = pack(groups, free, allowed, fit)
        if packed is not None:
            return packed
    return None


def pack(groups: Sequence[Group], free: Mapping[str, Resources], allowed: Allowed, fit: Fit) -> list[list[str]] | None:
    """Node names per group, one for each of its services; None when some service finds no room."""
    left = dict(free)
    packed: list[list[str]] = [[] for _ in groups]
    for position in sorted(range(len(groups)), key=lambda i: _size(groups[i]), reverse=True):
        component, count = groups[position]
        names = packed[position]
        candidates = [name for name in left if allowed(component, name)]
        for _ in range(count):
            fitting = [name for name in candidates if component.reservation.fits_in(left[name])]
            if not fitting:
                return None
            chosen = min(fitting, key=lambda name: (fit * left[name].memory_bytes, fit * left[name].cores_milli, name))
            left[chosen] = left[chosen] - component.reservation
            names.append(chosen)
    return packed


def _size(group: Group) -> tuple[int, int, int, str]:
    component = group[0]
    wanted = component.reservation
    return sum(wanted.devices.values()), wanted.memory_bytes, wanted.cores_milli, component.name
