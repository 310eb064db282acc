"""Pack groups of services onto nodes: the last resort of admission, and the test for "can never fit".

Two heuristics of bin packing (Johnson, 1973): best fit decreasing leaves the largest holes, worst fit decreasing the
evenest. Groups with the fewest allowed nodes come first, then the largest. Where both fail, a bounded exact search
decides. Submission and admission call the same function.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from heapq import heappop, heappush
from math import inf

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.exact_packing import Allowed, Group, PlacementShortage, StepBudget, pack_exactly
from zoe_lib.domain.values.resources import Resources

# Free memory and cores, both negated so that the emptiest node comes first; ties are broken by name.
Key = tuple[int, int, str]


class NodeFit(IntEnum):
    """Which node to choose among those with room: the fullest or the emptiest."""

    BEST = 1
    WORST = -1


def pack_by_any_method(
    groups: Sequence[Group], free: Mapping[str, Resources], allowed: Allowed, steps: StepBudget
) -> list[list[str]] | PlacementShortage:
    """Return node names per group, in the order given, by best fit, worst fit, or an exact search of some steps."""
    for fit in NodeFit:
        packed = pack(groups, free, allowed, fit)
        if packed is not None:
            return packed
    return pack_exactly(groups, free, allowed, steps)


def pack(
    groups: Sequence[Group], free: Mapping[str, Resources], allowed: Allowed, fit: NodeFit
) -> list[list[str]] | None:
    """Return node names per group, one for each of its services; None if a service finds no room.

    Nodes are kept in order, so that the cost of a group grows with its services and the full nodes before them, not
    with all nodes.
    """
    free_of = dict(free)
    order = sorted(_key(fit, free_of[name], name) for name in free_of)
    packed: list[list[str]] = [[] for _ in groups]
    choice = [
        sum(allowed(component, name) for name in free) if component.labels else len(free) for component, _ in groups
    ]
    for position in sorted(range(len(groups)), key=lambda i: (-choice[i], _size(groups[i])), reverse=True):
        component, count = groups[position]
        names = _pack_group(component, count, order, free_of, allowed, fit)
        if len(names) < count:
            return None
        packed[position] = names
    return packed


def _pack_group(
    component: Component, count: int, order: list[Key], free_of: dict[str, Resources], allowed: Allowed, fit: NodeFit
) -> list[str]:
    """Take room for up to `count` services; `order` and `free_of` are updated."""
    reservation = component.reservation
    names: list[str] = []
    taken: list[Key] = []  # nodes that got a service and have room for more; the next one to use is on top
    full: list[Key] = []
    places: list[int] = []  # their former positions in `order`
    room = _with_room(component, order, free_of, allowed, fit)
    following = next(room, None)
    while len(names) < count and (taken or following is not None):
        if taken and (following is None or taken[0] < order[following]):
            name = heappop(taken)[2]
        else:
            assert following is not None
            name = order[following][2]
            places.append(following)
            following = next(room, None)
        names.append(name)
        free_of[name] = free_of[name] - reservation
        key = _key(fit, free_of[name], name)
        if reservation.fits_in(free_of[name]):
            heappush(taken, key)
        else:
            full.append(key)
    for place in reversed(places):
        del order[place]
    for key in (*taken, *full):
        insort(order, key)
    return names


def _with_room(
    component: Component, order: list[Key], left: Mapping[str, Resources], allowed: Allowed, fit: NodeFit
) -> Iterator[int]:
    """Yield the positions in `order` of allowed nodes with room for one service."""
    wanted = component.reservation
    enough = (fit * wanted.memory_bytes,)
    best = fit is NodeFit.BEST
    begin = bisect_left(order, enough) if best else 0
    end = len(order) if best else bisect_right(order, (*enough, inf))
    for place in range(begin, end):
        name = order[place][2]
        if wanted.fits_in(left[name]) and allowed(component, name):
            yield place


def _key(fit: NodeFit, free: Resources, name: str) -> Key:
    return fit * free.memory_bytes, fit * free.cores_milli, name


def _size(group: Group) -> tuple[int, int, int, str]:
    component = group[0]
    wanted = component.reservation
    return sum(wanted.devices.values()), wanted.memory_bytes, wanted.cores_milli, component.name
