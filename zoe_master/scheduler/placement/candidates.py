"""The nodes with room for one kind of service, best first, updated as the ledger changes.

A kind is placed again and again in one pass. Scoring all nodes each time costs as much as there are nodes; here only
changed nodes are scored again, and the best one is on top of a heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush

from zoe_master.scheduler.placement.free_resources import Ledger, Scores

# Scores of nodes by index, in the same sequence.
Score = Callable[[Sequence[int]], Scores]
# The nodes with room for one more.
WithRoom = Callable[[Iterable[int]], list[int]]


class CandidateNodes:
    """`best` equals the result of scoring every node with room; ties go to the lowest index."""

    def __init__(self, eligible: Sequence[int], ledger: Ledger, with_room: WithRoom, score: Score) -> None:
        self._eligible = frozenset(eligible)
        self._ledger = ledger
        self._with_room = with_room
        self._score = score
        self._seen = len(ledger.changes)
        roomy = with_room(eligible)
        scores = score(roomy).tolist() if roomy else []
        self._current: dict[int, float] = dict(zip(roomy, scores, strict=True))
        self._heap = [(-value, node) for node, value in self._current.items()]
        heapify(self._heap)

    def best(self) -> int | None:
        """Return the next node to take; None if none has room."""
        self._catch_up()
        while self._heap:
            value, node = self._heap[0]
            if self._current.get(node) == -value:
                return node
            heappop(self._heap)
        return None

    def _catch_up(self) -> None:
        changes = self._ledger.changes
        if self._seen == len(changes):
            return
        changed = self._eligible.intersection(changes[self._seen :])
        self._seen = len(changes)
        roomy = self._with_room(changed)
        for node in changed.difference(roomy):
            self._current.pop(node, None)
        if not roomy:
            return
        for node, value in zip(roomy, self._score(roomy).tolist(), strict=True):
            if self._current.get(node) != value:
                self._current[node] = value
                heappush(self._heap, (-value, node))
