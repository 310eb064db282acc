"""The recorded life of each service: its start, and its observations with their times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionId, ServiceId
from zoe_lib.store.values import JournalEntry
from zoe_master.backends.base import ObservedState


@dataclass(frozen=True, slots=True)
class Sight:
    """A state of a service: when it began, when it was observed, and the message.

    `tick` is the number of the recorded tick that observed it first: -1 for one before the begin, None if only time
    decides.
    """

    tick: int | None
    seen_s: float
    at_s: float
    state: ObservedState
    started_at_s: float | None
    cause: Cause | None = None
    exit_code: int | None = None
    message: str = ""

    @property
    def final(self) -> bool:
        """Return whether it is the last state."""
        return self.state in (ObservedState.ENDED, ObservedState.LOST)


@dataclass(slots=True)
class ServiceRecord:
    """One service: its start, observations, and its stop request, as times and as numbers of ticks."""

    execution_id: ExecutionId
    component: str
    index: int
    handed_s: float = math.nan
    handed_tick: int | None = None
    stop_s: float | None = None
    stop_tick: int | None = None
    sights: list[Sight] = field(default_factory=list)
    started_at_s: float | None = None

    def until_stop(self) -> list[Sight]:
        """Return the observations until its stop request."""
        last = self.stop_tick
        return [s for s in self.sights if last is None or (s.tick is not None and s.tick <= last and not s.final)]

    @property
    def own_end(self) -> Sight | None:
        """Return its end, if it came without a request and its node was still there."""
        last = self.sights[-1] if self.sights else None
        return last if last is not None and self.stop_s is None and last.state is ObservedState.ENDED else None

    @property
    def stop_delay_s(self) -> float | None:
        """Return the time from the stop request until its end was observed."""
        if self.stop_s is None or not self.sights or not self.sights[-1].final:
            return None
        return max(self.sights[-1].seen_s - self.stop_s, 0.0)


def records_of(
    executions: Mapping[ExecutionId, Execution],
    before: Iterable[JournalEntry],
    ticks: Iterable[tuple[float, Sequence[JournalEntry]]],
) -> Mapping[ServiceId, ServiceRecord]:
    """Return the records by service id. `before`: observed before the start of the replay; ticks come with their
    times.
    """
    records: dict[ServiceId, ServiceRecord] = {}
    for tick, (seen_s, entries) in enumerate(((-math.inf, tuple(before)), *ticks), -1):
        for entry in entries:
            if entry.kind.startswith("service_"):
                assert entry.execution_id is not None
                _note(records, executions[entry.execution_id], entry, tick, max(seen_s, entry.at_s))
    return records


def _note(
    records: dict[ServiceId, ServiceRecord], execution: Execution, entry: JournalEntry, tick: int, seen_s: float
) -> None:
    service_id = str(entry.data["service_id"])
    record = records.get(service_id)
    if record is None:
        # <execution>.<component>.<index>.<attempt>
        component, index, _ = service_id[len(execution.id) + 1 :].rsplit(".", 2)
        record = records[service_id] = ServiceRecord(execution.id, component, int(index))
    if entry.kind == "service_starting":
        record.handed_s, record.handed_tick = entry.at_s, tick
    elif entry.kind == "service_stopping":
        record.stop_s, record.stop_tick = entry.at_s, tick
    elif (state := _STATES.get(entry.kind)) is not None:
        record.sights.append(_sight(record, entry, state, tick, seen_s))


_STATES = {
    "service_started": ObservedState.STARTED,
    "service_ready": ObservedState.READY,
    "service_ended": ObservedState.ENDED,
    "service_lost": ObservedState.LOST,
}


def _sight(record: ServiceRecord, entry: JournalEntry, state: ObservedState, tick: int, seen_s: float) -> Sight:
    if state is ObservedState.STARTED:
        record.started_at_s = entry.at_s
    cause, exit_code = entry.data.get("cause"), entry.data.get("exit_code")
    return Sight(
        tick=tick,
        seen_s=seen_s,
        at_s=entry.at_s,
        state=state,
        started_at_s=record.started_at_s,
        cause=Cause(str(cause)) if cause is not None else None,
        exit_code=exit_code if isinstance(exit_code, int) else None,
        message=str(entry.data.get("message", "")),
    )
