"""Conservative backfill: every waiting execution keeps a reservation, and none may delay an earlier one.

Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. Each pass makes all reservations again in the order of the queue, so an
execution that ends early moves them all forward. Generalised from a count of processors to nodes with several
resources: accounts for every span between two expected ends. Nodes without reservations only gain room, so their
accounts are running sums (`ReleasedCapacity`); the others have a timeline each.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.gateway import core_groups
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources, services_that_fit
from zoe_master.scheduler.backfill.backfill import Release
from zoe_master.scheduler.backfill.node_timeline import NodeTimeline, TimelineStep, counts_within
from zoe_master.scheduler.backfill.released_capacity import Nodes, ReleasedCapacity
from zoe_master.scheduler.placement.admission import admit, surely_refused
from zoe_master.scheduler.placement.budget import ScanBudget
from zoe_master.scheduler.placement.free_resources import Holding, Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.usable_nodes import NodesKey, UsableNodes

# Each costs an examination of all nodes, like a reservation.
_BESIDES_MAX = 100
# The begin of what starts now: before every expected end, also those that are due.
_PRESENT_S = -math.inf


@value(frozen=True, slots=True)
class FoundCapacity:
    """Present room: `free`, or available if elastic services are stopped."""

    placements: tuple[Placement, ...]
    free: bool


class CapacityProfile:
    """The expected free resources from now on.

    `rooms` are those of `ElasticReclaim`: free now, and possibly freed; they begin now. The room of executions that
    should have ended by now counts from the next span on, which may begin at the same time: it is expected, but not
    free yet.
    """

    def __init__(
        self, rooms: Sequence[ServicePlacer], releases: Iterable[Release], now_s: float, budget: ScanBudget
    ) -> None:
        self._placer = rooms[0]
        self._budget = budget
        self._now_s = now_s
        self._besides_left = _BESIDES_MAX
        finite = (release for release in releases if release[0] < math.inf)
        self._released = ReleasedCapacity([room.ledger.copy() for room in rooms], finite, now_s)
        self._begins: list[float] = self._released.times.tolist()
        """Possible begins after the present: the ends of executions and of reservations, in ascending order."""
        self._timelines: dict[int, NodeTimeline] = {}
        self._plain: Nodes = np.ones(len(self._placer.ledger.nodes), dtype=np.bool_)
        """Nodes without a timeline."""
        self._usable = UsableNodes(self._placer)
        self._masks: dict[NodesKey, Nodes] = {}

    def reserve(self, execution: Execution, run_s: float) -> FoundCapacity | None:
        """Reserve the earliest room for a core until its expected end; return its places if they are free now, else
        None.

        Nothing is reserved if no begin was found, or if the budget is spent before.
        """
        for room in range(len(self._released.rooms)):
            if self._may_fit_now(room, execution, run_s):
                answer = self._places(execution, self._least_now(room, self._now_s + run_s))
                if answer is not None:
                    self._take(_PRESENT_S, self._now_s + run_s, self._holdings(execution, answer))
                    return FoundCapacity(answer, free=room == 0)
        for begins_s in self._later_begins(execution, run_s):
            answer = self._places(execution, self._least_at(begins_s, begins_s + run_s))
            if answer is not None:
                self._take(begins_s, begins_s + run_s, self._holdings(execution, answer))
                break
            if self._budget.spent:
                break
        return None

    def lets_grow(self, execution: Execution, placements: Sequence[Placement], ends_s: float) -> bool:
        """Return whether elastic services fit at these places until then beside all reservations; if so, take them."""
        holdings, ends_s = self._holdings(execution, placements), max(ends_s, self._now_s)
        wanted: dict[int, Resources] = {}
        for node, amount in holdings:
            wanted[node] = wanted[node] + amount if node in wanted else amount
        if not all(amount.fits_in(self._least_of(node, 0, ends_s).free) for node, amount in wanted.items()):
            return False
        self._take(_PRESENT_S, ends_s, holdings)
        return True

    def room_beside(self, room: ServicePlacer, ends_s: float) -> ServicePlacer | None:
        """Return the resources of this room beside all reservations until then; None once a pass has computed it too
        often.
        """
        if self._besides_left == 0:
            return None
        self._besides_left -= 1
        least = room.ledger.copy()
        least.lower_to(self._least_now(0, max(ends_s, self._now_s)))
        return room.with_ledger(least)

    def _may_fit_now(self, room: int, execution: Execution, run_s: float) -> bool:
        """Return False if a present room surely has too little for the core."""
        for component, count in core_groups(execution.application, self._placer.ledger.gateway):
            amount, mask = component.reservation, self._mask(execution, component)
            there = self._released.count_now(room, amount, mask & self._plain)
            for node in self._timelines if there < count else ():
                if mask[node]:
                    there += services_that_fit(amount, self._least_of(node, room, self._now_s + run_s).free)
            if there < count:
                return False
        return True

    def _later_begins(self, execution: Execution, run_s: float) -> Iterator[float]:
        """Yield the begins at which the core may fit, in ascending order."""
        begins = np.array(self._begins)
        possible: Nodes = np.ones(len(begins), dtype=np.bool_)
        released = np.searchsorted(self._released.times, begins, "right") - 1
        for component, count in core_groups(execution.application, self._placer.ledger.gateway):
            amount, mask = component.reservation, self._mask(execution, component)
            after = np.r_[self._released.counts(amount, mask & self._plain), 0]
            none_yet = self._released.count_now(-1, amount, mask & self._plain)
            there = np.where(released < 0, none_yet, after[released])
            timelines = [timeline.steps() for node, timeline in self._timelines.items() if mask[node]]
            possible &= there + counts_within(timelines, amount, begins, run_s) >= count
        yield from begins[possible].tolist()

    def _mask(self, execution: Execution, component: Component) -> Nodes:
        key = self._usable.key(component, execution)
        mask = self._masks.get(key)
        if mask is None:
            mask = self._masks[key] = np.zeros(len(self._plain), dtype=np.bool_)
            mask[list(self._usable.nodes(component, execution))] = True
        return mask

    def _places(self, execution: Execution, least: Ledger) -> tuple[Placement, ...] | None:
        self._budget.spend(len(execution.application.core_groups) * len(least.nodes))
        placer = self._placer.with_ledger(least)
        answer = None if surely_refused(execution, placer) else admit(execution, placer)
        return answer if isinstance(answer, tuple) else None

    def _least_now(self, room: int, ends_s: float) -> Ledger:
        """Return what is free in a present room, and stays so until then."""
        ledger = self._released.rooms[room].copy()
        for node in self._timelines:
            _set_free(ledger, node, self._least_of(node, room, ends_s))
        return ledger

    def _least_at(self, begins_s: float, ends_s: float) -> Ledger:
        """Return what is free at a later time, and stays so until another."""
        ledger = self._released.ledger_at(begins_s)
        for node, timeline in self._timelines.items():
            steps = timeline.steps()
            first = bisect_right(steps, begins_s, key=_begin) - 1
            _set_free(ledger, node, _least(steps[first : bisect_left(steps, ends_s, key=_begin)]))
        return ledger

    def _least_of(self, node: int, room: int, ends_s: float) -> TimelineStep:
        """Return the least of a node's amounts from now on until then, and its present number of services."""
        timeline = self._timelines.get(node)
        if timeline is None:
            ledger = self._released.rooms[room]
            return TimelineStep(_PRESENT_S, ledger.free(node), ledger.services[node])
        steps = timeline.steps()
        return _least([timeline.present(room), *steps[1 : bisect_left(steps, ends_s, key=_begin)]])

    def _holdings(self, execution: Execution, placements: Sequence[Placement]) -> list[Holding]:
        return self._placer.ledger.holdings_at(execution, placements)

    def _take(self, begins_s: float, ends_s: float, holdings: Sequence[Holding]) -> None:
        if ends_s < math.inf:
            place = bisect_left(self._begins, ends_s)
            if place == len(self._begins) or self._begins[place] != ends_s:
                self._begins.insert(place, ends_s)
        for node, amount in holdings:
            timeline = self._timelines.get(node)
            if timeline is None:
                rooms = self._released.rooms
                present = [(room.free(node), room.services[node]) for room in rooms]
                timeline = self._timelines[node] = NodeTimeline(present, self._released.of_node(node))
                self._plain[node] = False
            timeline.reserve(begins_s, ends_s, amount)


def _least(steps: Sequence[TimelineStep]) -> TimelineStep:
    """Return the least of each amount; the services of the first step."""
    first, *others = steps
    cores, memory = min(s.free.cores_milli for s in steps), min(s.free.memory_bytes for s in steps)
    devices = {
        kind: min(pieces, *(s.free.devices.get(kind, 0) for s in others)) if others else pieces
        for kind, pieces in first.free.devices.items()
    }
    return TimelineStep(first.begins_s, Resources(cores, memory, devices), first.services)


def _set_free(ledger: Ledger, node: int, step: TimelineStep) -> None:
    before = ledger.free_cores[node]
    ledger.free_cores[node] = step.free.cores_milli
    ledger.free_cores_in_all += max(step.free.cores_milli, 0) - max(before, 0)
    ledger.free_memory[node] = step.free.memory_bytes
    ledger.free_devices[node] = dict(step.free.devices)
    ledger.services[node] = step.services


def _begin(step: TimelineStep) -> float:
    return step.begins_s
