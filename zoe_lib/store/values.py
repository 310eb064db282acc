"""Values that pass between a store and its callers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from zoe_client.vocabulary import DeadlineStatus
from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, ArrayId
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionId, ExecutionState
from zoe_lib.domain.executions.promises import TenantBandwidth
from zoe_lib.domain.values.frozen import value


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
    """Events of one execution, and their resulting state, from the expected version."""

    before: Execution
    events: Sequence[Event]
    after: Execution


@value(frozen=True, slots=True)
class TickRecord:
    """Facts of a tick outside the journal.

    `read_to` is the last journal id of others' writes that it knew. `inputs` is JSON in a form that the master defines:
    all facts if `whole`, else the changes since the previous record.
    """

    plan_id: str
    at_s: float
    epoch: int
    read_to: int
    whole: bool
    inputs: Mapping[str, object]


@value(frozen=True, slots=True)
class ExecutionQuery:
    """Filters of a list of executions, newest first. None does not restrict; `cursor` continues an earlier page.

    `held`: also executions on hold, beside `states`.
    `submitted_from_s`, `submitted_to_s`: submitted within these times; `ended_from_s`: ended then or later.
    `name_contains` ignores case. `array_id`: only executions of that array; `alone`: only those without an array.
    `deadline`: their deadline status at `now_s`. `family`: only these executions, and those of these arrays.
    `kind`, `application`: only those whose description has this kind, and this name. The filters of a continued page
    must not change.
    """

    ids: frozenset[ExecutionId] | None = None
    visibility: Visibility = ALL
    user: str | None = None
    states: frozenset[ExecutionState] | None = None
    held: bool = False
    name_contains: str | None = None
    submitted_from_s: float | None = None
    submitted_to_s: float | None = None
    ended_from_s: float | None = None
    limit: int = 50
    cursor: str | None = None
    array_id: ArrayId | None = None
    alone: bool = False
    deadline: DeadlineStatus | None = None
    now_s: float = 0.0
    family: frozenset[str] | None = None
    kind: ApplicationKind | None = None
    application: str | None = None

    @property
    def searches(self) -> bool:
        """Return whether it has a filter without an index: a page examines a limited number of executions then."""
        return any(wanted is not None for wanted in (self.name_contains, self.kind, self.application))


@value(frozen=True, slots=True)
class ArrayQuery:
    """Filters of a list of arrays, newest first. None does not restrict; `cursor` continues an earlier page.

    `open`: only unfinished ones. Arrays are not shared: users other than the owner see one only if they see all of its
    tenant. `ids`: only these.
    """

    visibility: Visibility = ALL
    user: str | None = None
    open: bool = False
    ids: frozenset[ArrayId] | None = None
    limit: int = 50
    cursor: str | None = None


@value(frozen=True, slots=True)
class ArraysBeside:
    """Arrays that are stored, or changed, in the transaction that stores executions. `changes`: the results of `decide`
    of `change_array`, by the id of the array; at_s: the time, in seconds since the epoch.
    """

    new: Sequence[Array] = ()
    changes: Mapping[ArrayId, Callable[[Array, bytearray], ArrayChange | None]] = field(default_factory=dict)
    at_s: float = 0.0


@value(frozen=True, slots=True)
class ArrayPage:
    """One page of arrays; `next_cursor` is None on the last."""

    arrays: Sequence[Array]
    next_cursor: str | None


@value(frozen=True, slots=True)
class ArrayChange:
    """A change of an array: the changed array, and the kind and data of the journal's entry."""

    array: Array
    kind: ArrayEventKind
    data: Mapping[str, object]


@value(frozen=True, slots=True)
class ArrayRuns:
    """The executions of an array that got places. ran_s: seconds with at least one of them; None if none got places.
    causes: causes of the failures in its present run.
    """

    ran_s: float | None = None
    causes: frozenset[Cause] = frozenset()


@value(frozen=True, slots=True)
class ExecutionPage:
    """One page of executions; `next_cursor` is None on the last.

    `searched_to_s`: the search by name has examined the maximum for one page, and stopped at the execution submitted
    then; the next page continues from there.
    """

    executions: Sequence[Execution]
    next_cursor: str | None
    searched_to_s: float | None = None


@value(frozen=True, slots=True)
class UsageSample:
    """A sample of one service's usage: CPU seconds since its start, and bytes of memory in use."""

    execution_id: ExecutionId
    service_id: str
    node: str
    at_s: float
    cpu_s: float
    memory_bytes: int


@value(frozen=True, slots=True)
class ExecutionUse:
    """Use and reservations of all services of an execution so far, in all attempts.
    memory_peak_bytes: maximum memory of any service, among the stored samples; memory_reserved_bytes: that service's
    reservation. Services without samples count with their reservations.
    """

    execution_id: ExecutionId
    cpu_s: float = 0.0
    reserved_core_s: float = 0.0
    memory_peak_bytes: int = 0
    memory_reserved_bytes: int = 0


@value(frozen=True, slots=True)
class UsePoint:
    """Average usage of a node, or of all executions of a name, in the interval that begins at `at_s`."""

    at_s: float
    name: str
    cores: float
    memory_bytes: float


@value(frozen=True, slots=True)
class BandwidthPoint:
    """Average granted, used and missed bandwidth of a tenant in the interval that begins at `at_s`."""

    at_s: float
    tenant: str
    means: TenantBandwidth


@value(frozen=True, slots=True)
class StoreWait:
    """An execution that waits for the object store, and the sentence with its reason."""

    execution_id: ExecutionId
    tenant: str
    user: str
    sentence: str


@value(frozen=True, slots=True)
class StoreLimits:
    """Limits of tables that would otherwise grow without end.
    usage_samples_per_service_max: an hour at one sample in five seconds. retention_s: how long an ended execution is
    stored, and an observation of the object store's bandwidth. idempotency_keys_kept_s: longer than any client repeats
    a submission. failures_kept_s: longer than failed sign-ins count. audit_kept_s: two years. searched_max: executions
    that a search by name examines for one page, which takes some ten milliseconds.
    """

    usage_samples_per_service_max: int = 720
    retention_s: float = 90 * 86400.0
    idempotency_keys_kept_s: float = 86400.0
    failures_kept_s: float = 4 * 86400.0
    audit_kept_s: float = 730 * 86400.0
    searched_max: int = 20_000


@value(frozen=True, slots=True)
class Leader:
    """The leading master: its epoch, its name, its endpoint, and the number of its lease renewals."""

    epoch: int
    holder: str
    endpoint: str
    renewals: int
