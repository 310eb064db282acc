"""The outcome of a series of events: the decisions in it, and figures of waiting and running executions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionId, ServiceId
from zoe_simulator.measures.figures import BOUND_S

Happened = tuple[ExecutionId, Event]


@dataclass(frozen=True, slots=True, order=True)
class Decision:
    """A decision of the scheduler at a time: start, add elastic services, take one back; with services and their
    nodes.
    """

    at_s: float
    execution_id: ExecutionId
    what: str
    places: tuple[tuple[ServiceId, str], ...]


def decisions(events: Iterable[Happened], from_s: float, to_s: float) -> list[Decision]:
    """Return all decisions of the scheduler in that time, in order."""
    found = (_decision(execution_id, event) for execution_id, event in events if from_s <= event.at_s <= to_s)
    return sorted(decision for decision in found if decision is not None)


def _decision(execution_id: ExecutionId, event: Event) -> Decision | None:
    if isinstance(event, ev.StartPlanned | ev.ElasticPlaced):
        places = tuple(sorted((p.service_id, p.node) for p in event.placements))
        return Decision(event.at_s, execution_id, event.kind, places)
    if isinstance(event, ev.ServiceStopping | ev.ServiceEnded) and event.cause is Cause.PREEMPTED:
        if isinstance(event, ev.ServiceEnded) and event.exit_code is not None:
            return None  # it was requested to stop earlier
        return Decision(event.at_s, execution_id, "preempted", ((event.service_id, ""),))
    return None


@dataclass(slots=True)
class _Life:
    """The times of one execution: seconds since the epoch."""

    submitted_s: float = math.inf
    placed_s: float | None = None
    ended_s: float | None = None


@dataclass(slots=True)
class Outcome:
    """Figures of one side, and the data of the picture: (time, executions that wait, cores reserved)."""

    figures: dict[str, float] = field(default_factory=dict)
    series: list[tuple[float, int, float]] = field(default_factory=list)


def outcome(
    executions: Mapping[ExecutionId, Execution],
    events: Sequence[Happened],
    from_s: float,
    to_s: float,
    cores: float,
) -> Outcome:
    """Return the figures from the begin to the end; earlier executions count from their submission on.

    For the waits, executions that have not started waited until the end; slowdowns are of ended executions, bounded at
    ten seconds. `cores`: of all nodes together.
    """
    walk = _Walk(executions, from_s)
    for execution_id, event in sorted(events, key=lambda item: item[1].at_s):
        if event.at_s <= to_s:
            walk.see(execution_id, event)
    walk.sample(to_s)
    lives = [life for life in walk.lives.values() if life.ended_s is None or life.ended_s >= from_s]
    waits = [(life.placed_s if life.placed_s is not None else to_s) - life.submitted_s for life in lives]
    ended = [life for life in lives if life.ended_s is not None and life.placed_s is not None]
    slowdowns = [_slowdown(life) for life in ended]
    span_s = max(to_s - from_s, 1e-9)
    return Outcome(
        {
            "executions": len(lives),
            "started": sum(life.placed_s is not None and life.placed_s >= from_s for life in lives),
            "ended": len(ended),
            "mean_wait_s": mean(waits) if waits else 0.0,
            "p95_wait_s": sorted(waits)[min(int(0.95 * len(waits)), len(waits) - 1)] if waits else 0.0,
            "max_wait_s": max(waits, default=0.0),
            "mean_bounded_slowdown": mean(slowdowns) if slowdowns else 0.0,
            "max_bounded_slowdown": max(slowdowns, default=0.0),
            "preempted_services": walk.preempted,
            "reserved_core_hours": walk.core_s / 3600,
            "allocation": walk.core_s / (cores * span_s) if cores else 0.0,
        },
        walk.series,
    )


def _slowdown(life: _Life) -> float:
    assert life.ended_s is not None
    assert life.placed_s is not None
    return max(1.0, (life.ended_s - life.submitted_s) / max(life.ended_s - life.placed_s, BOUND_S))


class _Walk:
    """Follows events in order of time, counting waiting executions and reservations."""

    def __init__(self, executions: Mapping[ExecutionId, Execution], from_s: float) -> None:
        self.lives: dict[ExecutionId, _Life] = {}
        self.series: list[tuple[float, int, float]] = []
        self.core_s = 0.0
        self.preempted = 0
        self._executions = executions
        self._from_s = from_s
        self._at_s = from_s
        self._waiting: set[ExecutionId] = set()
        self._held: dict[ServiceId, float] = {}
        self._cores = 0.0

    def see(self, execution_id: ExecutionId, event: Event) -> None:
        """Process one event."""
        self.sample(event.at_s)
        life = self.lives.setdefault(execution_id, _Life())
        match event:
            case ev.Submitted():
                life.submitted_s = event.at_s
                self._waiting.add(execution_id)
            case ev.StartPlanned():
                life.placed_s = event.at_s if life.placed_s is None else life.placed_s
                self._waiting.discard(execution_id)
                self._hold(execution_id, event.placements)
            case ev.ElasticPlaced():
                self._hold(execution_id, event.placements)
            case ev.ServiceEnded() | ev.ServiceLost():
                self._cores -= self._held.pop(event.service_id, 0.0)
                lost = isinstance(event, ev.ServiceEnded) and event.cause is Cause.PREEMPTED
                self.preempted += lost and event.at_s >= self._from_s
            case ev.Requeued():
                self._waiting.add(execution_id)
            case ev.Ended() | ev.Refused():
                life.ended_s = event.at_s
                self._waiting.discard(execution_id)

    def sample(self, at_s: float) -> None:
        """Account for the time until then."""
        if at_s > self._at_s:
            self.core_s += self._cores * (at_s - self._at_s)
            self.series.append((self._at_s, len(self._waiting), self._cores))
            self.series.append((at_s, len(self._waiting), self._cores))
            self._at_s = at_s

    def _hold(self, execution_id: ExecutionId, placements: Iterable[ev.Placement]) -> None:
        application = self._executions[execution_id].application
        for place in placements:
            component = place.service_id[len(execution_id) + 1 :].rsplit(".", 2)[0]
            cores = application.component(component).reservation.cores_milli / 1000
            self._held[place.service_id] = cores
            self._cores += cores
