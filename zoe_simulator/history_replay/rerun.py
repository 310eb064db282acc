"""Run the production master through a recording, under the recorded policy or another one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from storage_bridge.model import ViewVerdict
from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Cause, ExecutionId
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.domain.values.storage import Located
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.memory.state import State
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import JournalEntry, StoreLimits
from zoe_master.backends.simulated import SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.loop.tick_recorder import Inputs
from zoe_master.plugins import unknown_names
from zoe_master.storage.input_places import Told
from zoe_master.storage.path_uses import WEIGHER
from zoe_master.storage.slo_reconciler import DesiredSlos, StorageState
from zoe_simulator.history_replay.backend import RecordedBackend
from zoe_simulator.history_replay.recording import Moment, Recording, ReplayRefusedError, to_event
from zoe_simulator.history_replay.uses import RecordedUses

_NO_LIMITS = StoreLimits(retention_s=math.inf, idempotency_keys_kept_s=math.inf)
# Ticks between two recorded ones: the next tick settles whatever follows immediately from a tick.
_EXTRA_TICKS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a recording: settings of the policy (JSON), and additional nodes."""

    policy: Mapping[str, object] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()

    def apply_to(self, policy: Policy) -> Policy:
        """Return a recorded policy with the change. Raises ReplayRefusedError if it uses a plugin that is not installed
        here.
        """
        wanted = decode(Policy, {**encode(policy), **self.policy}) if self.policy else policy
        if unknown := unknown_names(wanted):
            names = ", ".join(f"{kind} {name!r}" for kind, name in unknown)
            raise ReplayRefusedError(f"the policy uses plugins that are not available here: {names}")
        return wanted


class Rerun:
    """One replay. Without a change it ticks when the master ticked, otherwise also whenever something is due."""

    def __init__(self, recording: Recording, change: Change | None = None) -> None:
        self._recording = recording
        self._change = change or Change()
        self._changed = change is not None
        self._clock = SimulatedClock(recording.from_s)
        state = State()
        for execution in (*recording.ended, *recording.present):
            state.put(execution)
        state.policy = self._change.apply_to(recording.policy)
        self._state = state
        self._store = MemoryStore(_NO_LIMITS, state)
        self._backend = RecordedBackend(recording.services, self._clock, self._change.nodes)
        self._backend.inputs = recording.inputs
        for execution in recording.present:
            for service in execution.services:
                if service.alive and service.id in recording.services and service.node is not None:
                    self._backend.adopt(service.id, service.node)
        self._backend.cut_short = {number for number, moment in enumerate(recording.moments) if moment.cut_short}
        self._reconciler = _RecordedKeeper()
        wrote = (entry for moment in recording.moments for entry in moment.wrote)
        self._uses = RecordedUses((*recording.before, *wrote))
        self._epoch = -1
        self._master: Master | None = None

    def run(self) -> Iterator[tuple[ExecutionId, Event]]:
        """Replay everything; return every event of an execution from the begin on."""
        for number, moment in enumerate(self._recording.moments):
            self._tick_until(moment.at_s)
            self._backend.tick = number
            self._look(moment)
            if moment.cut_short and not self._changed:
                self._repeat(moment)
            else:
                self._tick()
        self._tick_until(self._recording.to_s)
        return (
            (record.execution_id, record.what)
            for record in self._state.journal
            if record.execution_id is not None and isinstance(record.what, Event)
        )

    def _repeat(self, moment: Moment) -> None:
        """Repeat the entries of a master that died during a tick; the next master continues from there."""
        for record in moment.wrote:
            assert record.execution_id is not None
            execution = self._store.execution(record.execution_id)
            event = to_event(record)
            with suppress(IllegalTransition):
                changed = self._store.append(execution.id, [event], execution.version, None)
                if isinstance(event, ev.ServiceStarting):
                    node = changed.service(event.service_id).node
                    assert node is not None
                    self._backend.adopt(event.service_id, node)
                elif isinstance(event, ev.ServiceStopping):
                    self._backend.stop([event.service_id])

    def _look(self, moment: Moment) -> None:
        """Set the inputs of the tick."""
        self._clock.advance(max(moment.at_s - self._clock.now_s(), 0.0))
        for record in moment.news:
            self._happen(record)
        self._backend.inputs = moment.inputs
        if moment.inputs.supply is not None:
            self._reconciler.look(moment.inputs)
        if self._master is None or moment.epoch != self._epoch:
            self._lead(moment)

    def _lead(self, moment: Moment) -> None:
        """Start a new master: like the recorded one, it knows only the stored state."""
        self._store.stop_leading()
        epoch = self._store.try_lead("replay")
        assert epoch is not None
        reconciler = self._reconciler if moment.inputs.supply is not None else None
        self._master = Master(
            self._store,
            self._backend,
            epoch,
            clock=self._clock,
            storage=reconciler,
            last_uses=lambda executions: self._uses.last_uses(executions, self._clock.now_s()),
            paths=self._reconciler.paths,
        )
        self._backend.executions = self._master.cache.executions
        self._epoch = moment.epoch

    def _happen(self, entry: JournalEntry) -> None:
        if entry.kind == "policy_set":
            wanted = self._change.apply_to(decode(Policy, entry.data))
            self._store.set_policy(wanted, self._state.policy.version, entry.at_s, entry.cause_id)
            return
        assert entry.execution_id is not None
        if entry.kind == "submitted":
            self._store.submit(self._recording.fresh[entry.execution_id], entry.cause_id)
        else:
            self._wish(entry.execution_id, to_event(entry))

    def _wish(self, execution_id: ExecutionId, event: Event) -> None:
        """Apply a user's request, or its equivalent for an execution in another state; do nothing if there is none."""
        version = self._store.execution(execution_id).version
        for wanted in _in_any_state(event):
            try:
                self._store.append(execution_id, [wanted], version, None)
            except IllegalTransition:
                continue
            return

    def _tick(self) -> None:
        assert self._master is not None
        self._master.tick()

    def _tick_until(self, at_s: float) -> None:
        """Tick whenever something is due before that time, if this may differ from the recording."""
        if not self._changed or self._master is None:
            return
        for _ in range(_EXTRA_TICKS_MAX):
            now_s = self._clock.now_s()
            due_s = self._master.next_due_s(now_s)
            next_s = min(math.inf if due_s is None else due_s, self._backend.next_change_s())
            if next_s >= at_s:
                return
            self._clock.advance(next_s - now_s)
            self._tick()


