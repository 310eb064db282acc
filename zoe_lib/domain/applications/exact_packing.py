"""Exact packing by a bounded search: proves that a set of essential services fits, or that it does not.

Depth-first over how many services of each group go to each node, the groups with the fewest allowed nodes first. Equal
groups are merged, and of equal nodes the first takes the most, so that permutations are tried once. The limit counts
steps, not time: the same question always has the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import StrEnum

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.values.resources import Resources

Allowed = Callable[[Component, str], bool]
Group = tuple[Component, int]

# About 6 ms. None of 10,000 random applications of up to 12 essential services on 4 nodes needs more.
STEPS_OF_A_SEARCH = 5_000


class PlacementShortage(StrEnum):
    """Why no packing was found: none exists, or the search was cut short."""

    PROVEN = "proven"
    NOT_SHOWN = "not_shown"


class StepBudget:
    """Remaining steps that several searches share."""

    def __init__(self, left: int = STEPS_OF_A_SEARCH) -> None:
        self.left = left

    def grant(self) -> int:
        """Return the steps for one search."""
        return max(min(self.left, STEPS_OF_A_SEARCH), 0)


def pack_exactly(
    groups: Sequence[Group], free: Mapping[str, Resources], allowed: Allowed, steps: StepBudget
) -> list[list[str]] | PlacementShortage:
    """Return node names per group, one for each of its services; or why there are none."""
    if len(groups) * len(free) > steps.grant():
        return PlacementShortage.NOT_SHOWN  # the limit does not allow even one look at each pair
    search = _Search(groups, free, allowed, steps.grant())
    shortage = search.run()
    steps.left -= search.steps
    return search.names() if shortage is None else shortage


class _Search:
    """One search. `steps` counts the examined pairs of a group and a node."""

    def __init__(
        self, groups: Sequence[Group], free: Mapping[str, Resources], allowed: Allowed, steps_max: int
    ) -> None:
        self.steps = 0
        self._steps_max = steps_max
        self._node_names = sorted(free)
        self._left = [free[name] for name in self._node_names]
        self._groups = groups
        kinds: dict[Hashable, _Kind] = {}
        for position, (component, count) in enumerate(groups):
            nodes = tuple(i for i, name in enumerate(self._node_names) if allowed(component, name))
            kind = kinds.setdefault((nodes, _amounts(component.reservation)), _Kind(component.reservation, nodes))
            kind.members.append(position)
            kind.count += count
        self._kinds = sorted(kinds.values(), key=lambda kind: (len(kind.nodes), *map(int.__neg__, kind.size())))
        self._placed: list[dict[int, int]] = [{} for _ in self._kinds]
        self._found = False

    def run(self) -> PlacementShortage | None:
        """Search until a packing is found, all have been tried, or the steps are used up. None: found.

        The levels are generators on an explicit stack, since there may be more of them than Python's stack holds.
        """
        stack = [self._begin(0)]
        while stack and not self._found:
            if self.steps > self._steps_max:
                return PlacementShortage.NOT_SHOWN
            deeper = next(stack[-1], None)
            if deeper is None:
                stack.pop()
            else:
                stack.append(deeper)
        return None if self._found else PlacementShortage.PROVEN

    def names(self) -> list[list[str]]:
        """Return the nodes' names for each group in the order given."""
        result: list[list[str]] = [[] for _ in self._groups]
        for kind, placed in zip(self._kinds, self._placed, strict=True):
            names = iter([self._node_names[node] for node, count in placed.items() for _ in range(count)])
            for position in kind.members:
                result[position] = [next(names) for _ in range(self._groups[position][1])]
        return result

    def _begin(self, position: int) -> Iterator[_Level]:
        """Place the kinds from this position on."""
        if position == len(self._kinds):
            self._found = True
            return
        if not self._may_fit(position):
            return
        kind = self._kinds[position]
        like = {node: (self._open_to(node, position), *_amounts(self._left[node])) for node in kind.nodes}
        nodes = sorted(kind.nodes, key=lambda node: (like[node], node))
        room = [kind.in_node(self._left[node]) for node in nodes]
        beyond = [0] * (len(nodes) + 1)
        for i in reversed(range(len(nodes))):
            beyond[i] = beyond[i + 1] + room[i]
        same = [i > 0 and like[nodes[i]] == like[nodes[i - 1]] for i in range(len(nodes))]
        yield self._spread(position, _Row(nodes, room, beyond, same), 0, kind.count, kind.count)

    def _spread(self, position: int, row: _Row, i: int, count: int, previous: int) -> Iterator[_Level]:
        """Place `count` services of a kind on the nodes of its row, from the i-th on."""
        self.steps += 1
        if count == 0:
            yield self._begin(position + 1)
            return
        if row.beyond[i] < count:
            return
        node, reservation, before = row.nodes[i], self._kinds[position].wanted, self._left[row.nodes[i]]
        most = min(row.room[i], count, previous if row.same[i] else count)
        for here in range(most, max(count - row.beyond[i + 1], 0) - 1, -1):
            if here:
                self._left[node] = before - reservation * here
            self._placed[position][node] = here
            yield self._spread(position, row, i + 1, count - here, here)
            self._left[node] = before
            del self._placed[position][node]

    def _may_fit(self, position: int) -> bool:
        """Return whether each remaining kind has room by itself, and all of them have room in sum."""
        cores = memory = 0
        used: set[int] = set()
        for kind in self._kinds[position:]:
            self.steps += len(kind.nodes)
            if sum(kind.in_node(self._left[node]) for node in kind.nodes) < kind.count:
                return False
            cores += kind.wanted.cores_milli * kind.count
            memory += kind.wanted.memory_bytes * kind.count
            used.update(kind.nodes)
        free = [self._left[node] for node in used]
        return (cores == 0 or cores <= sum(max(resources.cores_milli, 0) for resources in free)) and (
            memory == 0 or memory <= sum(max(resources.memory_bytes, 0) for resources in free)
        )

    def _open_to(self, node: int, position: int) -> tuple[bool, ...]:
        return tuple(node in kind.nodes for kind in self._kinds[position:])


_Level = Iterator["_Level"]


class _Row:
    """The nodes of one kind in search order: room on each, total room from each on, and whether it equals its
    predecessor.
    """

    def __init__(self, nodes: list[int], room: list[int], beyond: list[int], same: list[bool]) -> None:
        self.nodes, self.room, self.beyond, self.same = nodes, room, beyond, same


class _Kind:
    """Equal services of one or several groups: same resources and same allowed nodes."""

    def __init__(self, wanted: Resources, nodes: tuple[int, ...]) -> None:
        self.wanted = wanted
        self.nodes = nodes
        self.members: list[int] = []
        self.count = 0

    def size(self) -> tuple[int, int, int]:
        return sum(self.wanted.devices.values()), self.wanted.memory_bytes, self.wanted.cores_milli

    def in_node(self, free: Resources) -> int:
        """Return how many services of this kind have room there, at most all of them."""
        if not self.wanted.fits_in(free):
            return 0
        counts = [self.count]
        if self.wanted.cores_milli:
            counts.append(free.cores_milli // self.wanted.cores_milli)
        if self.wanted.memory_bytes:
            counts.append(free.memory_bytes // self.wanted.memory_bytes)
        counts.extend(free.devices.get(d, 0) // amount for d, amount in self.wanted.devices.items() if amount)
        return min(counts)


def _amounts(one: Resources) -> tuple[int, int, tuple[tuple[str, int], ...]]:
    return one.cores_milli, one.memory_bytes, tuple(sorted(one.devices.items()))
