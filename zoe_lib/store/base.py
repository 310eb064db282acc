"""What all state is kept in: the journal, its projections, and the few tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from zoe_lib.domain.amounts import counted
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.events import Event
from zoe_lib.domain.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.gateway import HeldOnNode
from zoe_lib.domain.limits import Limits, LimitSubject
from zoe_lib.domain.platform import BackendCapabilities, Platform
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.promises import StoreCapacity, TenantBandwidth
from zoe_lib.domain.resources import Resources
from zoe_lib.domain.use import DayOfUser, ResourceSeconds
from zoe_lib.domain.values import value


class StoreError(Exception):
    """Root of what a store raises."""


class NotFound(StoreError):  # noqa: N818 - the name is the fact
    """There is no such thing, or it is not this tenant's."""


class ConcurrentUpdate(StoreError):  # noqa: N818
    """Somebody else was faster: the version is not the expected one. Read again and decide again."""


class NotLeader(StoreError):  # noqa: N818
    """The epoch is not the present leader's: another master has taken over."""


class IdempotencyConflict(StoreError):  # noqa: N818
    """The same idempotency key came with another request."""


class QuotaExceeded(StoreError):  # noqa: N818
    """The tenant, or the user in it, has as many executions waiting or running as may be."""

    def __init__(self, holder: str, executions_max: int) -> None:
        super().__init__(
            f"maximum for {holder}: {counted(executions_max, 'execution')} waiting or running at the same time"
        )


class TimeLimitTooLong(StoreError):  # noqa: N818
    """It asks for a longer time limit than executions of its tenant may have."""


class BatchRefused(StoreError):  # noqa: N818
    """One of several submissions is refused, and with it all of them; `index` is its place, `reason` why."""

    def __init__(self, index: int, reason: StoreError) -> None:
        super().__init__(str(reason))
        self.index = index
        self.reason = reason


class StoreUnavailable(StoreError):  # noqa: N818
    """The database cannot be reached now; the same call may pass later.

    A write that ends so may have been done: the connection can break between the commit and its answer. Doing it again
    is safe, because of the expected version, and because of the execution's id or the idempotency key in `submit`.
    """


class InvalidCursor(StoreError, ValueError):  # noqa: N818
    """The cursor of a page was not made here."""

    def __init__(self, cursor: str) -> None:
        super().__init__(f"not a cursor of this list: {cursor[:80]!r}")


class Unstorable(StoreError, ValueError):  # noqa: N818
    """A value that PostgreSQL cannot hold, such as a NUL character in a text."""


@value(frozen=True, slots=True)
class JournalEntry:
    """A fact as it was written. Ids are commit-ordered: whoever reads on from an id misses nothing.

    `execution_id`, `tenant` and `version` are None for facts about the installation (such as `policy_set`).
    `data` is the JSON form of the event without its `at_s` and `cause_id`.
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
    """Events of one execution, and what they lead to from the version that is believed to be stored."""

    before: Execution
    events: Sequence[Event]
    after: Execution


@value(frozen=True, slots=True)
class TickRecord:
    """What a tick saw of the world outside the journal.

    `read_to` is the last journal id that it knew of what others wrote. `inputs` is JSON of the master's making: with
    `whole` all that it saw, else what had changed since the record before.
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

    `submitted_to_s`: not submitted later; `ended_from_s`: not ended before.
    `name_contains` takes upper and lower case for the same. The filters of a continued page must not change.
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

    `searched_to_s`: a search by name has looked through as many as it may for one page, and stopped at the execution
    that was submitted then; the next page goes on from there.
    """

    executions: Sequence[Execution]
    next_cursor: str | None
    searched_to_s: float | None = None


@value(frozen=True, slots=True)
class UsageSample:
    """What one service used when it was sampled: CPU seconds since its start, memory bytes then."""

    execution_id: ExecutionId
    service_id: str
    node: str
    at_s: float
    cpu_s: float
    memory_bytes: int


@value(frozen=True, slots=True)
class UsePoint:
    """What a node, or all executions of a name, used on average in a stretch of time that begins at `at_s`."""

    at_s: float
    name: str
    cores: float
    memory_bytes: float


@value(frozen=True, slots=True)
class BandwidthPoint:
    """What a tenant was granted, moved and missed on average in a stretch of time that begins at `at_s`."""

    at_s: float
    tenant: str
    means: TenantBandwidth


@value(frozen=True, slots=True)
class StoreLimits:
    """Bounds of the tables that would grow for ever.

    usage_samples_per_service_max: an hour at one sample in five seconds.
    retention_s: how long an execution is kept after its end, and a look at the object store's bandwidth.
    idempotency_keys_kept_s: longer than any client goes on repeating a submission.
    failures_kept_s: longer than failed sign-ins are counted for.
    audit_kept_s: two years.
    searched_max: executions that a search by name looks through for one page, some ten milliseconds.
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
        """Stop calling back."""
        ...


