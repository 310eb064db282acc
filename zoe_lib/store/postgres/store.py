"""The store on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from sqlalchemy import Connection

from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.executions.arrays import Array, ArrayId, member_of
from zoe_lib.domain.executions.events import Ended, Event, Refused
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.gateway import HeldOnNode
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.executions.use import DayOfUser, ResourceSeconds
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store import positions
from zoe_lib.store.base import Subscription
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.documents.text import (
    check_array,
    check_names,
    check_submission,
    checked_changes,
    clean_events,
    key_in_batch,
    storable,
)
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.billing import BillingStore
from zoe_lib.store.postgres.grouping import Grouping
from zoe_lib.store.postgres.recent import RecentExecutions
from zoe_lib.store.postgres.revision import read_revision
from zoe_lib.store.postgres.schedules import ScheduleStore
from zoe_lib.store.postgres.workflows import WorkflowStore
from zoe_lib.store.quotas import check_owner
from zoe_lib.store.sql.batch import (
    array_counts,
    array_entries,
    array_lists,
    arrays_beside,
    job_submissions,
    submitting,
    writing,
    writing_sets,
)
from zoe_lib.store.sql.batch import arrays as array_rows
from zoe_lib.store.sql.batch.submitting import Submission
from zoe_lib.store.sql.billing import bandwidth, sums
from zoe_lib.store.sql.billing import last_uses as last_use_rows
from zoe_lib.store.sql.connection.database import Database, read_method, write_method
from zoe_lib.store.sql.executions import executions as execution_rows
from zoe_lib.store.sql.executions import present_use, store_waits
from zoe_lib.store.sql.executions import progress as progress_rows
from zoe_lib.store.sql.executions import store_queries as query_rows
from zoe_lib.store.sql.installation import installation, upkeep
from zoe_lib.store.sql.installation import ticks as tick_rows
from zoe_lib.store.sql.installation.installation import Terms, TermsVersions
from zoe_lib.store.sql.journal import journal as journal_rows
from zoe_lib.store.sql.journal.leadership import Leadership, read_leader
from zoe_lib.store.sql.journal.listener import Listener
from zoe_lib.store.sql.visible import shares
from zoe_lib.store.values import (
    ArrayChange,
    ArrayPage,
    ArrayQuery,
    ArraysBeside,
    ExecutionChange,
    ExecutionPage,
    ExecutionQuery,
    Leader,
    StoreLimits,
    StoreWait,
    UsageSample,
)


class PostgresStore:
    """Executions in a database; methods are documented in `ExecutionStore`. `accounts` and `billing` use the same
    database.

    Samples of usage and of bandwidth exist only here: no decision depends on them.

    The database must be up to date (`zoe_lib.store.postgres.migrate.upgrade`). With `read_only` the server refuses
    every write of this store.
    """

    def __init__(
        self, url: str, limits: StoreLimits | None = None, pool_size: int = 10, read_only: bool = False
    ) -> None:
        self._limits = limits or StoreLimits()
        self.database = Database(url, pool_size, read_only)
        self.accounts = AccountStore(self.database, self._limits)
        self.workflows = WorkflowStore(self.database)
        self.billing = BillingStore(self.database)
        self.schedules = ScheduleStore(self.database)
        self._applications = Applications()
        self._recent = RecentExecutions()
        self._terms = installation.TermsReader(self.database)
        self._submissions = Grouping(self._write_submissions, key=lambda submission: submission.execution.id)
        self._leadership = Leadership(self.database.connect)
        self._listener = Listener(self.database.connect)

    # -- executions ------------------------------------------------------------------------------------------------
    def submit(
        self,
        execution: Execution,
        cause_id: str,
        idempotency_key: str | None = None,
        fingerprint: str = "",
        audit: AuditEntry | None = None,
    ) -> Execution:
        """Store a new execution, once per key; `audit` goes into the same transaction, or is not written if this
        raises.
        """
        check_submission(execution, cause_id, idempotency_key, fingerprint)
        submission = submitting.prepare(self._applications, execution, cause_id, idempotency_key, fingerprint, audit)
        self._submissions.do(submission)
        if submission.bounded:
            submission = self._write_within_limits(submission)
        stored = submission.execution
        if not submission.written:
            stored = self._stored_before(submission)
            if audit is not None:
                self.accounts.add_audit(audit)
        self._recent.keep(stored)
        self._note_position([submission])
        return stored

    def submit_all(
        self,
        executions: Sequence[Execution],
        cause_id: str,
        idempotency_key: str | None = None,
        fingerprint: str = "",
        beside: Callable[[Connection], None] | None = None,
        arrays: ArraysBeside | None = None,
    ) -> Sequence[Execution]:
        """Store new executions of one tenant in one transaction, once per key; BatchRefused, IdempotencyConflict.

        If the same key comes with another fingerprint or another number of executions, nothing is stored. `beside`
        writes further rows in the same transaction, if this call stores the executions, as are `arrays`, before it:
        TooManyArrays, TimeLimitTooLong.
        """
        submissions = []
        for index, execution in enumerate(executions):
            key = key_in_batch(idempotency_key, index)
            check_submission(execution, cause_id, key, fingerprint)
            submissions.append(submitting.prepare(self._applications, execution, cause_id, key, fingerprint))
        more = arrays_beside.writer(self._applications, arrays, cause_id, beside)
        locks = arrays_beside.locks_of(self._applications, arrays)
        written = self.database.write(lambda c: submitting.write_all(c, self._applications, submissions, more, locks))
        stored = [
            submission.execution if submission.written else self._stored_before(submission) for submission in written
        ]
        for execution in stored:
            self._recent.keep(execution)
        self._note_position(written)
        return stored

    def _note_position(self, submissions: Sequence[Submission]) -> None:
        """Record the position of submissions; earlier ones are not newer than the newest."""
        if positions.is_collecting():
            known = [submission.position for submission in submissions if submission.position is not None]
            positions.note(max(known) if known else self.last_journal_id())
            positions.commit()

    def _stored_before(self, submission: Submission) -> Execution:
        stored = self.database.read(lambda c: submitting.existing_execution(c, self._applications, submission))
        check_owner(stored, submission.execution.user)
        return stored

    def submitted_with(self, tenant: str, idempotency_key: str, fingerprint: str) -> Execution | None:
        """Return the execution of a key."""
        if not storable(tenant, idempotency_key):
            return None
        find = submitting.with_key
        return self.database.read(lambda c: find(c, self._applications, tenant, idempotency_key, fingerprint))

    def submitted_all_with(
        self, tenant: str, idempotency_key: str, fingerprint: str, number: int
    ) -> Sequence[Execution] | None:
        """Return the executions of a batch's key."""
        stored = []
        for index in range(number):
            one = self.submitted_with(tenant, key_in_batch(idempotency_key, index) or "", fingerprint)
            if one is None:
                return None
            stored.append(one)
        return stored

    def _write_within_limits(self, submission: Submission) -> Submission:
        return self.database.write(lambda c: submitting.write_within_limits(c, self._applications, submission))

    def _write_submissions(self, submissions: Sequence[Submission]) -> None:
        self.database.write_repeatable(lambda c: submitting.write(c, submissions))

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
        state = after if clean is events else None
        stored = self.database.write(
            lambda c: self._append(c, execution_id, clean, expected_version, leader_epoch, state)
        )
        self._recent.keep(stored)
        return stored

    def append_all(
        self, changes: Sequence[ExecutionChange], leader_epoch: int | None
    ) -> Mapping[ExecutionId, Execution]:
        """Write changes of different executions."""
        clean = checked_changes(changes)
        written = self.database.write(lambda c: self._append_all(c, clean, leader_epoch))
        stored = {change.after.id: change.after for change in clean if change.after.id in written}
        for execution in stored.values():
            self._recent.keep(execution)
        return stored

    def _append_all(
        self, connection: Connection, changes: Sequence[ExecutionChange], leader_epoch: int | None
    ) -> set[ExecutionId]:
        writing.check_leader(connection, leader_epoch)
        if not changes:
            return set()
        ended = [change.after for change in changes if change.after.terminal and member_of(change.after.id)]
        array_rows.lock_of(connection, (execution.id for execution in ended))
        written = writing_sets.append_all(connection, changes)
        if ended:
            noted = [execution for execution in ended if execution.id in written]
            array_rows.note_ends(connection, self._applications, noted, changes[0].events[-1].cause_id)
        return written

    def _append(
        self,
        connection: Connection,
        execution_id: ExecutionId,
        events: Sequence[Event],
        version: int,
        epoch: int | None,
        after: Execution | None,
    ) -> Execution:
        writing.check_leader(connection, epoch)
        ends = any(isinstance(event, Ended | Refused) for event in events)
        if ends:
            array_rows.lock_of(connection, [execution_id])
        stored = self._append_checked(connection, execution_id, events, version, after)
        if ends:
            array_rows.note_ends(connection, self._applications, [stored], events[-1].cause_id)
        return stored

    def _append_checked(
        self,
        connection: Connection,
        execution_id: ExecutionId,
        events: Sequence[Event],
        version: int,
        after: Execution | None,
    ) -> Execution:
        before = self._recent.get(execution_id, version)
        if before is not None:
            try:
                return writing.append(connection, self._applications, before, events, after)
            except IllegalTransition:  # the version may be outdated: then return that
                pass
        before = writing.current(connection, self._applications, execution_id, version)
        return writing.append(connection, self._applications, before, events, after)

    # -- arrays ----------------------------------------------------------------------------------------------------
    def submit_array(
        self,
        array: Array,
        cause_id: str,
        idempotency_key: str | None = None,
        fingerprint: str = "",
        audit: AuditEntry | None = None,
        beside: Callable[[Connection], None] | None = None,
    ) -> Array:
        """Store a new array, once per key; `audit`, and the rows of `beside`, go into the same transaction."""
        check_array(array, cause_id, idempotency_key, fingerprint)
        how = (array, cause_id, idempotency_key, fingerprint, audit, beside)
        stored = self.database.write(lambda c: array_rows.submit(c, self._applications, *how))
        if stored.id != array.id:
            check_owner(stored, array.user)
            if audit is not None:
                self.accounts.add_audit(audit)
        return stored

    def array_submitted_with(self, tenant: str, idempotency_key: str, fingerprint: str) -> Array | None:
        """Return the array of a key."""
        if not storable(tenant, idempotency_key):
            return None
        find = array_rows.with_key
        return self.database.read(lambda c: find(c, self._applications, tenant, idempotency_key, fingerprint))

    def array(self, array_id: ArrayId) -> Array:
        """Return one array."""
        check_names(array_id)
        return self.database.read(lambda c: array_rows.read_array(c, self._applications, array_id))

    def array_with_states(self, array_id: ArrayId) -> tuple[Array, bytes]:
        """Return an array and the states of its indices."""
        check_names(array_id)
        find = array_rows.read_array
        return self.database.read(lambda c: (find(c, self._applications, array_id), array_rows.states(c, array_id)))

    def arrays(self, query: ArrayQuery) -> ArrayPage:
        """Return a page of arrays."""
        if not storable(query.visibility.tenant, query.visibility.user, query.user):
            return ArrayPage((), None)
        return self.database.read(lambda c: array_rows.page(c, self._applications, query))

    def change_array(
        self,
        array_id: ArrayId,
        decide: Callable[[Array, bytearray], ArrayChange | None],
        at_s: float,
        cause_id: str,
        leader_epoch: int | None = None,
    ) -> Array:
        """Change an array."""
        check_names(array_id)
        how = (array_id, decide, at_s, cause_id, leader_epoch)
        return self.database.write(lambda c: array_rows.change(c, self._applications, *how))

    def list_array(self, array_id: ArrayId, entries: Sequence[Entry], at_s: float, cause_id: str) -> Array:
        """Write the entries of an array that awaits its list."""
        check_names(array_id)
        how = (array_id, entries, at_s, cause_id)
        return self.database.write(lambda c: array_lists.write_entries(c, self._applications, *how))

    active_of_arrays = read_method(array_counts.active_of_arrays)
    runs_of_arrays = read_method(array_counts.runs_of_arrays)

    def array_entries(self, array_id: ArrayId, positions: Collection[int]) -> Mapping[int, Entry]:
        """Return entries of an array."""
        check_names(array_id)
        return self.database.read(lambda c: array_entries.entries_at(c, array_id, positions))

    def make_of_array(
        self, array: Array, wanted: Sequence[tuple[int, Execution]], cause_id: str, leader_epoch: int
    ) -> Sequence[Execution] | None:
        """Store executions of an array."""
        how = (array, wanted, cause_id, leader_epoch)
        return self.database.write(lambda c: array_rows.make(c, self._applications, *how))

    def execution(self, execution_id: ExecutionId) -> Execution:
        """Return one execution."""
        if not storable(execution_id):
            raise NotFound(f"execution {execution_id!r} does not exist")
        found = self.database.read(lambda c: execution_rows.read_execution(c, self._applications, execution_id))
        self._recent.keep(found)
        return found

    add_use_of = write_method(last_use_rows.add)
    last_uses = read_method(last_use_rows.read)
    add_use_of_active = write_method(last_use_rows.add_to_active)
    set_progress = write_method(progress_rows.write)
    progress_of = read_method(progress_rows.read)
    add_queries = write_method(query_rows.add)
    queries_of = read_method(query_rows.read)

    def executions(self, query: ExecutionQuery) -> ExecutionPage:
        """Return a page of executions."""
        seen = query.visibility
        if not storable(seen.tenant, seen.user, query.user, query.name_contains, query.application):
            return ExecutionPage((), None)
        searched_max = self._limits.searched_max
        return self.database.read(lambda c: execution_rows.page(c, self._applications, query, searched_max))

    def active(self) -> Sequence[Execution]:
        """Return all active executions."""
        found = self.database.read(lambda c: execution_rows.active(c, self._applications))
        for execution in found:
            self._recent.keep(execution)
        return found

    active_counts = read_method(execution_rows.active_counts)
    active_among = read_method(present_use.active_among)

    def use_by_subject(self) -> Mapping[LimitSubject, Mapping[str, int]]:
        """Return the use of tenants and users."""
        return self.database.read(lambda c: present_use.use_by_subject(c, self._applications))

    def held_on_nodes(self, gateway: Resources) -> Mapping[str, HeldOnNode]:
        """Return the resources held on each node."""
        return self.database.read(lambda c: present_use.held_on_nodes(c, self._applications, gateway))

    def waiting_for_store(self, visibility: Visibility = ALL) -> Sequence[StoreWait]:
        """Return the executions that wait for the object store."""
        if not storable(visibility.tenant, visibility.user):
            return []
        return self.database.read(lambda c: store_waits.waiting(c, self._applications, visibility))

    counts = read_method(sums.counts)

    # -- journal ---------------------------------------------------------------------------------------------------
    journal = read_method(journal_rows.read)
    shares_of = read_method(shares.of_executions)
    last_journal_id = read_method(journal_rows.last_id)

    def subscribe(self, notify: Callable[[], None]) -> Subscription:
        """Call back after commits."""
        return self._listener.subscribe(notify)

    # -- installation ----------------------------------------------------------------------------------------------
    set_platform = write_method(installation.set_platform)
    platform = read_method(installation.read_platform)
    set_capabilities = write_method(installation.set_capabilities)

    def whole_platform(self) -> Platform:
        """Return nodes, capabilities and bandwidth."""
        return self._terms.read().platform

    def terms(self, versions: TermsVersions | None = None) -> Terms:
        """Return the terms that a submission is checked against, at least as new as these versions, or as the call
        without any.
        """
        return self._terms.read(versions)

    policy = read_method(installation.read_policy)
    set_policy = write_method(installation.set_policy)
    change_limits = write_method(installation.change_limits)

    # -- leadership ------------------------------------------------------------------------------------------------
    def try_lead(self, holder: str, endpoint: str = "") -> int | None:
        """Take the leader lock."""
        return self._leadership.take(holder, endpoint)

    leader = read_method(read_leader)

    def renew_lead(self, epoch: int) -> bool:
        """Renew the lease, on the connection that holds the lock."""
        return self._leadership.renew(epoch)

    def depose(self, seen: Leader) -> bool:
        """End the session that holds the lock."""
        return self._leadership.depose(seen)

    def still_leading(self, epoch: int) -> bool:
        """Return whether the lock is held; a lost connection is a lost lock."""
        return self._leadership.still_holds(epoch)

    def stop_leading(self) -> None:
        """Release the lock."""
        self._leadership.release()

    # -- usage and upkeep ------------------------------------------------------------------------------------------
    def add_usage(self, samples: Sequence[UsageSample]) -> None:
        """Store samples."""
        if samples:
            self.database.write(lambda c: upkeep.add_usage(c, samples, self._limits))

    usage = read_method(upkeep.read_usage)
    use_of = read_method(upkeep.read_use_of)
    use_over_time = read_method(upkeep.use_over_time)
    add_bandwidth = write_method(bandwidth.add_look)
    bandwidth_over_time = read_method(bandwidth.read_over_time)
    keep_transfers = write_method(bandwidth.keep_transfers)
    transfers_so_far = read_method(bandwidth.read_transfers)

    def prune(self, now_s: float) -> int:
        """Remove a batch of old executions."""
        self.accounts.prune(now_s)
        self.database.write(lambda c: upkeep.prune_keys(c, now_s - self._limits.idempotency_keys_kept_s))
        self.database.write(lambda c: job_submissions.prune(c, now_s - self._limits.idempotency_keys_kept_s))
        self.database.write(lambda c: bandwidth.prune_looks(c, now_s - self._limits.retention_s))
        ended_before_s = now_s - self._limits.retention_s
        removed = self.database.write(lambda c: upkeep.prune_some(c, self._applications, ended_before_s))
        self.database.write(lambda c: array_rows.prune(c, ended_before_s, upkeep.PRUNED_AT_ONCE))
        return removed

    cut_s = read_method(upkeep.read_cut)

    def sum_up(self) -> bool:
        """Add more ended executions to the sums."""
        return self.database.write(lambda c: sums.sum_up(c, self._applications))

    def daily_use(
        self, from_day: int, to_day: int, now_s: float | None = None, tenant: str | None = None
    ) -> Mapping[DayOfUser, ResourceSeconds]:
        """Return usage by day, tenant and user."""
        if not storable(tenant):
            return {}
        read = sums.read_daily_use
        return self.database.read(lambda c: read(c, self._applications, from_day, to_day, now_s, tenant))

    # -- ticks -----------------------------------------------------------------------------------------------------
    add_tick = write_method(tick_rows.add_tick)
    ticks = read_method(tick_rows.read_ticks)
    ticks_from_s = read_method(tick_rows.earliest_s)

    revision = read_method(read_revision)

    def ping(self) -> None:
        """Raise StoreUnavailable unless the database answers, and takes changes."""
        self.database.check_changes()

    def close(self) -> None:
        """Close all connections."""
        self._listener.close()
        self._leadership.release()
        self.database.close()
