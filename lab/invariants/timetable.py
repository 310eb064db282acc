"""Holders of amounts of nodes over time: plain lists, summed up again for every question."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.invariants.room import leaving
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.gateway import held_resources, required_resources
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.ordering.queue import Pass
from zoe_master.scheduler.placement.admission import admit, surely_refused
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

# By node: cores, memory, each kind of device, and last the number of services.
Amounts = NDArray[np.int64]
_ANY_NUMBER = np.iinfo(np.int64).max // 2


@dataclass(frozen=True, slots=True)
class Use:
    """Amounts that an execution holds in [begin_s, end_s)."""

    name: ExecutionId
    begin_s: float
    end_s: float
    amounts: Amounts


class Timetable:
    """Begins with the running cores and everything else that cannot be preempted, each until its expected end.

    Overdue ends are expected next. `known` is False if the placement considers more than this table has: paths to the
    object store.
    """

    def __init__(self, present: Pass) -> None:
        snapshot, policy = present.snapshot, present.policy
        self._now_s = snapshot.now_s
        self._after_s = math.nextafter(snapshot.now_s, math.inf)
        self._run_s = present.estimates.guess_s
        self._empty = Ledger(snapshot.nodes, (), snapshot.locality, snapshot.paths)
        self._placer = ServicePlacer(self._empty, policy, present.span, leaves_s=present.leaves_s)
        self.known = self._empty.paths is None
        self._devices = sorted({kind for node in snapshot.nodes for kind in node.total.devices})
        nodes = range(len(self._empty.nodes))
        self._usable = np.array([[*self._vector(self._empty.free(i)), _ANY_NUMBER] for i in nodes], dtype=np.int64)
        self._uses: list[Use] = []
        self._promises: list[Use] = []
        for execution in snapshot.active:
            stays = [
                (service.node, amount)
                for service, amount in held_resources(execution, self._empty.gateway)
                if not leaving(execution, service) and (service.core or policy.preemption == "none")
            ]
            end_s = max(present.estimates.release_s(execution, self._now_s), self._after_s)
            self.hold(Use(execution.id, self._now_s, end_s, self._amounts(stays)))

    def now(self, execution: Execution, placements: Iterable[Placement]) -> Use:
        """Return the use of its core if it starts now on these nodes."""
        return self._use(execution, placements, self._now_s)

    def hold(self, use: Use, promised: bool = False) -> None:
        """Mark it as taken; `promised`: for a waiting execution."""
        self._uses.append(use)
        if promised:
            self._promises.append(use)

    def earliest(self, execution: Execution) -> Use | None:
        """Return the first time from which its core has room until its expected end; None if there is none."""
        times, used = self._course()
        for first, begin_s in enumerate(times):
            behind = bisect_left(times, self._end_s(execution, begin_s))
            placements = self._room(execution, used[first:behind].max(axis=0), used[first])
            if placements is not None:
                return self._use(execution, placements, begin_s)
        return None

    def delayed_by(self, use: Use) -> Use | None:
        """Return an execution whose promised room it takes, if any."""
        for at_s, used in zip(*self._course(), strict=True):
            if not use.begin_s <= at_s < use.end_s:
                continue
            short = ((used + use.amounts > self._usable) & (use.amounts > 0)).any(axis=1)
            for promise in self._promises:
                if promise.begin_s <= at_s < promise.end_s and promise.amounts[short].any():
                    return promise
        return None

    def _course(self) -> tuple[Sequence[float], NDArray[np.int64]]:
        """Return now and the time of every end, and the amounts in use then (times x nodes x kinds)."""
        times = [self._now_s, *sorted({use.end_s for use in self._uses if use.end_s < math.inf})]
        at_s = np.array(times)[:, None]
        begins_s, ends_s = (np.array([[getattr(u, name) for u in self._uses]]) for name in ("begin_s", "end_s"))
        there = ((begins_s <= at_s) & (at_s < ends_s)).astype(np.int64)
        amounts = np.array([use.amounts for use in self._uses], dtype=np.int64)
        return times, np.tensordot(there, amounts.reshape(-1, *self._usable.shape), axes=1)

    def _room(self, execution: Execution, most: Amounts, at_first: Amounts) -> tuple[Placement, ...] | None:
        """Return where the placement puts its core if at most this much is used while it runs."""
        ledger = self._empty.copy()
        for node, amounts in enumerate(most[:, :-1].tolist()):
            cores_milli, memory_bytes, *pieces = amounts
            ledger.take(node, Resources(cores_milli, memory_bytes, dict(zip(self._devices, pieces, strict=True))))
        ledger.services = at_first[:, -1].tolist()
        placer = self._placer.with_ledger(ledger)
        answer = None if surely_refused(execution, placer) else admit(execution, placer)
        return answer if isinstance(answer, tuple) else None

    def _use(self, execution: Execution, placements: Iterable[Placement], begin_s: float) -> Use:
        placed = [(execution.service(p.service_id), p.node) for p in placements]
        core = [
            (node, required_resources(execution, service, self._empty.gateway))
            for service, node in placed
            if service.core
        ]
        return Use(execution.id, begin_s, self._end_s(execution, begin_s), self._amounts(core))

    def _end_s(self, execution: Execution, begin_s: float) -> float:
        """Return the expected end; an execution expected to take no time takes an instant: it needs room to start."""
        begins_s = self._now_s if begin_s == self._after_s else begin_s
        return max(begins_s + self._run_s(execution), math.nextafter(begin_s, math.inf))

    def _amounts(self, holdings: Iterable[tuple[str | None, Resources]]) -> Amounts:
        amounts = np.zeros(self._usable.shape, dtype=np.int64)
        for node, amount in holdings:
            if node in self._empty.index:
                amounts[self._empty.index[node]] += [*self._vector(amount), 1]
        return amounts

    def _vector(self, amount: Resources) -> list[int]:
        return [amount.cores_milli, amount.memory_bytes, *(amount.devices.get(kind, 0) for kind in self._devices)]
