"""The store in memory: the same contract without a database, for simulations and tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce

from zoe_lib.domain.applications.sharing import ALL, ExecutionShares, Visibility
from zoe_lib.domain.executions.arrays import member_of
from zoe_lib.domain.executions.deadline_misses import status_of
from zoe_lib.domain.executions.events import Event, submission_event
from zoe_lib.domain.executions.execution import WAITING_STATES, Execution, ExecutionId, ExecutionState, Mark
from zoe_lib.domain.executions.gateway import HeldOnNode, held_on_nodes
from zoe_lib.domain.executions.limits import LimitSubject, use_by_subject
from zoe_lib.domain.executions.promises import waits_for_store
from zoe_lib.domain.executions.use import DayOfUser, ResourceSeconds, daily_use
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.progress import ExecutionProgress
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.store_queries import StoreQuery, with_newer
from zoe_lib.store.base import Subscription
from zoe_lib.store.documents.cursors import decode_cursor, encode_cursor, position
from zoe_lib.store.documents.text import check_submission, checked_changes, clean_events, shown_key
from zoe_lib.store.errors import ConcurrentUpdate, IdempotencyConflict
from zoe_lib.store.memory.arrays import MemoryArrays
from zoe_lib.store.memory.state import MemorySubscription, add_use, shares_of_owner
from zoe_lib.store.quotas import apply_limits, check_owner, same_submission
from zoe_lib.store.values import (
    ExecutionChange,
    ExecutionPage,
    ExecutionQuery,
    JournalEntry,
    StoreWait,
)


class MemoryStore(MemoryArrays):
    """One process's handle on state in memory; `another` returns a second handle, like that of another process.

    `available = False` makes every call of this handle raise StoreUnavailable.
    """

    def another(self) -> MemoryStore:
        """Return a second handle on the same state."""
        return MemoryStore(self._limits, self._state)

    # -- executions ------------------------------------------------------------------------------------------------
    def submit(
        self,
        execution: Execution,
        cause_id: str,
        idempotency_key: str | None = None,
        fingerprint: str = "",
    ) -> Execution:
        """Store a new execution, once per key."""
        check_submission(execution, cause_id, idempotency_key, fingerprint)
        with self._reached() as state:
            earlier = self._stored_earlier(execution, idempotency_key, fingerprint)
            if earlier is not None:
                return earlier
            event = submission_event(execution, cause_id)
            new = apply(self._admit(execution), event)
            if idempotency_key is not None:
                key = (execution.tenant, idempotency_key)
                state.idempotency_keys[key] = (fingerprint, execution.id, execution.submitted_at_s)
            state.put(new)
            state.record(new, [event])
        state.notify_subscribers()
        return new

    def _admit(self, execution: Execution) -> Execution:
        state, tenant, user = self._state, execution.tenant, execution.user
        return apply_limits(execution, state.policy.limits, state.active_of[tenant], state.active_of_user[tenant, user])

    def submitted_with(self, tenant: str, idempotency_key: str, fingerprint: str) -> Execution | None:
        """Return the execution of a key."""
        with self._reached():
            return self._with_key(tenant, idempotency_key, fingerprint)

    def _with_key(self, tenant: str, key: str, fingerprint: str) -> Execution | None:
        used = self._state.idempotency_keys.get((tenant, key))
        if used is None:
            return None
        if used[0] != fingerprint:
            raise IdempotencyConflict(f"the idempotency key {shown_key(key)!r} was used for a different request")
        return self._state.executions[used[1]]

    def _stored_earlier(self, execution: Execution, idempotency_key: str | None, fingerprint: str) -> Execution | None:
        if idempotency_key is not None:
            earlier = self._with_key(execution.tenant, idempotency_key, fingerprint)
            if earlier is not None:
                check_owner(earlier, execution.user)
                return earlier
        stored = self._state.executions.get(execution.id)
        if stored is None:
            return None
        if not same_submission(stored, execution):
            raise ConcurrentUpdate(f"the execution id {execution.id} already exists")
        return stored

    def append(
        self,
        execution_id: ExecutionId,
        events: Sequence[Event],
        expected_version: int,
        leader_epoch: int | None,
        after: Execution | None = None,
    ) -> Execution:
        """Write events with their projection."""
        clean = clean_events(events)
        with self._reached() as state:
            self._check_leader(leader_epoch)
            execution = state.execution(execution_id)
            if execution.version != expected_version:
                raise ConcurrentUpdate(
                    f"execution {execution_id} has version {execution.version}, not {expected_version}"
                )
            if after is None or clean is not events:
                after = reduce(apply, clean, execution)
            state.put(after)
            state.record(after, clean)
        state.notify_subscribers()
        return after

    def append_all(
        self, changes: Sequence[ExecutionChange], leader_epoch: int | None
    ) -> Mapping[ExecutionId, Execution]:
        """Write changes of different executions."""
        clean = checked_changes(changes)
        written: dict[ExecutionId, Execution] = {}
        with self._reached() as state:
            self._check_leader(leader_epoch)
            for change in clean:
                stored = state.executions.get(change.before.id)
                if stored is None or stored.version != change.before.version:
                    continue
                state.put(change.after)
                state.record(change.after, change.events)
                written[change.after.id] = change.after
        if written:
            state.notify_subscribers()
        return written

    def execution(self, execution_id: ExecutionId) -> Execution:
        """Return one execution."""
        with self._reached() as state:
            return state.execution(execution_id)

    def add_use_of(self, execution_id: ExecutionId, at_s: float) -> None:
        """Record a use."""
        with self._reached() as state:
            if execution_id in state.executions:
                state.last_uses[execution_id] = max(at_s, state.last_uses.get(execution_id, at_s))

    def last_uses(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, float]:
        """Return the time of each execution's last use."""
        with self._reached() as state:
            return {id_: state.last_uses[id_] for id_ in execution_ids if id_ in state.last_uses}

    def set_progress(self, newest: Sequence[ExecutionProgress]) -> None:
        """Store progress."""
        with self._reached() as state:
            for progress in newest:
                before = state.progress.get(progress.execution_id)
                if progress.execution_id in state.executions and (before is None or progress.attempt >= before.attempt):
                    state.progress[progress.execution_id] = progress

    def progress_of(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, ExecutionProgress]:
        """Return the progress of each execution with a report."""
        with self._reached() as state:
            return {id_: state.progress[id_] for id_ in execution_ids if id_ in state.progress}

    def add_queries(self, execution_id: ExecutionId, newer: Sequence[StoreQuery]) -> None:
        """Add queries to the object store."""
        with self._reached() as state:
            if execution_id in state.executions:
                state.queries[execution_id] = with_newer(state.queries.get(execution_id, ()), newer)

    def queries_of(self, execution_id: ExecutionId) -> Sequence[StoreQuery]:
        """Return the newest queries to the object store."""
        with self._reached() as state:
            return state.queries.get(execution_id, ())

    def executions(self, query: ExecutionQuery) -> ExecutionPage:
        """Return a page of executions."""
        before = None if query.cursor is None else decode_cursor(query.cursor)
        with self._reached() as state:
            known = state.executions
            asked = known.values() if query.ids is None else [known[id_] for id_ in query.ids if id_ in known]
            matching = [
                execution
                for execution in asked
                if _matches(query, execution) and (before is None or position(execution) < before)
            ]
        matching.sort(key=position, reverse=True)
        searched_to_s, cursor = None, None
        if query.searches:
            if len(matching) >= self._limits.searched_max:
                last = matching[self._limits.searched_max - 1]
                searched_to_s, cursor = last.submitted_at_s, encode_cursor(last)
                del matching[self._limits.searched_max :]
            matching = [execution for execution in matching if _is_found(query, execution)]
        if len(matching) <= query.limit:
            return ExecutionPage(matching, cursor, searched_to_s)
        page = matching[: query.limit]
        return ExecutionPage(page, encode_cursor(page[-1]))

    def active(self) -> Sequence[Execution]:
        """Return all active executions."""
        with self._reached() as state:
            return sorted(state.active.values(), key=position)

    def counts(self) -> Mapping[ExecutionState, int]:
        """Return the number of executions by state."""
        with self._reached() as state:
            return dict(state.counts)

    def active_counts(self) -> Mapping[tuple[str, str], int]:
        """Return the number of waiting and running executions, by tenant and user."""
        with self._reached() as state:
            return +state.active_of_user

    def active_among(self, ids: Collection[ExecutionId], visibility: Visibility = ALL) -> Collection[ExecutionId]:
        """Return the visible, active executions among these."""
        with self._reached() as state:
            found = (state.active[id_] for id_ in ids if id_ in state.active)
            return {execution.id for execution in found if visibility.includes(shares_of_owner(execution))}

    def waiting_for_store(self, visibility: Visibility = ALL) -> Sequence[StoreWait]:
        """Return the executions that wait for the object store."""
        return [
            StoreWait(execution.id, execution.tenant, execution.user, reason.sentence)
            for execution in self.active()
            if visibility.includes(shares_of_owner(execution)) and (reason := waits_for_store(execution)) is not None
        ]

    def use_by_subject(self) -> Mapping[LimitSubject, Mapping[str, int]]:
        """Return the use of tenants and users."""
        return use_by_subject(self.active())

    def held_on_nodes(self, gateway: Resources) -> Mapping[str, HeldOnNode]:
        """Return the resources held on each node."""
        return held_on_nodes(self.active(), gateway)

    # -- journal ---------------------------------------------------------------------------------------------------
    def journal(
        self,
        after_id: int,
        limit: int,
        visibility: Visibility = ALL,
        execution_id: ExecutionId | None = None,
        with_data: bool = True,
    ) -> Sequence[JournalEntry]:
        """Return entries after an id."""
        with self._reached() as state:
            return [record.entry(with_data) for record in state.records(after_id, limit, visibility, execution_id)]

    def shares_of(self, ids: Collection[ExecutionId]) -> Mapping[ExecutionId, ExecutionShares]:
        """Return the owners: executions in memory have no shares."""
        with self._reached() as state:
            return {id_: state.shares(id_) for id_ in ids if id_ in state.executions or id_ in state.arrays}

    def last_journal_id(self) -> int:
        """Return the newest id."""
        with self._reached() as state:
            return state.journal[-1].id if state.journal else 0

    def subscribe(self, notify: Callable[[], None]) -> Subscription:
        """Call back after commits, in the committing thread."""
        with self._reached() as state:
            subscription = MemorySubscription(state)
            state.subscribers[subscription] = notify
            return subscription

    # -- usage and upkeep ------------------------------------------------------------------------------------------
    def prune(self, now_s: float) -> int:
        """Remove old executions."""
        with self._reached() as state:
            state.prune_keys(now_s - self._limits.idempotency_keys_kept_s)
            return state.prune(now_s - self._limits.retention_s)

    def cut_s(self) -> float:
        """Return the time before which ended executions may have been removed."""
        with self._reached() as state:
            return state.cut_s

    def sum_up(self) -> bool:
        """Do nothing: the store in memory keeps no sums."""
        with self._reached():
            return False

    def daily_use(
        self, from_day: int, to_day: int, now_s: float | None = None, tenant: str | None = None
    ) -> Mapping[DayOfUser, ResourceSeconds]:
        """Return usage by day, tenant and user."""
        with self._reached() as state:
            result = dict(state.kept_use)
            add_use(result, daily_use(state.executions.values(), now_s))
        return {
            key: use for key, use in result.items() if from_day <= key.day <= to_day and tenant in (None, key.tenant)
        }


