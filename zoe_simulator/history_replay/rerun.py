"""Run the production master through a recording, under the recorded policy or another one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import ArrayEventKind, member_of
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionId, awaits_prologue
from zoe_lib.domain.executions.promises import view_schemes
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.memory.state import State
from zoe_lib.store.values import JournalEntry
from zoe_master.backends.simulated import SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.plugins import unknown_names
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.state.run_history import recently_ended
from zoe_master.storage.spark_config import SparkConfig
from zoe_simulator.history_replay import arrays
from zoe_simulator.history_replay.backend import RecordedBackend
from zoe_simulator.history_replay.keeper import RecordedKeeper
from zoe_simulator.history_replay.kinds import ARRAYS, POLICY_SET
from zoe_simulator.history_replay.programs import RecordedCredentials, RecordedPrograms
from zoe_simulator.history_replay.promises import NewDecisions, recorded_decisions
from zoe_simulator.history_replay.recording import Moment, Recording, ReplayRefusedError, to_event
from zoe_simulator.history_replay.store import ReplayStore
from zoe_simulator.history_replay.uses import RecordedUses

# Ticks between two recorded ones: the next tick settles whatever follows immediately from a tick.
_EXTRA_TICKS_MAX = 100_000
# Ticks at one time until nothing more is to be decided.
_DECIDING_MAX = 20


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
    """One replay.

    It ticks when the master ticked, with the same input from other writers, until the change makes a difference: from
    then on, it also ticks whenever something is due, and decides on promises itself.
    """

    def __init__(self, recording: Recording, change: Change | None = None) -> None:
        self._recording = recording
        self._change = change or Change()
        self._differs = bool(self._change.nodes)
        self._clock = SimulatedClock(recording.from_s)
        state = State()
        for execution in (*recording.ended, *recording.present):
            state.put(execution)
        recording.arrays.put_past(state)
        state.policy = self._policy(recording.policy)
        self._state = state
        self._store = ReplayStore(state, self._happen)
        self._backend = RecordedBackend(recording.services, self._clock, self._change.nodes)
        self._backend.inputs = recording.inputs
        self._backend.cut_short = {number for number, moment in enumerate(recording.moments) if moment.cut_short}
        self._keeper = RecordedKeeper()
        self._programs = RecordedPrograms(recording.moments, self._clock)
        self._spark = _RecordedSpark(RecordedCredentials(recording.before, recording.moments))
        for execution in recording.present:
            self._adopt(execution)
        wrote = (entry for moment in recording.moments for entry in moment.wrote)
        self._uses = RecordedUses((*recording.before, *wrote))
        self._bookings: Mapping[str, Booking] = recording.inputs.bookings
        self._happened: set[int] = set()
        self._epoch = -1
        self._master: Master | None = None
        self._deciding: NewDecisions | None = None

    def _adopt(self, execution: Execution) -> None:
        """Adopt the services that run at the begin; a prologue or a credential may still keep them from starting."""
        if awaits_prologue(execution) or self._spark.recorded.is_awaited(execution, 0.0, 0.0):
            return
        for service in execution.services:
            if service.alive and service.id in self._recording.services and service.node is not None:
                self._backend.adopt(service.id, service.node)

    def run(self) -> Iterator[tuple[ExecutionId, Event]]:
        """Replay everything; return every event of an execution from the begin on."""
        for number, moment in enumerate(self._recording.moments):
            self._tick_until(moment.at_s)
            self._look(moment, number)
            if moment.cut_short and not self._differs:
                self._repeat(moment)
            else:
                self._tick()
            self._bookings = moment.inputs.bookings
        self._tick_until(self._recording.to_s)
        return (
            (record.execution_id, record.what)
            for record in self._state.journal
            if record.execution_id is not None and isinstance(record.what, Event)
        )

    @property
    def executions(self) -> Mapping[ExecutionId, Execution]:
        """Return all executions of the replay at its end."""
        return self._state.executions

    def _policy(self, recorded: Policy) -> Policy:
        """Return a recorded policy with the change, and note whether that makes a difference."""
        wanted = self._change.apply_to(recorded)
        self._differs |= replace(wanted, version=recorded.version) != recorded
        return wanted

    def _repeat(self, moment: Moment) -> None:
        """Repeat the entries of a master that died during a tick; the next master continues from there."""
        for record in moment.wrote:
            assert record.execution_id is not None
            if record.kind in ARRAYS:
                arrays.happen(self._store, record, self._recording.arrays.lists)
            elif record.kind == ev.Submitted.kind:
                self._repeat_index(record.execution_id, record.cause_id)
            else:
                self._repeat_event(record)

    def _repeat_index(self, execution_id: ExecutionId, cause_id: str) -> None:
        execution, member = self._recording.fresh[execution_id], member_of(execution_id)
        assert member is not None
        array = self._store.array(member.array_id)
        position = array.indices.position(member.index)
        if position is not None:
            self._store.make_of_array(array, [(position, execution)], cause_id, self._state.epoch)

    def _repeat_event(self, record: JournalEntry) -> None:
        execution = self._store.execution(record.execution_id or "")
        event = to_event(record)
        with suppress(IllegalTransition):
            changed = self._store.append(execution.id, [event], execution.version, None)
            if isinstance(event, ev.ServiceStarting):
                if self._spark.recorded.is_awaited(changed, 0.0, 0.0):  # the next master handed it over
                    return
                node = changed.service(event.service_id).node
                assert node is not None
                self._backend.adopt(event.service_id, node)
            elif isinstance(event, ev.ServiceStopping):
                self._backend.stop([event.service_id])

    def _look(self, moment: Moment, number: int) -> None:
        """Set the inputs of the tick."""
        self._clock.advance(max(moment.at_s - self._clock.now_s(), 0.0))
        for record in moment.news:
            self._happen(record)
        as_recorded = None if self._differs else moment
        self._backend.tick, self._backend.unchanged = number, not self._differs
        self._backend.inputs = moment.inputs
        self._programs.moment, self._keeper.moment = as_recorded, as_recorded
        self._spark.recorded.tick = None if self._differs else number
        if moment.inputs.supply is not None:
            self._keeper.look(moment.inputs)
        made = (
            None
            if self._differs
            else frozenset(e.execution_id or "" for e in moment.wrote if e.kind == ev.Submitted.kind)
        )
        racing = () if self._differs else moment.raced
        self._store.begin_tick(racing, moment.wrote, made)
        if self._master is None or moment.epoch != self._epoch:
            self._lead(moment)
        if not self._differs:
            self._give_decisions(moment)

    def _give_decisions(self, moment: Moment) -> None:
        assert self._master is not None
        self._master.cache.scan_from = moment.inputs.scan_from
        before = self._bookings
        self._master.note_promises(recorded_decisions(moment, before, self._state.active.get))

    def _lead(self, moment: Moment) -> None:
        """Start a new master: like the recorded one, it knows only the stored state. The first one may have led before
        the begin of the replay, and then has the recorded bookings.
        """
        self._store.stop_leading()
        epoch = self._store.try_lead("replay")
        assert epoch is not None
        led_before = self._master is None and moment.epoch == self._recording.epoch
        self._master = Master(
            self._store,
            self._backend,
            epoch,
            clock=self._clock,
            storage=self._keeper if moment.inputs.supply is not None else None,
            spark_config=self._spark,
            last_uses=lambda executions: self._uses.last_uses(executions, self._clock.now_s()),
            paths=self._keeper.paths,
            programs=self._programs,
            bookings=self._bookings.values() if led_before else None,
        )
        self._backend.executions = self._master.cache.executions
        self._epoch, self._deciding = moment.epoch, None

    def _happen(self, entry: JournalEntry) -> None:
        """Do what another writer did, once."""
        if entry.id in self._happened:
            return
        self._happened.add(entry.id)
        if entry.kind == POLICY_SET:
            wanted = self._policy(decode(Policy, entry.data))
            self._store.set_policy(wanted, self._state.policy.version, entry.at_s, entry.cause_id)
            return
        assert entry.execution_id is not None
        if entry.kind in ARRAYS:
            self._happen_to_array(entry)
        elif entry.kind == ev.Submitted.kind:
            self._store.submit(self._recording.fresh[entry.execution_id], entry.cause_id)
        else:
            self._wish(entry.execution_id, to_event(entry))

    def _happen_to_array(self, entry: JournalEntry) -> None:
        recorded = self._recording.arrays
        if entry.kind == ArrayEventKind.SUBMITTED:
            self._store.submit_array(recorded.fresh[entry.execution_id or ""], entry.cause_id)
        else:
            arrays.happen(self._store, entry, recorded.lists)

    def _wish(self, execution_id: ExecutionId, event: Event) -> None:
        """Apply a user's request, or its equivalent for an execution in another state; do nothing if there is none, or
        if it is the index of an array that has not begun here.
        """
        execution = self._state.executions.get(execution_id)
        if execution is None:
            return
        for wanted in _in_any_state(event):
            try:
                self._store.append(execution_id, [wanted], execution.version, None)
            except IllegalTransition:
                continue
            return

    def _tick(self) -> None:
        assert self._master is not None
        tick = self._master.tick()
        for _ in range(_DECIDING_MAX if self._differs else 0):
            if self._deciding is None:
                self._master.run_times.recall(recently_ended(self._store))
                self._deciding = NewDecisions(self._master, self._recording.prices, self._clock)
            if not self._deciding.decide_on(tick):
                return
            tick = self._master.tick()

    def _tick_until(self, at_s: float) -> None:
        """Tick whenever something is due before that time, if this may differ from the recording."""
        if not self._differs or self._master is None:
            return
        self._programs.moment, self._keeper.moment, self._spark.recorded.tick = None, None, None
        for _ in range(_EXTRA_TICKS_MAX):
            now_s = self._clock.now_s()
            dues = (self._master.next_due_s(now_s), self._backend.next_change_s(), self._programs.next_change_s())
            next_s = min((due_s for due_s in dues if due_s is not None), default=math.inf)
            if next_s >= at_s:
                return
            self._clock.advance(next_s - now_s)
            self._tick()


class _RecordedSpark(SparkConfig):
    """Configuration that awaits credentials as recorded, and may read every input through a view."""

    def __init__(self, recorded: RecordedCredentials) -> None:
        super().__init__()
        self.own = self.recorded = recorded

    @property
    def view_schemes(self) -> tuple[str, ...]:
        """Return all schemes."""
        return view_schemes(True)


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