@value(frozen=True, slots=True)
class Leader:
    """The master that leads: its epoch, its name, where it answers, and how often it has renewed its lease."""

    epoch: int
    holder: str
    endpoint: str
    renewals: int


class ExecutionStore(Protocol):
    """Executions, their journal, and the installation that runs them.

    Thread-safe; a call that raised anything but StoreUnavailable changed nothing.
    Every method may raise StoreUnavailable. `leader_epoch` is None only for what users do (submit, cancel).
    """

    # -- executions ------------------------------------------------------------------------------------------------
    def submit(
        self,
        execution: Execution,
        cause_id: str,
        idempotency_key: str | None = None,
        fingerprint: str = "",
    ) -> Execution:
        """Keep a new execution with its services and the `submitted` event, in one transaction.

        `execution` is fresh (version 0, no services); the one returned is as stored. The same key of the same tenant
        with the same fingerprint returns the execution stored first; with another one: IdempotencyConflict. The same
        id by the same user again returns what is stored, too; of anybody else it is a ConcurrentUpdate.
        What the limits say is looked at in the same transaction: QuotaExceeded when the tenant or its user has
        as many as may be, TimeLimitTooLong; one without a time limit is stored with the longest, and a note of that.
        """
        ...

    def submitted_with(self, tenant: str, idempotency_key: str, fingerprint: str) -> Execution | None:
        """What that tenant submitted with that key; None when nothing was. IdempotencyConflict."""
        ...

    def append(
        self,
        execution_id: ExecutionId,
        events: Sequence[Event],
        expected_version: int,
        leader_epoch: int | None,
        after: Execution | None = None,
    ) -> Execution:
        """Apply events in order and write them with their projection, in one transaction; the execution after them.

        `after` is what they lead to from the expected version, by a caller who has applied them already.
        Raises NotLeader, NotFound, ConcurrentUpdate, or the lifecycle's IllegalTransition, looked for in this order.
        """
        ...

    def append_all(
        self, changes: Sequence[ExecutionChange], leader_epoch: int | None
    ) -> Mapping[ExecutionId, Execution]:
        """Write changes of different executions in one transaction, journaled in this order; the executions after them.

        A change whose version is not the stored one, or whose execution is not there, is left out, and out of the
        answer; the others are written. NotLeader.
        """
        ...

    def execution(self, execution_id: ExecutionId) -> Execution:
        """One execution with all its services; NotFound."""
        ...

    def add_use_of(self, execution_id: ExecutionId, at_s: float) -> None:
        """Somebody used an application then; the latest counts. Nothing when the execution is not there."""
        ...

    def last_uses(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, float]:
        """When each of them was used last; those that never were are missing."""
        ...

    def executions(self, query: ExecutionQuery) -> ExecutionPage:
        """Executions newest first, by (submitted_at_s, id); InvalidCursor."""
        ...

    def active(self) -> Sequence[Execution]:
        """Every execution that is not terminal, oldest first: what a master starts from."""
        ...

    def counts(self) -> Mapping[ExecutionState, int]:
        """How many executions are in each state."""
        ...

    def active_counts(self) -> Mapping[tuple[str, str], int]:
        """How many executions wait or run, by tenant and user; those without any are not there."""
        ...

    def active_among(self, ids: Collection[ExecutionId], tenant: str | None = None) -> Collection[ExecutionId]:
        """Return which of these executions are not terminal; with `tenant`, only those of that tenant."""
        ...

    def used(self) -> Mapping[LimitSubject, Mapping[str, int]]:
        """Return `zoe_lib.domain.limits.used` of all executions that are not terminal."""
        ...

    def held_on_nodes(self, gateway: Resources) -> Mapping[str, HeldOnNode]:
        """Return `zoe_lib.domain.gateway.held_on_nodes` of all executions that are not terminal."""
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
        """Entries with a greater id, in order. `tenant` also lets pass what belongs to no tenant.

        Without `with_data` their data are empty: for whoever asks only who has changed.
        """
        ...

    def last_journal_id(self) -> int:
        """The newest id that is kept; 0 for an empty journal."""
        ...

    def subscribe(self, notify: Callable[[], None]) -> Subscription:
        """Call `notify` soon after something was committed, from any thread. A hint: it may come late, twice or never.

        `notify` must return at once and must not raise.
        """
        ...

    # -- installation ----------------------------------------------------------------------------------------------
    def set_platform(self, nodes: Sequence[Node], at_s: float, leader_epoch: int | None) -> None:
        """Replace the table of nodes."""
        ...

    def platform(self) -> Sequence[Node]:
        """The nodes as last seen by a master, by name."""
        ...

    def set_capabilities(
        self, capabilities: BackendCapabilities, storage: StoreCapacity | None, at_s: float, leader_epoch: int | None
    ) -> None:
        """Keep what the back-end can run, and what the object store can promise in all; None: as was told last."""
        ...

    def whole_platform(self) -> Platform:
        """Nodes, capabilities and what the object store can promise, as a master saw them last; Platform() before."""
        ...

    def policy(self) -> Policy:
        """The policy in force; the default one (version 0) when none was ever set."""
        ...

    def set_policy(self, policy: Policy, expected_version: int, at_s: float, cause_id: str) -> Policy:
        """Put a policy in force, journaled as `policy_set`; its version becomes one higher. ConcurrentUpdate.

        Limits that documents of the policy do not say stay as they are: of executions and of time.
        """
        ...

    def change_limits(self, change: Callable[[Limits], Limits], at_s: float, cause_id: str) -> Policy:
        """Make the limits what the change makes of them; those that the policy says make it a new version of it."""
        ...

    # -- leadership ------------------------------------------------------------------------------------------------
    def try_lead(self, holder: str, endpoint: str = "") -> int | None:
        """Take the leader lock and a new, higher epoch; None while another holds it.

        Called again while this store holds it, it returns the epoch it has. `endpoint` is where the leader answers
        questions; empty: where the settings of those who ask say.
        """
        ...

    def leader(self) -> Leader | None:
        """Return the last master that took the lead, whether or not it lives; None before the first."""
        ...

    def renew_lead(self, epoch: int) -> bool:
        """Renew the leader's lease; False when this store's lock is not held."""
        ...

    def depose(self, seen: Leader) -> bool:
        """Free the lock of a leader whose lease has not been renewed since `seen` was read; False if it was."""
        ...

    def still_leading(self, epoch: int) -> bool:
        """Whether this store's lock is held and the epoch is still the newest."""
        ...

    def stop_leading(self) -> None:
        """Let the lock go; nothing when it is not held."""
        ...

    # -- usage and upkeep ------------------------------------------------------------------------------------------
    def prune(self, now_s: float) -> int:
        """Remove a batch of the executions that ended before the retention began, with all that hangs on them.

        Their use is added to the daily use in the same transaction. The answer is how many went; 0: none is left.
        What is too old of the object store's bandwidth and, in a database, of accounts goes as well.
        """
        ...

    def cut_s(self) -> float:
        """What ended before may have been removed; 0 when nothing ever was."""
        ...

    def sum_up(self) -> bool:
        """Add some of what has ended to the sums that `counts` and `daily_use` begin with; whether there may be more.

        Their answers do not depend on it, only what an answer costs.
        """
        ...

    def daily_use(
        self, from_day: int, to_day: int, now_s: float | None = None, tenant: str | None = None
    ) -> Mapping[DayOfUser, ResourceSeconds]:
        """Use by day (since the epoch, UTC), tenant and user, both days included; also of what was removed.

        What has not ended counts until `now_s`, or not at all. `tenant`: of that one only.
        """
        ...

    # -- ticks -----------------------------------------------------------------------------------------------------
    def add_tick(self, tick: TickRecord, leader_epoch: int) -> None:
        """Keep what a tick saw; NotLeader."""
        ...

    def ticks(self, from_s: float, to_s: float) -> Sequence[TickRecord]:
        """From the last whole record that is not later than `from_s` to the last that is not later than `to_s`.

        In order of writing; empty when there is no such whole record.
        """
        ...

    def ticks_from_s(self) -> float | None:
        """When the earliest whole record was made that is still there; None without any."""
        ...

    def ping(self) -> None:
        """Raise StoreUnavailable when the database cannot be reached."""
        ...

    def close(self) -> None:
        """Give back every connection."""
        ...
