"""The active executions, kept in memory and updated from the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from types import MappingProxyType
from typing import TypeVar

import structlog

from zoe_client.vocabulary import DeadlineCause
from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind
from zoe_lib.domain.executions.events import Event, StorageTransferred
from zoe_lib.domain.executions.execution import (
    ACTIVE_STATES,
    TERMINAL_STATES,
    WAITING_STATES,
    Execution,
    ExecutionId,
    ExecutionState,
    ServiceId,
    ServiceState,
)
from zoe_lib.domain.executions.guaranteed import as_guaranteed
from zoe_lib.domain.executions.promises import BandwidthSupply
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Located
from zoe_lib.run_times.samples import RunKey, run_key
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotFound
from zoe_lib.store.values import ArrayChange, ExecutionChange, ExecutionQuery, JournalEntry
from zoe_master.scheduler.ordering.capacity import capacity_of
from zoe_master.scheduler.ordering.orders import SIZED_ORDERS
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.state.arrays import ActiveArrays
from zoe_master.state.conditional import ConditionalExecutions, is_conditional, may_be_late
from zoe_master.state.forecasts import ForecastRecord
from zoe_master.state.kept_ledger import KeptLedger
from zoe_master.state.pending_queue import PendingQueue
from zoe_master.state.promise_bookings import PromiseBookings
from zoe_master.state.run_history import KindEstimates, RunTimeHistory
from zoe_master.state.run_times import LearnedRunTimes
from zoe_master.state.tick_context import TickContext

log = structlog.get_logger(__name__)

T = TypeVar("T")

# A tick is bounded: the next tick reads the rest.
_ENTRIES_PER_READ = 1000
_READS_PER_TICK_MAX = 4
# Users who submit or cancel wait while the entries of a set are written.
CHANGES_PER_SET = 500
_OF_ARRAYS = frozenset(ArrayEventKind)
_UNDER_WAY = (ServiceState.STARTING, ServiceState.STOPPING)
_NO_PATHS: Mapping[str, PathUse] = MappingProxyType({})
_NOTHING_TOLD: Mapping[Located, Places | None] = MappingProxyType({})


class StateCache:
    """The master's state of executions. Every change goes to the store first, then into this cache.

    `changes_per_set`: maximum executions that one transaction changes.
    """

    def __init__(self, store: ExecutionStore, leader_epoch: int, changes_per_set: int = CHANGES_PER_SET) -> None:
        self._store = store
        self._epoch = leader_epoch
        self._changes_per_set = changes_per_set
        self._journal_id = store.last_journal_id()
        self._executions: dict[ExecutionId, Execution] = {e.id: e for e in store.active()}
        self._active = {e.id: e for e in self._executions.values() if e.state in ACTIVE_STATES}
        self._active_in_order = True
        self._moving = {e.id: e for e in self._active.values() if _is_moving(e)}
        self.alive_of_active = {e.id: _alive(e) for e in self._active.values()}
        """Services that may still run, by active execution; it changes."""
        self._ledger = KeptLedger()
        # The versions at which this master ended executions: journal entries up to these contain nothing new.
        self._ended_here: dict[ExecutionId, int] = {}
        self._raced = False
        self._wrote = False
        self._outcomes: Counter[ExecutionState] = Counter()
        self._missed: Counter[DeadlineCause] = Counter()
        self._transferred: Counter[tuple[str, str]] = Counter()
        self.behind = False
        """Whether the last `catch_up` left unread entries."""
        self.correct_estimates = False
        """Whether backfill corrects exceeded run times in snapshots; for replays of logs."""
        self.scan_from = 0
        """Where the last pass stopped its scan of a long queue."""
        self.policy: Policy = store.policy()
        self._history = RunTimeHistory(store, self.policy.usage_half_life_s)
        self._kinds = KindEstimates(self._history.expected_s, self._history.knows_user)
        self.run_times = LearnedRunTimes()
        for execution in self._executions.values():
            self._kinds.enter(run_key(execution))
            self.run_times.note(execution)
        self.conditional = ConditionalExecutions[Execution]()
        """Executions that do not count as waiting before their conditions are met."""
        self.promises = PromiseBookings(self._executions.values())
        self.arrays = ActiveArrays(store)
        waiting: list[Execution] = []
        for execution in self._executions.values():
            if is_conditional(execution):
                self.conditional.put(execution)
            elif execution.state in WAITING_STATES:
                waiting.append(as_guaranteed(execution))
                if may_be_late(execution):
                    self.conditional.put(execution)
        self.backlog = PendingQueue(waiting, self.policy, self._kinds.known)

    def catch_up(self) -> int:
        """Read journal entries of other writers since the last call: submissions, cancellations, policies.

        Return the id of the last entry read; `behind`: there may be more.
        """
        for _ in range(_READS_PER_TICK_MAX):
            entries = self._store.journal(self._journal_id, _ENTRIES_PER_READ, with_data=False)
            self.behind = len(entries) == _ENTRIES_PER_READ
            self._journal_id = entries[-1].id if entries else self._journal_id
            self._reload(list(self._changed_elsewhere(entries)))
            self._read_arrays()
            if any(entry.execution_id is None for entry in entries):
                self.policy = self._store.policy()
            if not self.behind:
                break
        return self._journal_id

    def _read_arrays(self) -> None:
        for array in self.arrays.read(self._executions):
            self._notify_dependents(array.id, array.state)

    def _notify_dependents(self, on: str, state: ExecutionState) -> None:
        """Notify the dependents of an execution or array that it has ended."""
        self.conditional.note_end(on, state)
        self.arrays.conditional.note_end(on, state)

    def change_array(
        self, array: Array, decide: Callable[[Array, bytearray], ArrayChange | None], tick: TickContext
    ) -> None:
        """Change an array in the store, and read it again."""
        self._store.change_array(array.id, decide, tick.now_s, tick.plan_id, self._epoch)
        self.arrays.mark_changed(array.id)
        self._read_arrays()

    def make(self, array: Array, wanted: Sequence[tuple[int, Execution]], cause_id: str) -> int | None:
        """Store executions of an array and add them; return how many, None if the array has changed meanwhile."""
        made = self._store.make_of_array(array, wanted, cause_id, self._epoch)
        if made is None:
            self.arrays.mark_changed(array.id)
            return None
        self._wrote |= bool(made)
        for execution in made:
            self._keep(execution)
        return len(made)

    def entries_of(self, array: Array, positions: Collection[int]) -> Mapping[int, Entry]:
        """Return the entries of an array at these positions; none for an array without entries."""
        return {} if array.entries is None else self._store.array_entries(array.id, positions)

    def append(self, execution: Execution, events: Sequence[Event]) -> Execution | None:
        """Write events and cache the result; return None if the store refused, usually because another writer was
        faster.

        The cache then contains the newer state, and the next tick decides again.
        """
        if not events:
            return execution
        change = self.change(execution, events)
        return self.append_all([change]).get(execution.id) if change is not None else None

    def change(self, execution: Execution, events: Sequence[Event]) -> ExecutionChange | None:
        """Return the change that these events make; None if they are illegal, which is logged."""
        after = self.execution_after(execution, events)
        return ExecutionChange(execution, events, after) if after is not None else None

    def in_sets(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """Split changes into sets of the size that one transaction takes."""
        for first in range(0, len(items), self._changes_per_set):
            yield items[first : first + self._changes_per_set]

    def append_all(self, changes: Sequence[ExecutionChange]) -> Mapping[ExecutionId, Execution]:
        """Write a set of changes of different executions and cache the results, without those that lost a race, as in
        `append`.
        """
        if not changes:
            return {}
        stored = self._store.append_all(changes, self._epoch)
        for change in changes:
            if change.before.id in stored:
                self._note_written(change, stored[change.before.id])
        lost = [change.before.id for change in changes if change.before.id not in stored]
        self._raced |= bool(lost)
        self._reload(lost)
        return stored

    def _note_written(self, change: ExecutionChange, changed: Execution) -> None:
        self._wrote = True
        self._keep(changed)
        for event in change.events:
            if isinstance(event, StorageTransferred):
                self._transferred[changed.tenant, "read"] += event.transfers.read_bytes
                self._transferred[changed.tenant, "write"] += event.transfers.written_bytes
        if changed.terminal:
            self._ended_here[changed.id] = changed.version
        if changed.state is not change.before.state:
            log.info("execution", execution=changed.id, state=changed.state.value, plan=change.events[-1].cause_id)

    def execution_after(self, execution: Execution, events: Iterable[Event]) -> Execution | None:
        """Return the execution after these events; None if they are illegal, which is logged."""
        try:
            return reduce(apply, events, execution)
        except IllegalTransition as error:
            # A defect of Zoe that affects this execution only: the others continue, and the log has the details.
            log.error("illegal transition", execution=execution.id, why=str(error))
            return None

    @property
    def record(self) -> ForecastRecord:
        """Return the outcomes of forecasts."""
        return self._history.record

    def expected_s(self, kind: RunKey) -> float | None:
        """Return the run time in seconds from past runs of a kind; other threads may call this."""
        return self._history.expected_s(kind)

    def take_raced(self) -> bool:
        """Return whether an append lost a race since the last call."""
        raced, self._raced = self._raced, False
        return raced

    def take_wrote(self) -> bool:
        """Return whether anything was appended since the last call."""
        wrote, self._wrote = self._wrote, False
        return wrote

    def take_outcomes(self) -> Mapping[ExecutionState, int]:
        """Return how many executions have ended in each terminal state since the last call."""
        outcomes, self._outcomes = self._outcomes, Counter()
        return outcomes

    def take_missed(self) -> Mapping[DeadlineCause, int]:
        """Return how many deadlines were missed for each cause since the last call."""
        missed, self._missed = self._missed, Counter()
        return missed

    def take_transferred(self) -> Mapping[tuple[str, str], int]:
        """Return the bytes journalled since the last call, by tenant and direction."""
        transferred, self._transferred = self._transferred, Counter()
        return transferred

    def snapshot(
        self,
        now_s: float,
        nodes: Sequence[Node],
        held: Mapping[ExecutionId, Reason],
        storage: BandwidthSupply | None = None,
        locality: Mapping[Located, Places | None] = _NOTHING_TOLD,
        paths: Mapping[str, PathUse] = _NO_PATHS,
    ) -> Snapshot:
        """Return the immutable snapshot on which the scheduler decides."""
        active = self.active()
        if started := self.promises.started_executions:
            active = tuple(started.get(execution.id, execution) for execution in active)
        by_usage = self.policy.order == "fair-share"
        capacity = capacity_of(nodes) if self.policy.order in SIZED_ORDERS else Resources()
        with_holds = bool(self.policy.node_holds or self.policy.node_windows)
        nodes = tuple(self._with_holds(node, now_s) for node in nodes) if with_holds else tuple(nodes)
        self.promises.look(nodes)
        return Snapshot(
            now_s=now_s,
            nodes=nodes,
            held=held,
            queued=self.backlog.ranked_queue(self.policy, capacity),
            active=active,
            past_runs=self._kinds.snapshot(),
            used=self._history.used_by_tenant(active, now_s, self.policy.usage_half_life_s) if by_usage else {},
            departed=self._history.departed_arrivals if self.policy.order == "psbs" else (),
            storage=storage,
            locality=locality,
            paths=paths,
            correct_estimates=self.correct_estimates,
            bookings=self.promises.bookings(),
            scan_from=self.scan_from,
            accounts=self._ledger.ledger_for(nodes, active, locality, paths),
        )

    def _with_holds(self, node: Node, now_s: float) -> Node:
        holds = self.policy.holds_of(node.name, now_s)
        return replace(node, holds=holds) if holds else node

    def executions(self) -> list[Execution]:
        """Return every active execution, oldest first."""
        return list(self._executions.values())

    def active(self) -> tuple[Execution, ...]:
        """Return executions that hold reservations, oldest first."""
        if not self._active_in_order:
            self._active = {e.id: e for e in sorted(self._active.values(), key=_by_age)}
            self._active_in_order = True
        return tuple(self._active.values())

    def moving(self) -> list[Execution]:
        """Return running executions with services that start, stop, or must, oldest first."""
        return sorted(self._moving.values(), key=_by_age)

    def get(self, execution_id: ExecutionId) -> Execution | None:
        """Return the execution; None if it has ended or is unknown."""
        return self._executions.get(execution_id)

    def stored_executions(self, ids: Iterable[ExecutionId]) -> Mapping[ExecutionId, Execution]:
        """Return these executions, without unknown ones, ended ones included."""
        found = {id_: self._executions[id_] for id_ in ids if id_ in self._executions}
        for some in self.in_sets([id_ for id_ in ids if id_ not in found]):
            query = ExecutionQuery(ids=frozenset(some), limit=len(some))
            found |= {execution.id: execution for execution in self._store.executions(query).executions}
        return found

    def alive_services(self, executions: Iterable[ExecutionId]) -> set[ServiceId]:
        """Return the ids of those services of these executions that may still run."""
        known = map(self._executions.get, executions)
        return {s.id for e in known if e is not None for s in e.services if s.alive}

    def _changed_elsewhere(self, entries: Iterable[JournalEntry]) -> Iterator[ExecutionId]:
        newest: dict[ExecutionId, JournalEntry] = {}
        for entry in entries:
            if entry.execution_id is None:
                continue
            if entry.kind in _OF_ARRAYS:
                self.arrays.mark_changed(entry.execution_id)
            else:
                newest[entry.execution_id] = entry
        for execution_id, entry in newest.items():
            if execution_id in self._ended_here:
                if entry.version == self._ended_here[execution_id]:
                    del self._ended_here[execution_id]
                continue
            known = self._executions.get(execution_id)
            if known is None or known.version < (entry.version or 0):
                log.info("heard", execution=execution_id, kind=entry.kind, request=entry.cause_id)
                yield execution_id

    def _reload(self, executions: Sequence[ExecutionId]) -> None:
        for some in self.in_sets(executions):
            query = ExecutionQuery(ids=frozenset(some), limit=len(some))
            stored = {execution.id: execution for execution in self._store.executions(query).executions}
            for execution_id in some:
                if execution_id in stored:
                    self._keep(stored[execution_id])
                else:
                    self._drop(execution_id)

    def look_up(self, ids: Iterable[ExecutionId]) -> None:
        """Look up ended executions that are unknown here, for their dependents."""
        absent = [id_ for id_ in ids if id_ not in self._executions]
        for some in self.in_sets(absent):
            query = ExecutionQuery(ids=frozenset(some), limit=len(some))
            states = {execution.id: execution.state for execution in self._store.executions(query).executions}
            for text in some:
                state = states.get(text)
                if state is None and (array := self._array(text)) is not None:
                    state = array.state
                if state is None or state in TERMINAL_STATES:
                    self.conditional.note_end(text, state)
                    self.arrays.conditional.note_end(text, state)

    def _array(self, array_id: str) -> Array | None:
        try:
            return self._store.array(array_id)
        except NotFound:
            return None

    def _keep(self, execution: Execution) -> None:
        before = self._executions.get(execution.id)
        if execution.missed is not None and before is not None and before.missed is None:
            self._missed[execution.missed.cause] += 1
        self.arrays.update_execution(execution)
        if execution.terminal:
            self._notify_dependents(execution.id, execution.state)
            if self._drop(execution.id):
                self._outcomes[execution.state] += 1
                self._history.learn(execution, self.policy.usage_half_life_s)
                self.run_times.note(execution)
                for kind in self._kinds.run_ended(run_key(execution)):
                    self.backlog.rank_again(kind)
            elif execution.transfers is not None:
                self.run_times.note(execution)  # its transfers are known now
            return
        if before is not None and (before.application is not execution.application or before.user != execution.user):
            self._drop(before.id)  # its size, kind or owner may have changed
            before = None
        if before is None:
            self._kinds.enter(run_key(execution))
            self.run_times.note(execution)
        self._executions[execution.id] = execution
        self.promises.keep(execution)
        if execution.state in WAITING_STATES:
            self._keep_waiting(execution)
        else:
            self.backlog.remove(execution)
            self.conditional.remove(execution.id)
            # Younger executions may have started earlier.
            self._active_in_order &= execution.id in self._active
            self._active[execution.id] = execution
            self.alive_of_active[execution.id] = _alive(execution)
            self._ledger.put(execution)
            if _is_moving(execution):
                self._moving[execution.id] = execution
            else:
                self._moving.pop(execution.id, None)
        if before is not None and before.state in WAITING_STATES and execution.state is ExecutionState.STARTING:
            self._history.record.record_wait(execution)

    def _keep_waiting(self, execution: Execution) -> None:
        if is_conditional(execution):
            self.conditional.put(execution)
            self.backlog.remove(execution)
        else:
            self.conditional.remove(execution.id)
            if may_be_late(execution):
                self.conditional.put(execution)
            self.backlog.put(as_guaranteed(execution))
        self._moving.pop(execution.id, None)
        self._leave(execution.id)

    def _drop(self, execution_id: ExecutionId) -> bool:
        """Forget an execution that has ended; return whether it was known."""
        known = self._executions.pop(execution_id, None)
        if known is None:
            return False
        self.promises.drop(execution_id)
        self.backlog.remove(known)
        self.conditional.remove(execution_id)
        self._leave(execution_id)
        self._moving.pop(execution_id, None)
        self._kinds.leave(run_key(known))
        return True

    def _leave(self, execution_id: ExecutionId) -> None:
        """Record that an execution has no reservation any more; no effect if it had none."""
        if self._active.pop(execution_id, None) is not None:
            del self.alive_of_active[execution_id]
            self._ledger.remove(execution_id)


def _alive(execution: Execution) -> frozenset[ServiceId]:
    return frozenset([service.id for service in execution.services if service.alive])


def _is_moving(execution: Execution) -> bool:
    """Return whether the execution stops, or any of its services is starting or stopping."""
    if execution.state is ExecutionState.STOPPING:
        return True
    return any(s.state in _UNDER_WAY or (s.state is ServiceState.CREATED and s.node) for s in execution.services)


def _by_age(execution: Execution) -> tuple[float, ExecutionId]:
    return execution.submitted_at_s, execution.id
