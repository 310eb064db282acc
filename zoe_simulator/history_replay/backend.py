"""Back-end of a replay: services behave as the journal recorded.

A service that starts at its recorded time is observed as recorded, tick by tick. Any other service runs as long as
recorded, from its own start; one that never ran behaves like another attempt or instance of its component.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zoe_lib.clock import Clock
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions.arrays import member_of
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionId, ServiceId
from zoe_master.backends.base import (
    BackendError,
    Endpoint,
    ImageState,
    ImageStatus,
    Left,
    MovedWorkspace,
    MoveState,
    Observation,
    ObservedState,
    OutputChunk,
    PortAddress,
    ServiceStart,
    SystemUser,
    TerminalRequest,
    Usage,
    WorkspaceMove,
    client_is_waiting,
)
from zoe_master.loop.tick_recorder import Inputs, own_services
from zoe_simulator.history_replay.services import ServiceRecord, Sight

_PRESENT = ImageStatus(ImageState.PRESENT)
_STOPPED_EXIT_CODE = 143
_Slot = tuple[ExecutionId, str, int]


@dataclass(slots=True)
class _Running:
    """A service here. `as_it_was`: handed over at its recorded time."""

    execution_id: ExecutionId
    node: str
    handed_s: float
    sights: list[Sight]
    record: ServiceRecord | None
    as_it_was: bool
    stopping: bool = False
    seen: Sight | None = field(default=None)


class RecordedBackend:
    """Services by record; nodes, images and bandwidth as the ticks saw them (`inputs`), and `added` nodes.

    `tick` is the number of the recorded tick that is being replayed, or was the last one; `cut_short` holds the ticks
    during which their master died. `unchanged`: everything has been as recorded so far, so that services are handed
    over at the recorded tick or, where a program or a credential was awaited, at a later one.
    """

    def __init__(self, services: Mapping[ServiceId, ServiceRecord], clock: Clock, added: Sequence[Node] = ()) -> None:
        self._records = services
        self._clock = clock
        self._added = added
        self._running: dict[ServiceId, _Running] = {}
        self._forgotten: set[ServiceId] = set()
        self._ends: dict[_Slot, ServiceRecord] = {}
        for record in services.values():
            slot = (record.execution_id, record.component, record.index)
            if slot not in self._ends or record.own_end is not None:
                self._ends[slot] = record
        delays = [d for record in services.values() if (d := record.stop_delay_s) is not None]
        self._stop_delay_s = statistics.median(delays) if delays else 0.0
        self.inputs = Inputs()
        self.tick = -1
        self.cut_short: set[int] = set()
        self.unchanged = True
        self.executions: Callable[[], Iterable[Execution]] = tuple

    # The Protocol

    def nodes(self) -> Sequence[Node]:
        """Return the nodes as recorded, with the replay's services there."""
        own = own_services(self.executions())
        nodes = (*self.inputs.nodes.values(), *self._added)
        return [replace(node, containers=node.containers + own[node.name]) for node in nodes]

    def capabilities(self) -> BackendCapabilities:
        """Return everything: refusals are in the journal."""
        return BackendCapabilities()

    def start(self, start: ServiceStart) -> None:
        """Hand over a service."""
        if start.service_id in self._running or start.service_id in self._forgotten:
            return
        now_s = self._clock.now_s()
        record = self._records.get(start.service_id)
        if record is not None and self._as_it_was(record):
            running = _Running(start.execution_id, start.node, now_s, record.until_stop(), record, as_it_was=True)
        else:
            record = self._like(start, record)
            running = _Running(
                start.execution_id, start.node, now_s, _shift_sights(record, now_s), record, as_it_was=False
            )
        self._running[start.service_id] = running

    def adopt(self, service_id: ServiceId, node: str) -> None:
        """Adopt a service that runs at the start of the replay, or that a master handed over before it died."""
        record = self._records[service_id]
        stopping = record.stop_tick is not None and record.stop_tick < max(self.tick, 0)
        sights = list(record.sights) if stopping else record.until_stop()
        self._running[service_id] = _Running(
            record.execution_id, node, record.handed_s, sights, record, as_it_was=True, stopping=stopping
        )

    def stop(self, services: Sequence[ServiceId]) -> None:
        """Stop services as fast as they stopped."""
        now_s = self._clock.now_s()
        for service_id in services:
            running = self._running.get(service_id)
            if running is None or running.stopping or (running.seen is not None and running.seen.final):
                continue
            running.stopping = True
            record = running.record
            if running.as_it_was and record is not None and (record.stop_tick, record.stop_s) == (self.tick, now_s):
                running.sights = list(record.sights)
                continue
            delay_s = record.stop_delay_s if record is not None else None
            ends_s = now_s + (delay_s if delay_s is not None else self._stop_delay_s)
            started_at_s = running.seen.started_at_s if running.seen is not None else None
            code = _STOPPED_EXIT_CODE if started_at_s is not None else None
            end = Sight(None, ends_s, ends_s, ObservedState.ENDED, started_at_s, Cause.STOPPED, code)
            running.sights = [*(s for s in running.sights if self._visible(s) or s.seen_s < ends_s), end]

    def observe(self) -> Sequence[Observation]:
        """Return the present observation of every service."""
        return [self._observation(service_id, running) for service_id, running in self._running.items()]

    def forget(self, services: Sequence[ServiceId]) -> None:
        """Stop reporting these services."""
        for service_id in services:
            if self._running.pop(service_id, None) is not None:
                self._forgotten.add(service_id)

    def prepare(self, image: str) -> ImageStatus:
        """Return the state as recorded."""
        return self.inputs.images.get(image, _PRESENT)

    def address(self, service: ServiceId, port: str) -> PortAddress:
        """Refuse: nothing runs here."""
        raise BackendError(f"service {service} is replayed; its port {port} is nowhere")

    def logs(
        self,
        service: ServiceId,
        offset: int,  # noqa: ARG002
        limit: int,  # noqa: ARG002
        left: Left = client_is_waiting,  # noqa: ARG002
    ) -> OutputChunk:
        """Refuse: nothing runs here."""
        raise BackendError(f"service {service} is replayed; it writes nothing")

    def files(self, tenant: str, user: str, system_user: SystemUser | None) -> Endpoint:  # noqa: ARG002 - the Protocol's signature
        """Refuse: nothing here has files."""
        raise BackendError("a replay has no files")

    def progress_file(self, service: ServiceId, path: str) -> bytes:  # noqa: ARG002
        """Refuse: nothing here has files."""
        raise BackendError("a replay has no files")

    def move_workspace(self, move: WorkspaceMove) -> MovedWorkspace:  # noqa: ARG002
        """Return that nothing here has files."""
        return MovedWorkspace(MoveState.NOTHING)

    def terminal(self, service: ServiceId, request: TerminalRequest) -> Endpoint:  # noqa: ARG002
        """Refuse: nothing runs here that a terminal could show."""
        raise BackendError("this back-end has no terminals")

    def usage(self) -> Sequence[Usage]:
        """Return no usage."""
        return ()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    # For the replay

    def next_change_s(self) -> float:
        """Return the next change that no recorded tick observes; infinite if there is none."""
        now_s = self._clock.now_s()
        sights = (sight for running in self._running.values() for sight in running.sights if sight.tick is None)
        times = (sight.seen_s for sight in sights if sight.seen_s > now_s)
        return min(times, default=math.inf)

    # Internals

    def _as_it_was(self, record: ServiceRecord) -> bool:
        """Return whether it is handed over at its recorded time; if a master died meanwhile, the next one had to repeat
        it.
        """
        if record.handed_tick in self.cut_short:
            return True
        if self.unchanged:
            return record.handed_tick is not None and record.handed_tick <= self.tick
        return (record.handed_tick, record.handed_s) == (self.tick, self._clock.now_s())

    def _like(self, start: ServiceStart, record: ServiceRecord | None) -> ServiceRecord | None:
        """Return its own record if it ended by itself, otherwise that of another attempt or of another instance."""
        if record is not None and record.own_end is not None:
            return record
        slot = (start.execution_id, start.component.name, start.index)
        same = self._ends.get(slot) or record
        if same is not None:
            return same
        others = (r for (x, name, _), r in self._ends.items() if (x, name) == slot[:2])
        return next(others, None) or self._like_other_index(start)

    def _like_other_index(self, start: ServiceStart) -> ServiceRecord | None:
        """Return the record of another index of its array: this one did not run in the recorded time."""
        member = member_of(start.execution_id)
        if member is None:
            return None
        records = (
            r for (_, name, index), r in self._ends.items() if (name, index) == (start.component.name, start.index)
        )
        alike = (r for r in records if (other := member_of(r.execution_id)) and other.array_id == member.array_id)
        return next(alike, None)

    def _observation(self, service_id: ServiceId, running: _Running) -> Observation:
        now_s = self._clock.now_s()
        for sight in running.sights:
            if self._visible(sight):
                running.seen = sight
        seen = running.seen
        if not running.as_it_was and not (seen is not None and seen.final) and self._is_gone(running.node):
            started_at_s = seen.started_at_s if seen is not None else None
            running.seen = seen = Sight(
                None, now_s, now_s, ObservedState.LOST, started_at_s, message="its node is gone"
            )
            running.sights = [seen]
        state = seen.state if seen is not None else ObservedState.STARTING
        if running.stopping and state not in (ObservedState.ENDED, ObservedState.LOST):
            state = ObservedState.STOPPING
        return Observation(
            service_id=service_id,
            execution_id=running.execution_id,
            state=state,
            at_s=seen.at_s if seen is not None else running.handed_s,
            node=running.node,
            exit_code=seen.exit_code if seen is not None else None,
            cause=seen.cause if seen is not None else None,
            message=seen.message if seen is not None else "",
            started_at_s=seen.started_at_s if seen is not None else None,
        )

    def _visible(self, sight: Sight) -> bool:
        if sight.tick is not None:
            return sight.tick <= self.tick
        return sight.seen_s <= self._clock.now_s()

    def _is_gone(self, name: str) -> bool:
        node = self.inputs.nodes.get(name) or next((n for n in self._added if n.name == name), None)
        return node is None or not node.ready


def _shift_sights(record: ServiceRecord | None, now_s: float) -> list[Sight]:
    """Return the observations before its stop request, shifted to another hand-over."""
    if record is None or math.isnan(record.handed_s):
        return [Sight(None, now_s, now_s, ObservedState.READY, now_s)]
    late_s = now_s - record.handed_s
    own = record.sights if record.own_end is not None else [s for s in record.sights if not s.final]
    return [
        replace(
            sight,
            tick=None,
            seen_s=sight.seen_s + late_s,
            at_s=sight.at_s + late_s,
            started_at_s=None if sight.started_at_s is None else sight.started_at_s + late_s,
        )
        for sight in own
    ]