def _in_any_state(event: Event) -> Iterator[Event]:
    """Yield an event of a user; for a cancellation, its equivalents in other states."""
    yield event
    if isinstance(event, ev.Stopping | ev.Refused) and event.cause is Cause.CANCELLED:
        for kind in (ev.Stopping, ev.Refused):
            yield kind(
                at_s=event.at_s,
                cause_id=event.cause_id,
                outcome=event.outcome,
                cause=event.cause,
                message=event.message,
            )


class _RecordedKeeper:
    """Guarantees the recorded bandwidth; every desired state is in force at once."""

    def __init__(self) -> None:
        self._seen = StorageState()
        self._inputs = Inputs()
        self._asked: frozenset[Located] = frozenset()

    def locate(self, objects: frozenset[Located]) -> None:
        """Record the requested places."""
        self._asked = objects

    def places(self) -> Told:
        """Return the recorded places; inputs that were neither located nor awaited have none."""
        return dict.fromkeys(self._asked - self._inputs.awaited) | dict(self._inputs.locality)

    def moved_bytes(self) -> None:
        """Ignore it: paths come from the record."""

    def paths(self, _nodes: Sequence[Node], policy: Policy) -> Mapping[str, PathUse]:
        """Return the recorded measurements."""
        return self._inputs.paths if policy.weighers.get(WEIGHER) else {}

    def look(self, inputs: Inputs) -> None:
        """Set the inputs of a tick."""
        assert inputs.supply is not None
        self._seen = replace(self._seen, supply=inputs.supply)
        self._inputs = inputs

    def set_desired(self, wanted: DesiredSlos) -> StorageState:
        """Put the SLOs in force."""
        held = frozenset(promise.execution_id for promise in wanted.promises)
        verdicts = {view_id: ViewVerdict(False, (), "plainly: it is a replay") for view_id in wanted.undecided}
        self._seen = replace(self._seen, held=held, verdicts=verdicts, missing=wanted.missing(held))
        return self._seen

    def last_state(self) -> StorageState:
        """Return the last observation."""
        return self._seen

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
