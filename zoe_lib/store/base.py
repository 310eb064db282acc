"""The store of all state: the journal, its projections, and the few tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from zoe_lib.domain.amounts import counted
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.events import Event
from zoe_lib.domain.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.limits import Limits
from zoe_lib.domain.platform import BackendCapabilities, Platform
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.promises import StoreCapacity, TenantBandwidth
from zoe_lib.domain.use import DayOfUser, ResourceSeconds
from zoe_lib.domain.values import value


class StoreError(Exception):
    """Base class of the store's errors."""


class NotFound(StoreError):  # noqa: N818 - the name is the fact
    """The thing does not exist, or belongs to another tenant."""


class ConcurrentUpdate(StoreError):  # noqa: N818
    """Another writer was faster: the version is not the expected one. Read again and decide again."""


class NotLeader(StoreError):  # noqa: N818
    """The epoch is not the newest: another master leads now."""


class IdempotencyConflict(StoreError):  # noqa: N818
    """The same idempotency key came with a different request."""


class QuotaExceeded(StoreError):  # noqa: N818
    """The tenant, or the user in it, has as many executions waiting or running as the limit allows."""

    def __init__(self, holder: str, executions_max: int) -> None:
        super().__init__(
            f"maximum for {holder}: {counted(executions_max, 'execution')} waiting or running at the same time"
        )


class TimeLimitTooLong(StoreError):  # noqa: N818
    """The requested time limit exceeds the longest one that the tenant allows."""


class BatchRefused(StoreError):  # noqa: N818
    """One of several submissions is refused, and all others with it; `index` is its position, `reason` says why."""

    def __init__(self, index: int, reason: StoreError) -> None:
        super().__init__(str(reason))
        self.index = index
        self.reason = reason


class StoreUnavailable(StoreError):  # noqa: N818
    """The database cannot be reached now; the same call may succeed later.

    The write may have been done: the connection can break between the commit and its answer. Repeating it is safe,
    because of the expected version, and in `submit` because of the execution's id or the idempotency key.
    """


class InvalidCursor(StoreError, ValueError):  # noqa: N818
    """The cursor of a page is malformed."""

    def __init__(self, cursor: str) -> None:
        super().__init__(f"not a cursor of this list: {cursor[:80]!r}")


class Unstorable(StoreError, ValueError):  # noqa: N818
    """PostgreSQL cannot hold this value, such as a text with a NUL character."""


@value(frozen=True, slots=True)
class JournalEntry:
    """A fact as written. Ids are ordered by commit: a reader that continues after an id misses nothing.

    `execution_id`, `tenant` and `version` are None for facts about the installation (such as `policy_set`). `data` is
    the JSON form of the event without its `at_s` and `cause_id`.
    """

    id: int
    kind: str
    at_s: float
    cause_id: str
    data: Mapping[str, object]
    execution_id: ExecutionId | None = None
    tenant: str | None = None
    version: int | None = None


@value(frozen=True, slots=True)
class ExecutionChange:
    """Events of one execution, and the state that they lead to from the expected version."""

    before: Execution
    events: Sequence[Event]
    after: Execution


@value(frozen=True, slots=True)
class TickRecord:
    """What a tick saw outside the journal.

    `read_to` is the last journal id up to which it knew what others wrote. `inputs` is JSON whose form the master
    defines: everything it saw if `whole`, else what has changed since the previous record.
    """

    plan_id: str
    at_s: float
    epoch: int
    read_to: int
    whole: bool
    inputs: Mapping[str, object]


@value(frozen=True, slots=True)
class ExecutionQuery:
    """Which executions to list, newest first. None does not restrict; `cursor` continues an earlier page.

    `submitted_to_s`: submitted then or earlier; `ended_from_s`: ended then or later. `name_contains` ignores case. The
    filters of a continued page must not change.
    """

    ids: frozenset[ExecutionId] | None = None
    tenant: str | None = None
    user: str | None = None
    states: frozenset[ExecutionState] | None = None
    name_contains: str | None = None
    submitted_to_s: float | None = None
    ended_from_s: float | None = None
    limit: int = 50
    cursor: str | None = None


@value(frozen=True, slots=True)
class ExecutionPage:
    """One page of executions; `next_cursor` is None on the last.

    `searched_to_s`: the search by name has looked through the maximum for one page, and stopped at the execution that
    was submitted then; the next page continues from there.
    """

    executions: Sequence[Execution]
    next_cursor: str | None
    searched_to_s: float | None = None


@value(frozen=True, slots=True)
class UsageSample:
    """The usage of one service when it was sampled: CPU seconds since its start, and bytes of memory in use."""

    execution_id: ExecutionId
    service_id: str
    node: str
    at_s: float
    cpu_s: float
    memory_bytes: int


@value(frozen=True, slots=True)
class UsePoint:
    """The average usage of a node, or of all executions of a name, in the interval that begins at `at_s`."""

    at_s: float
    name: str
    cores: float
    memory_bytes: float


@value(frozen=True, slots=True)
class BandwidthPoint:
    """The average bandwidth that a tenant was granted, used and missed in the interval that begins at `at_s`."""

    at_s: float
    tenant: str
    means: TenantBandwidth


