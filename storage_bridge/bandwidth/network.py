"""The paths of bytes: through the proxies or past them, from each claim to the nodes where it has transfers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage_bridge.bandwidth.flow import FlowNetwork

_SOURCE, _PROXY = 0, 1


@dataclass(frozen=True, slots=True)
class Path:
    """The path of one claim's bytes: the numbers of its nodes, and whether they pass the proxies."""

    nodes: tuple[int, ...]
    through_proxy: bool = True


@dataclass(frozen=True, slots=True)
class BandwidthCut:
    """Why amounts do not fit: these claims together have only `room`."""

    claims: frozenset[int]
    room: int


class BandwidthNetwork:
    """Whole bytes per second: all proxies together, each node, and the paths of the claims."""

    def __init__(self, proxy: int, nodes: Sequence[int], paths: Sequence[Path]) -> None:
        self.proxy = proxy
        self.nodes = tuple(nodes)
        self.paths = tuple(paths)

    def tightest(self, amounts: Sequence[int]) -> BandwidthCut | None:
        """Return the claims that together demand more than their room; None if all fit."""
        network, _ = self._flows(amounts)
        if network.maximise(_SOURCE, self._sink) == sum(amounts):
            return None
        near = network.reachable(_SOURCE)
        first = 2 + len(self.paths)
        room = sum(capacity for i, capacity in enumerate(self.nodes) if near[first + i])
        room += 0 if near[_PROXY] else self.proxy
        claims = (i for i, path in enumerate(self.paths) if near[2 + i] or (path.through_proxy and not near[_PROXY]))
        return BandwidthCut(frozenset(claims), room)

    def split(self, amounts: Sequence[int]) -> list[list[int]]:
        """Return the amount of each claim at each node of its path. The amounts must fit; parts are equal where there
        is room.
        """
        network, edges = self._flows(amounts, self._even(amounts))
        network.maximise(_SOURCE, self._sink)
        return [[network.flow(edge) for edge in its_edges] for its_edges in edges]

    @property
    def _sink(self) -> int:
        return 2 + len(self.paths) + len(self.nodes)

    def _even(self, amounts: Sequence[int]) -> list[list[int]]:
        """Return equal parts, cut to the room of their nodes."""
        parts = [
            [amount // len(path.nodes)] * len(path.nodes) for amount, path in zip(amounts, self.paths, strict=True)
        ]
        needed = [0] * len(self.nodes)
        for path, its_parts in zip(self.paths, parts, strict=True):
            for node, part in zip(path.nodes, its_parts, strict=True):
                needed[node] += part
        return [
            [
                part if needed[node] <= self.nodes[node] else part * self.nodes[node] // needed[node]
                for node, part in zip(path.nodes, its_parts, strict=True)
            ]
            for path, its_parts in zip(self.paths, parts, strict=True)
        ]

    def _flows(
        self, amounts: Sequence[int], parts: Sequence[Sequence[int]] | None = None
    ) -> tuple[FlowNetwork, list[list[int]]]:
        """Return the network, already carrying these parts, and the edges from each claim to its nodes."""
        parts = parts or [[0] * len(path.nodes) for path in self.paths]
        network = FlowNetwork(self._sink + 1)
        sums = [sum(its_parts) for its_parts in parts]
        through = sum(amount for amount, path in zip(sums, self.paths, strict=True) if path.through_proxy)
        unbounded = sum(self.nodes) + 1
        network.connect(_SOURCE, _PROXY, self.proxy, through)
        edges: list[list[int]] = []
        arriving = [0] * len(self.nodes)
        first = 2 + len(self.paths)
        for i, (path, amount) in enumerate(zip(self.paths, amounts, strict=True)):
            network.connect(_PROXY if path.through_proxy else _SOURCE, 2 + i, amount, sums[i])
            its_edges = []
            for node, part in zip(path.nodes, parts[i], strict=True):
                its_edges.append(network.connect(2 + i, first + node, unbounded, part))
                arriving[node] += part
            edges.append(its_edges)
        for node, capacity in enumerate(self.nodes):
            network.connect(first + node, self._sink, capacity, arriving[node])
        return network, edges
