"""Maximum flow through a network of integer capacities, and its minimum cut."""

from __future__ import annotations

from collections import deque


class FlowNetwork:
    """A network whose vertices are numbers from 0 on. The flow is maximised by shortest augmenting paths.

    Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", Soviet Math. Doklady
    11, 1970: O(vertices^2 x edges), far less on the shallow networks here.
    """

    def __init__(self, vertices: int) -> None:
        self._edges_of: list[list[int]] = [[] for _ in range(vertices)]
        self._head: list[int] = []
        self._left: list[int] = []  # residual capacity of an edge; its reverse edge has the number ^ 1

    def connect(self, tail: int, head: int, capacity: int, flow: int = 0) -> int:
        """Add an edge that already carries `flow`; return its number."""
        number = len(self._head)
        self._head += [head, tail]
        self._left += [capacity - flow, flow]
        self._edges_of[tail].append(number)
        self._edges_of[head].append(number + 1)
        return number

    def flow(self, edge: int) -> int:
        """Return the flow through an edge."""
        return self._left[edge ^ 1]

    def maximise(self, source: int, sink: int) -> int:
        """Add as much flow as possible; return how much was added."""
        added = 0
        while True:
            level = self._levels(source)
            if level[sink] < 0:
                return added
            tried = [0] * len(self._edges_of)
            while pushed := self._push(source, sink, level, tried):
                added += pushed

    def reachable(self, source: int) -> list[bool]:
        """Return the source's side of a minimum cut, after `maximise`."""
        return [distance >= 0 for distance in self._levels(source)]

    def _levels(self, source: int) -> list[int]:
        level = [-1] * len(self._edges_of)
        level[source] = 0
        queue = deque([source])
        while queue:
            vertex = queue.popleft()
            for edge in self._edges_of[vertex]:
                head = self._head[edge]
                if level[head] < 0 and self._left[edge] > 0:
                    level[head] = level[vertex] + 1
                    queue.append(head)
        return level

    def _push(self, source: int, sink: int, level: list[int], tried: list[int]) -> int:
        """Push flow along one path through the levels; return 0 if none is left."""
        path: list[int] = []
        vertex = source
        while vertex != sink:
            edges = self._edges_of[vertex]
            while tried[vertex] < len(edges):
                edge = edges[tried[vertex]]
                if self._left[edge] > 0 and level[self._head[edge]] == level[vertex] + 1:
                    break
                tried[vertex] += 1
            else:
                if not path:
                    return 0
                vertex = self._head[path.pop() ^ 1]
                tried[vertex] += 1
                continue
            path.append(edge)
            vertex = self._head[edge]
        amount = min(self._left[edge] for edge in path)
        for edge in path:
            self._left[edge] -= amount
            self._left[edge ^ 1] += amount
        return amount
