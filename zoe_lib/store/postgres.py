"""The store on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection, text

from zoe_lib.domain.cluster import Node
from zoe_lib.domain.events import Event
from zoe_lib.domain.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.lifecycle import IllegalTransition
from zoe_lib.domain.limits import Limits
from zoe_lib.domain.platform import BackendCapabilities, Platform
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.promises import StoreCapacity, TenantBandwidth
from zoe_lib.domain.use import DayOfUser, ResourceSeconds
from zoe_lib.store.base import (
    BandwidthPoint,
    ExecutionPage,
    ExecutionQuery,
    JournalEntry,
    NotFound,
    StoreLimits,
    Subscription,
    TickRecord,
    UsageSample,
    UsePoint,
)
from zoe_lib.store.documents import Applications
from zoe_lib.store.grouping import Grouping
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.postgres_people import PostgresPeople
from zoe_lib.store.recent import RecentExecutions
from zoe_lib.store.sql import bandwidth, executions, installation, journal, submitting, ticks, upkeep, writing
from zoe_lib.store.sql import last_uses as uses
from zoe_lib.store.sql.database import Database
from zoe_lib.store.sql.leadership import Leadership
from zoe_lib.store.sql.listener import Listener
from zoe_lib.store.sql.submitting import Submission
from zoe_lib.store.text import check_submission, checked, storable


class PostgresStore(PostgresPeople):
    """All state of Zoe in one database; see `Store` for what each method promises.

    The database must have been brought up to date (`zoe_lib.store.migrate.upgrade`). With `read_only` the server
    refuses every write of this store's.
    """

    def __init__(
        self, url: str, limits: StoreLimits | None = None, pool_size: int = 10, read_only: bool = False
    ) -> None:
        self._limits = limits or StoreLimits()
        self._database = Database(url, pool_size, read_only)
        self._applications = Applications()
        self._recent = RecentExecutions()
        self._platform = installation.PlatformReader()
        self._submissions = Grouping(self._write_submissions, key=lambda one: one.execution.id)
        self._leadership = Leadership(self._database.dedicated)
        self._listener = Listener(self._database.dedicated)

    # -- executions ------------------------------------------------------------------------------------------------
    def submit(
        self,
        execution: Execution,
        cause_id: str,
        idempotency_key: str | None = None,
        fingerprint: str = "",
        audit: AuditEntry | None = None,
    ) -> Execution:
        """Keep a new execution, once per key."""
        check_submission(execution, cause_id, idempotency_key, fingerprint)
        submission = submitting.prepare(self._applications, execution, cause_id, idempotency_key, fingerprint, audit)
        self._submissions.do(submission)
        if submission.bounded:
            submission = self._write_within_limits(submission)
        stored = submission.execution
        if not submission.written:
            stored = self._database.read(lambda c: submitting.already_there(c, self._applications, submission))
            if audit is not None:
                self.add_audit(audit)
        self._recent.keep(stored)
        return stored

    def submitted_with(self, tenant: str, idempotency_key: str, fingerprint: str) -> Execution | None:
        """The execution of a key."""
        if not storable(tenant, idempotency_key):
            return None
        find = submitting.with_key
        return self._database.read(lambda c: find(c, self._applications, tenant, idempotency_key, fingerprint))

    def _write_within_limits(self, submission: Submission) -> Submission:
        return self._database.write(lambda c: submitting.write_within_limits(c, self._applications, submission))

    def _write_submissions(self, submissions: Sequence[Submission]) -> None:
        self._database.write_repeatable(lambda c: submitting.write(c, submissions))

    def append(
        self,
        execution_id: ExecutionId,
        events: Sequence[Event],
        expected_version: int,
        leader_epoch: int | None,
        after: Execution | None = None,
    ) -> Execution:
        """Write events with their projection."""
        clean = checked(events)
        known = after if clean is events else None
        stored = self._database.write(
            lambda c: self._append(c, execution_id, clean, expected_version, leader_epoch, known)
        )
        self._recent.keep(stored)
        return stored

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
        before = self._recent.get(execution_id, version)
        if before is not None:
            try:
                return writing.append(connection, self._applications, before, events, after)
            except IllegalTransition:  # of a version that may be over: then that is the answer
                pass
        before = writing.current(connection, self._applications, execution_id, version)
        return writing.append(connection, self._applications, before, events, after)

    def execution(self, execution_id: ExecutionId) -> Execution:
        """One execution."""
        if not storable(execution_id):
            raise NotFound(f"there is no execution {execution_id!r}")
        found = self._database.read(lambda c: executions.one(c, self._applications, execution_id))
        self._recent.keep(found)
        return found

    def add_use_of(self, execution_id: ExecutionId, at_s: float) -> None:
        """Somebody used it."""
        if storable(execution_id):
            self._database.write(lambda c: uses.add(c, execution_id, at_s))

    def last_uses(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, float]:
        """When each was used last."""
        return self._database.read(lambda c: uses.read(c, execution_ids))

    def executions(self, query: ExecutionQuery) -> ExecutionPage:
        """A page of executions."""
        if not storable(query.tenant, query.user, query.name_contains):
            return ExecutionPage((), None)
        return self._database.read(lambda c: executions.page(c, self._applications, query))

    def active(self) -> Sequence[Execution]:
        """All executions that are not terminal."""
        found = self._database.read(lambda c: executions.active(c, self._applications))
        for execution in found:
            self._recent.keep(execution)
        return found

    def active_counts(self) -> Mapping[tuple[str, str], int]:
        """Those that wait or run, by tenant and user."""
        return self._database.read(executions.active_counts)

    def counts(self) -> Mapping[ExecutionState, int]:
        """Executions by state."""
        return self._database.read(executions.counts)

    # -- journal ---------------------------------------------------------------------------------------------------
    def journal(
        self,
        after_id: int,
        limit: int,
        tenant: str | None = None,
        execution_id: ExecutionId | None = None,
        with_data: bool = True,
    ) -> Sequence[JournalEntry]:
        """Entries after an id."""
        if not storable(tenant, execution_id):
            return ()
        return self._database.read(lambda c: journal.read(c, after_id, limit, tenant, execution_id, with_data))

    def last_journal_id(self) -> int:
        """The newest id."""
        return self._database.read(journal.last_id)

    def subscribe(self, notify: Callable[[], None]) -> Subscription:
        """Call back after commits."""
        return self._listener.subscribe(notify)

    # -- installation ----------------------------------------------------------------------------------------------
    def set_platform(self, nodes: Sequence[Node], at_s: float, leader_epoch: int | None) -> None:
        """Replace the nodes."""
        self._database.write(lambda c: installation.set_platform(c, nodes, at_s, leader_epoch))

    def platform(self) -> Sequence[Node]:
        """The nodes."""
        return self._database.read(installation.read_platform)

    def set_capabilities(
        self, capabilities: BackendCapabilities, storage: StoreCapacity | None, at_s: float, leader_epoch: int | None
    ) -> None:
        """Keep what the back-end can run, and the object store can promise."""
        self._database.write(lambda c: installation.set_capabilities(c, capabilities, storage, at_s, leader_epoch))

    def whole_platform(self) -> Platform:
        """All of it."""
        return self._database.read(self._platform.read)

    def policy(self) -> Policy:
        """The policy in force."""
        return self._database.read(installation.read_policy)

    def set_policy(self, policy: Policy, expected_version: int, at_s: float, cause_id: str) -> Policy:
        """Put a policy in force."""
        return self._database.write(lambda c: installation.set_policy(c, policy, expected_version, at_s, cause_id))

    def change_limits(self, change: Callable[[Limits], Limits], at_s: float, cause_id: str) -> Policy:
        """Change limits."""
        return self._database.write(lambda c: installation.change_limits(c, change, at_s, cause_id))

    # -- leadership ------------------------------------------------------------------------------------------------
    def try_lead(self, holder: str) -> int | None:
        """Take the leader lock."""
        return self._leadership.take(holder)

    def still_leading(self, epoch: int) -> bool:
        """Whether the lock is held; a lost connection is a lost lock."""
        return self._leadership.still_holds(epoch)

    def stop_leading(self) -> None:
        """Let the lock go."""
        self._leadership.release()

    # -- usage and upkeep ------------------------------------------------------------------------------------------
    def add_usage(self, samples: Sequence[UsageSample]) -> None:
        """Keep samples."""
        if samples:
            self._database.write(lambda c: upkeep.add_usage(c, samples, self._limits))

    def usage(self, execution_id: ExecutionId) -> Sequence[UsageSample]:
        """Samples of an execution."""
        return self._database.read(lambda c: upkeep.read_usage(c, execution_id)) if storable(execution_id) else ()

    def use_over_time(self, from_s: float, to_s: float, stretch_s: float, *, by_node: bool) -> Sequence[UsePoint]:
        """What samples of a time come to."""
        return self._database.read(lambda c: upkeep.use_over_time(c, from_s, to_s, stretch_s, by_node))

    def add_bandwidth(self, at_s: float, tenants: Mapping[str, TenantBandwidth], measured: bool = True) -> None:
        """Keep a look at the storage controller."""
        self._database.write(lambda c: bandwidth.add_look(c, at_s, tenants, measured))

    def bandwidth_over_time(
        self, from_s: float, to_s: float, stretch_s: float, tenant: str | None = None
    ) -> Sequence[BandwidthPoint]:
        """Means over the looks of each stretch."""
        if not storable(tenant):
            return ()
        return self._database.read(lambda c: bandwidth.read_over_time(c, from_s, to_s, stretch_s, tenant))

    def prune(self, now_s: float) -> int:
        """Remove a batch of what is too old."""
        self.prune_people(now_s)
        self._database.write(lambda c: upkeep.prune_keys(c, now_s - self._limits.idempotency_keys_kept_s))
        self._database.write(lambda c: bandwidth.prune_looks(c, now_s - self._limits.retention_s))
        return self._database.write(
            lambda c: upkeep.prune_some(c, self._applications, now_s - self._limits.retention_s)
        )

    def cut_s(self) -> float:
        """What ended before may have been removed."""
        return self._database.read(upkeep.read_cut)

    def daily_use(self, from_day: int, to_day: int, now_s: float | None = None) -> Mapping[DayOfUser, ResourceSeconds]:
        """Use by day, tenant and user."""
        return self._database.read(lambda c: upkeep.read_daily_use(c, self._applications, from_day, to_day, now_s))

    # -- ticks -----------------------------------------------------------------------------------------------------
    def add_tick(self, tick: TickRecord, leader_epoch: int) -> None:
        """Keep what a tick saw."""
        self._database.write(lambda c: ticks.add_tick(c, tick, leader_epoch))

    def ticks(self, from_s: float, to_s: float) -> Sequence[TickRecord]:
        """What ticks saw."""
        return self._database.read(lambda c: ticks.read_ticks(c, from_s, to_s))

    def ticks_from_s(self) -> float | None:
        """The first whole one."""
        return self._database.read(ticks.earliest_s)

    def ping(self) -> None:
        """Ask the database for a sign of life."""
        self._database.read(lambda c: c.execute(text("SELECT 1")))

    def close(self) -> None:
        """Give back every connection."""
        self._listener.close()
        self._leadership.release()
        self._database.close()