def _array_of(execution: Execution) -> str | None:
    member = member_of(execution.id)
    return None if member is None else member.array_id


def _is_found(query: ExecutionQuery, execution: Execution) -> bool:
    return (
        (query.name_contains or "").lower() in execution.name.lower()
        and query.kind in (None, execution.application.kind)
        and query.application in (None, execution.application.name)
    )


def _is_held(execution: Execution) -> bool:
    return execution.state in WAITING_STATES and execution.conditions.held is not None


def _matches(query: ExecutionQuery, execution: Execution) -> bool:
    return (
        query.visibility.includes(shares_of_owner(execution))
        and (query.user is None or execution.user == query.user)
        and (query.states is None or execution.state in query.states or (query.held and _is_held(execution)))
        and (query.ids is None or execution.id in query.ids)
        and (query.array_id is None or query.array_id == _array_of(execution))
        and query.deadline in (None, status_of(execution, query.now_s))
        and not (query.alone and _array_of(execution))
        and (query.family is None or (_array_of(execution) or execution.id) in query.family)
        and (query.submitted_from_s is None or execution.submitted_at_s >= query.submitted_from_s)
        and (query.submitted_to_s is None or execution.submitted_at_s <= query.submitted_to_s)
        and (query.ended_from_s is None or execution.marks.get(Mark.ENDED, math.inf) >= query.ended_from_s)
    )
