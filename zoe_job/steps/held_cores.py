"""Cores of a job that its steps hold."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

TASKS_MAX = 10_000


@dataclass(frozen=True)
class Requirements:
    """Requirements of a step; None means any. named: nodes that it must use; excluded: nodes that it must not use; both
    by number.
    """

    ntasks: int
    cores: int = 1
    nodes: int | None = None
    per_node: int | None = None
    overlap: bool = False
    named: Sequence[int] = ()
    excluded: Sequence[int] = ()


class Ledger:
    """Free cores of each node; steps wait for them in turn."""

    def __init__(self, cores: Sequence[int]) -> None:
        self._all = list(cores)
        self._free = list(cores)
        self._changed = threading.Condition()
        self._steps = 0

    def take(
        self, wanted: Sequence[Requirements], given_up: Callable[[], bool] = lambda: False
    ) -> tuple[int, list[list[int]]] | None:
        """Return the number of the step and the tasks of each of its parts on each node, when there is room for all of
        them; None after `given_up` says so. Raises ValueError if the job never has that many cores.
        """
        if not all(entry.ntasks >= 1 for entry in wanted) or sum(entry.ntasks for entry in wanted) > TASKS_MAX:
            raise ValueError(f"a step has 1 to {TASKS_MAX} tasks")
        if place_all(wanted, self._all) is None:
            raise ValueError("more cores or nodes are requested than the job has")
        with self._changed:
            while (counts := place_all(wanted, self._all if _overlap(wanted) else self._free)) is None:
                if given_up():
                    return None
                self._changed.wait(0.5)
            self._change(wanted, counts, -1)
            self._steps += 1
            return self._steps - 1, counts

    def give_back(self, wanted: Sequence[Requirements], counts: Sequence[Sequence[int]]) -> None:
        """Free what a step held."""
        with self._changed:
            self._change(wanted, counts, 1)
            self._changed.notify_all()

    def _change(self, wanted: Sequence[Requirements], counts: Sequence[Sequence[int]], sign: int) -> None:
        if _overlap(wanted):
            return
        for entry, of_nodes in zip(wanted, counts, strict=True):
            self._free = [free + sign * entry.cores * count for free, count in zip(self._free, of_nodes, strict=True)]


def _overlap(wanted: Sequence[Requirements]) -> bool:
    """Return whether a step holds no cores; the option of one part applies to all."""
    return any(entry.overlap for entry in wanted)


def place_all(wanted: Sequence[Requirements], free: Sequence[int]) -> list[list[int]] | None:
    """Return the tasks of each node for each part, or None; parts share nodes only without alternatives."""
    left = list(free)
    used: set[int] = set()
    found = []
    for entry in wanted:
        counts = place(replace(entry, excluded=[*entry.excluded, *used]), left) if used else None
        counts = counts or place(entry, left)
        if counts is None:
            return None
        left = [cores - entry.cores * count for cores, count in zip(left, counts, strict=True)]
        used |= {node for node, count in enumerate(counts) if count}
        found.append(counts)
    return found


def place(wanted: Requirements, free: Sequence[int]) -> list[int] | None:
    """Return the tasks of each node, as equal as these free cores allow; None if they do not suffice."""
    room = [min(cores // wanted.cores, wanted.per_node or TASKS_MAX) for cores in free]
    room = [0 if node in wanted.excluded else most for node, most in enumerate(room)]
    number = min(max(wanted.nodes or len(wanted.named) or len(room), len(wanted.named)), wanted.ntasks)
    chosen = sorted(sorted(range(len(room)), key=lambda node: (node not in wanted.named, -room[node]))[:number])
    every = wanted.nodes is not None or wanted.named
    if every and (number > len(room) or any(room[node] < 1 for node in chosen)):
        return None
    if sum(room[node] for node in chosen) < wanted.ntasks:
        return None
    counts = [0] * len(room)
    for _ in range(wanted.ntasks):
        counts[min((node for node in chosen if counts[node] < room[node]), key=lambda node: counts[node])] += 1
    return counts
