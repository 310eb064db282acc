"""The interface of a store of executions: the journal, its projections, and the few tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.applications.sharing import ALL, ExecutionShares, Visibility
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.arrays import Array, ArrayId
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.executions.gateway import HeldOnNode
from zoe_lib.domain.executions.limits import Limits, LimitSubject
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.executions.use import DayOfUser, ResourceSeconds
from zoe_lib.domain.values.progress import ExecutionProgress
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.store_queries import StoreQuery
from zoe_lib.store.values import (
    ArrayChange,
    ArrayPage,
    ArrayQuery,
    ArrayRuns,
    ExecutionChange,
    ExecutionPage,
    ExecutionQuery,
    JournalEntry,
    Leader,
    StoreWait,
    TickRecord,
)


class Subscription(Protocol):
    """A running subscription to journal news."""

    def close(self) -> None:
        """End the subscription."""
        ...


class ExecutionStore(Protocol):
    """Executions, their journal, and the installation that runs them.

    Thread-safe; a call that raised anything but StoreUnavailable changed nothing. Every method may raise
    StoreUnavailable. `leader_epoch` is None only for actions of users, such as submit, cancel, hold and modify.
    """

    # -- executions ------------------------------------------------------------------------------------------------
    def submit(
        self,
        execution: Execution,
        cause_id: str,
        idempotency_key: str | None = None,
        fingerprint: str = "",
    ) -> Execution:
        """Store a new execution with its services and the `submitted` event, in one transaction.

        `execution` is fresh (version 0, no services); the returned one is as stored. The same key of the same user in
        the tenant with the same fingerprint returns the execution stored first; with another fingerprint, or of another
        user, it raises IdempotencyConflict. The same id by the same user also returns the stored execution; by another
        user it raises ConcurrentUpdate. The same transaction checks the limits: QuotaExceeded if the tenant or its user
        has reached one, TimeLimitTooLong. An execution without a time limit is stored with the longest one allowed, and
        with a note about it.
        """
        ...

    def submitted_with(self, tenant: str, idempotency_key: str, fingerprint: str) -> Execution | None:
        """Return that tenant's execution with that key; None if there is none. Raises IdempotencyConflict."""
        ...

    def append(
        self,
        execution_id: ExecutionId,
        events: Sequence[Event],
        expected_version: int,
        leader_epoch: int | None,
        after: Execution | None = None,
    ) -> Execution:
        """Apply events in order, write them with their projection in one transaction, and return the execution after
        them.

        `after` is the state that they lead to from the expected version, if the caller has applied them already. Raises
        NotLeader, NotFound, ConcurrentUpdate, or the lifecycle's IllegalTransition, checked in this order.
        """
        ...

    def append_all(
        self, changes: Sequence[ExecutionChange], leader_epoch: int | None
    ) -> Mapping[ExecutionId, Execution]:
        """Write changes of different executions in one transaction, journaled in this order; return the executions
        after them.

        A change with an outdated version, or of an unknown execution, is left out of the write and of the result.
        Raises NotLeader.
        """
        ...

    def execution(self, execution_id: ExecutionId) -> Execution:
        """Return one execution with all its services; NotFound."""
        ...

    def add_use_of(self, execution_id: ExecutionId, at_s: float) -> None:
        """Record that an application was used at that time; the latest time counts. Does nothing for an unknown
        execution.
        """
        ...

    def last_uses(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, float]:
        """Return the time of each execution's last use; executions without one are missing."""
        ...

    def set_progress(self, newest: Sequence[ExecutionProgress]) -> None:
        """Replace the progress of these executions; that of a later attempt stays. Does nothing for unknown
        executions.
        """
        ...

    def progress_of(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, ExecutionProgress]:
        """Return the progress of each execution; those without a report are missing."""
        ...

    def add_queries(self, execution_id: ExecutionId, newer: Sequence[StoreQuery]) -> None:
        """Add queries to the object store; the newest `QUERIES_MAX` stay. Does nothing for an unknown execution."""
        ...

    def queries_of(self, execution_id: ExecutionId) -> Sequence[StoreQuery]:
        """Return the newest queries to the object store, oldest first."""
        ...

    def executions(self, query: ExecutionQuery) -> ExecutionPage:
        """Return executions newest first, by (submitted_at_s, id); InvalidCursor."""
        ...

    def active(self) -> Sequence[Execution]:
        """Return every active execution, oldest first: the initial state of a master."""
        ...

    def counts(self) -> Mapping[ExecutionState, int]:
        """Return the number of executions by state."""
        ...

    def active_counts(self) -> Mapping[tuple[str, str], int]:
        """Return the number of waiting and running executions, by tenant and user; zeros are missing."""
        ...

    def active_among(self, ids: Collection[ExecutionId], visibility: Visibility = ALL) -> Collection[ExecutionId]:
        """Return the visible, active executions among these."""
        ...

    def waiting_for_store(self, visibility: Visibility = ALL) -> Sequence[StoreWait]:
        """Return the visible executions that wait for the object store, oldest first; by `waits_for_store` of
        `zoe_lib.domain.executions.promises`.
        """
        ...

    def use_by_subject(self) -> Mapping[LimitSubject, Mapping[str, int]]:
        """Return `zoe_lib.domain.executions.limits.use_by_subject` of all active executions."""
        ...

    def held_on_nodes(self, gateway: Resources) -> Mapping[str, HeldOnNode]:
        """Return `zoe_lib.domain.executions.gateway.held_on_nodes` of all active executions."""
        ...

    # -- arrays ----------------------------------------------------------------------------------------------------
    def submit_array(
        self, array: Array, cause_id: str, idempotency_key: str | None = None, fingerprint: str = ""
    ) -> Array:
        """Store a new array with all its indices waiting, and its entry in the journal, in one transaction.

        The same key of the same user in the tenant with the same fingerprint returns the array stored first; else it
        raises IdempotencyConflict. Raises TooManyArrays, TimeLimitTooLong. Limits of executions apply when these are
        made.
        """
        ...

    def array(self, array_id: ArrayId) -> Array:
        """Return one array; NotFound."""
        ...

    def array_with_states(self, array_id: ArrayId) -> tuple[Array, bytes]:
        """Return an array and the states of its indices, a byte for each by position; NotFound."""
        ...

    def arrays(self, query: ArrayQuery) -> ArrayPage:
        """Return arrays newest first, by (submitted_at_s, id); InvalidCursor."""
        ...

    def change_array(
        self,
        array_id: ArrayId,
        decide: Callable[[Array, bytearray], ArrayChange | None],
        at_s: float,
        cause_id: str,
        leader_epoch: int | None = None,
    ) -> Array:
        """Write the change of `decide` to an array and the states of its indices, with its entry in the journal, in one
        transaction; return the changed array.

        `decide` returns None to change nothing, and may be called again. Raises NotLeader, NotFound, and the exceptions
        of `decide`.
        """
        ...

    def make_of_array(
        self, array: Array, wanted: Sequence[tuple[int, Execution]], cause_id: str, leader_epoch: int
    ) -> Sequence[Execution] | None:
        """Store new executions for the indices at these positions, which become active, in one transaction.

        Return those that the limits of the tenant and its user admit, in order; for an array with a joint promise, all
        or none. None if the array has another version or an index does not wait: then nothing is written. Raises
        NotLeader. The end of such an execution, by `append` or `append_all`, is recorded in the array in the same
        transaction.
        """
        ...

    def list_array(self, array_id: ArrayId, entries: Sequence[Entry], at_s: float, cause_id: str) -> Array:
        """Write the entries of an array that awaits its list, with its entry in the journal, in one transaction; return
        the changed array. All its indices wait then; without entries it has ended.

        An array that awaits no list is returned unchanged, so of several calls the first counts. Raises NotFound.
        """
        ...

    def active_of_arrays(self, array_ids: Collection[ArrayId]) -> Mapping[ArrayId, Mapping[ExecutionState, int]]:
        """Return the number of unfinished executions by state, for each of these arrays that has any."""
        ...

    def runs_of_arrays(self, runs: Mapping[ArrayId, int], now_s: float) -> Mapping[ArrayId, ArrayRuns]:
        """Return how long arrays ran until now, and why indices failed, by the numbers of their present runs; those
        without executions may be missing.
        """
        ...

    def array_entries(self, array_id: ArrayId, positions: Collection[int]) -> Mapping[int, Entry]:
        """Return the entries of an array at these positions; unknown ones are missing."""
        ...

    # -- journal ---------------------------------------------------------------------------------------------------
    def journal(
        self,
        after_id: int,
        limit: int,
        visibility: Visibility = ALL,
        execution_id: ExecutionId | None = None,
        with_data: bool = True,
    ) -> Sequence[JournalEntry]:
        """Return visible entries with a greater id, in order; entries without a tenant are visible to all.

        Without `with_data` their data are empty, for readers that only need the changed executions.
        """
        ...

    def shares_of(self, ids: Collection[ExecutionId]) -> Mapping[ExecutionId, ExecutionShares]:
        """Return the users who may see these executions and arrays; unknown ones are missing."""
        ...

    def last_journal_id(self) -> int:
        """Return the newest stored id; 0 for an empty journal."""
        ...

    def subscribe(self, notify: Callable[[], None]) -> Subscription:
        """Call `notify` soon after each commit, from any thread. A hint: it may come late, twice or never.

        `notify` must return at once and must not raise.
        """
        ...

    # -- installation ----------------------------------------------------------------------------------------------
    def set_platform(self, nodes: Sequence[Node], at_s: float, leader_epoch: int | None) -> None:
        """Replace the table of nodes."""
        ...

    def platform(self) -> Sequence[Node]:
        """Return the nodes as last seen by a master, by name."""
        ...

    def set_capabilities(
        self, capabilities: BackendCapabilities, storage: StoreCapacity | None, at_s: float, leader_epoch: int | None
    ) -> None:
        """Store the back-end's capabilities, and the bandwidth that the object store can guarantee; None keeps the last
        value.
        """
        ...

    def whole_platform(self) -> Platform:
        """Return nodes, capabilities and the object store's bandwidth as last seen by a master; an empty Platform
        before.
        """
        ...

    def policy(self) -> Policy:
        """Return the policy in force; the default one (version 0) before the first."""
        ...

    def set_policy(self, policy: Policy, expected_version: int, at_s: float, cause_id: str) -> Policy:
        """Put a policy in force, journaled as `policy_set`; its version increases by one. Raises ConcurrentUpdate.

        Limits of executions and of time that the document does not contain are unchanged.
        """
        ...

    def change_limits(self, change: Callable[[Limits], Limits], at_s: float, cause_id: str) -> Policy:
        """Apply a change to the limits; changed limits that belong to the policy give it a new version."""
        ...

    # -- leadership ------------------------------------------------------------------------------------------------
    def try_lead(self, holder: str, endpoint: str = "") -> int | None:
        """Take the leader lock and a new, higher epoch; None while another master holds the lock.

        If this store already holds it, return the present epoch. `endpoint` is the leader's endpoint for the API; empty
        if the API's own settings give it.
        """
        ...

    def leader(self) -> Leader | None:
        """Return the last master that took the lead, dead or alive; None before the first."""
        ...

    def renew_lead(self, epoch: int) -> bool:
        """Renew the leader's lease; False if this store does not hold the lock."""
        ...

    def depose(self, seen: Leader) -> bool:
        """Release the lock of a leader that has not renewed its lease since `seen` was read; False if it has."""
        ...

    def still_leading(self, epoch: int) -> bool:
        """Return whether this store holds the lock and the epoch is still the newest."""
        ...

    def stop_leading(self) -> None:
        """Release the lock; do nothing if it is not held."""
        ...

    # -- usage and upkeep ------------------------------------------------------------------------------------------
    def prune(self, now_s: float) -> int:
        """Remove a batch of the executions that ended before the retention began, with all their data.

        The same transaction adds their usage to the daily usage. Return how many were removed; 0: none is left. Old
        observations of the object store's bandwidth are removed too, and in a database old data of accounts.
        """
        ...

    def cut_s(self) -> float:
        """Return the time before which ended executions may have been removed; 0 if none ever was."""
        ...

    def sum_up(self) -> bool:
        """Add some ended executions to the sums that `counts` and `daily_use` build on; return whether there may be
        more.

        This does not change their results, only their cost.
        """
        ...

    def daily_use(
        self, from_day: int, to_day: int, now_s: float | None = None, tenant: str | None = None
    ) -> Mapping[DayOfUser, ResourceSeconds]:
        """Return usage by day (since the epoch, UTC), tenant and user, both days included; removed executions count.

        Active executions count until `now_s`, or not at all if it is None. `tenant` restricts to one tenant.
        """
        ...

    # -- ticks -----------------------------------------------------------------------------------------------------
    def add_tick(self, tick: TickRecord, leader_epoch: int) -> None:
        """Store the record of a tick; NotLeader."""
        ...

    def ticks(self, from_s: float, to_s: float) -> Sequence[TickRecord]:
        """Return the records from the last complete one at or before `from_s` to the last one at or before `to_s`.

        In the order of writing; empty if there is no such complete record.
        """
        ...

    def ticks_from_s(self) -> float | None:
        """Return the time of the earliest complete record that still exists; None if there is none."""
        ...

    def ping(self) -> None:
        """Raise StoreUnavailable if the database cannot be reached, or only answers reads, like a standby."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