@value(frozen=True, slots=True)
class StoreLimits:
    """Bounds of the tables that would otherwise grow without limit.

    usage_samples_per_service_max: an hour at one sample in five seconds. retention_s: how long an ended execution is
    kept, and an observation of the object store's bandwidth. idempotency_keys_kept_s: longer than any client repeats a
    submission. failures_kept_s: longer than failed sign-ins count. audit_kept_s: two years. searched_max: executions
    that a search by name looks through for one page, which takes some ten milliseconds.
    """

    usage_samples_per_service_max: int = 720
    retention_s: float = 90 * 86400.0
    idempotency_keys_kept_s: float = 86400.0
    failures_kept_s: float = 4 * 86400.0
    audit_kept_s: float = 730 * 86400.0
    searched_max: int = 20_000


class Subscription(Protocol):
    """A running subscription to journal news."""

    def close(self) -> None:
        """End the subscription."""
        ...


@value(frozen=True, slots=True)
class Leader:
    """The master that leads: its epoch, its name, its endpoint, and how often it has renewed its lease."""

    epoch: int
    holder: str
    endpoint: str
    renewals: int


class ExecutionStore(Protocol):
    """Executions, their journal, and the installation that runs them.

    Thread-safe; a call that raised anything but StoreUnavailable changed nothing. Every method may raise
    StoreUnavailable. `leader_epoch` is None only for actions of users (submit, cancel).
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

        `execution` is fresh (version 0, no services); the returned one is as stored. The same key of the same tenant
        with the same fingerprint returns the execution stored first; with another fingerprint it raises
        IdempotencyConflict. The same id by the same user also returns what is stored; by another user it raises
        ConcurrentUpdate. The same transaction checks the limits: QuotaExceeded if the tenant or its user has reached
        one, TimeLimitTooLong. An execution without a time limit is stored with the longest one allowed, and with a note
        that says so.
        """
        ...

    def submitted_with(self, tenant: str, idempotency_key: str, fingerprint: str) -> Execution | None:
        """Return what that tenant submitted with that key; None if nothing. Raises IdempotencyConflict."""
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
        """Return when each of them was last used; executions that were never used are missing."""
        ...

    def executions(self, query: ExecutionQuery) -> ExecutionPage:
        """Return executions newest first, by (submitted_at_s, id); InvalidCursor."""
        ...

    def active(self) -> Sequence[Execution]:
        """Return every active execution, oldest first: the state from which a master starts."""
        ...

    def counts(self) -> Mapping[ExecutionState, int]:
        """Return how many executions are in each state."""
        ...

    def active_counts(self) -> Mapping[tuple[str, str], int]:
        """Return how many executions wait or run, by tenant and user; those with none are missing."""
        ...

    # -- journal ---------------------------------------------------------------------------------------------------
    def journal(
        self,
        after_id: int,
        limit: int,
        tenant: str | None = None,
        execution_id: ExecutionId | None = None,
        with_data: bool = True,
    ) -> Sequence[JournalEntry]:
        """Return entries with a greater id, in order. `tenant` also includes entries that belong to no tenant.

        Without `with_data` their data are empty, for readers that only need to know which executions changed.
        """
        ...

    def last_journal_id(self) -> int:
        """Return the newest id that is kept; 0 for an empty journal."""
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
        """Store what the back-end can run, and how much bandwidth the object store can guarantee; None keeps the last
        value.
        """
        ...

    def whole_platform(self) -> Platform:
        """Return nodes, capabilities and the object store's bandwidth as last seen by a master; an empty Platform
        before.
        """
        ...

    def policy(self) -> Policy:
        """Return the policy in force; the default one (version 0) if none was ever set."""
        ...

    def set_policy(self, policy: Policy, expected_version: int, at_s: float, cause_id: str) -> Policy:
        """Put a policy in force, journaled as `policy_set`; its version increases by one. Raises ConcurrentUpdate.

        Limits of executions and of time that the document does not contain stay as they are.
        """
        ...

    def change_limits(self, change: Callable[[Limits], Limits], at_s: float, cause_id: str) -> Policy:
        """Apply a change to the limits; changed limits that belong to the policy give it a new version."""
        ...

    # -- leadership ------------------------------------------------------------------------------------------------
    def try_lead(self, holder: str, endpoint: str = "") -> int | None:
        """Take the leader lock and a new, higher epoch; None while another master holds the lock.

        If this store already holds it, return the present epoch. `endpoint` is where the leader answers the API; empty
        if the API's own settings say it.
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
        """Remove a batch of the executions that ended before the retention began, with everything that belongs to them.

        The same transaction adds their usage to the daily usage. Return how many were removed; 0: none is left. Old
        observations of the object store's bandwidth are removed too, and in a database old data of accounts.
        """
        ...

    def cut_s(self) -> float:
        """Return the time before which ended executions may have been removed; 0 if none ever was."""
        ...

    def sum_up(self) -> bool:
        """Add some ended executions to the sums on which `counts` and `daily_use` build; return whether there may be
        more.

        This does not change their results, only what they cost.
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
        """Store what a tick saw; NotLeader."""
        ...

    def ticks(self, from_s: float, to_s: float) -> Sequence[TickRecord]:
        """Return records from the last whole one not later than `from_s` to the last one not later than `to_s`.

        In order of writing; empty if there is no such whole record.
        """
        ...

    def ticks_from_s(self) -> float | None:
        """Return when the earliest whole record was made that still exists; None if none does."""
        ...

    def ping(self) -> None:
        """Raise StoreUnavailable if the database cannot be reached."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
