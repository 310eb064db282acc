"""Values that pass between a store and its callers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from zoe_client.vocabulary import DeadlineStatus
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, ArrayId
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState
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

    `submitted_from_s`, `submitted_to_s`: submitted within these times; `ended_from_s`: ended then or later.
    `name_contains` ignores case. `array_id`: only executions of that array; `alone`: only those of none.
    `deadline`: how they stand to it at `now_s`. `family`: only these executions, and
    those of these arrays. The filters of a continued page must not change.
    """

    ids: frozenset[ExecutionId] | None = None
    visibility: Visibility = ALL
    user: str | None = None
    states: frozenset[ExecutionState] | None = None
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


@value(frozen=True, slots=True)
class ArrayQuery:
    """Which arrays to list, newest first. None does not restrict; `cursor` continues an earlier page.

    `open`: only those of which an index has not ended. Arrays are not shared: others than the owner of one see it only
    if they see all of its tenant. `ids`: only these.
    """

    visibility: Visibility = ALL
    user: str | None = None
    open: bool = False
    ids: frozenset[ArrayId] | None = None
    limit: int = 50
    cursor: str | None = None


@value(frozen=True, slots=True)
class ArraysBeside:
    """Arrays that are stored, or changed, in the transaction that stores executions. `changes`: what `decide` of
    `change_array` returns, by the id of the array; at_s: when, in seconds since the epoch.
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
    """What was done to an array: it afterwards, the kind of the journal's entry, and what that says."""

    array: Array
    kind: ArrayEventKind
    data: Mapping[str, object]


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
class ExecutionUse:
    """What all services of an execution used and reserved so far, in all attempts.

    memory_peak_bytes: the most that one service used, among the samples that are kept; memory_reserved_bytes: what that
    service reserved. Services that were never sampled count with what they reserved.
    """

    execution_id: ExecutionId
    cpu_s: float = 0.0
    reserved_core_s: float = 0.0
    memory_peak_bytes: int = 0
    memory_reserved_bytes: int = 0


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
class StoreWait:
    """An execution that waits for the object store, and the sentence that says what for."""

    execution_id: ExecutionId
    tenant: str
    user: str
    sentence: str


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


@value(frozen=True, slots=True)
class Leader:
    """The master that leads: its epoch, its name, its endpoint, and how often it has renewed its lease."""

    epoch: int
    holder: str
    endpoint: str
    renewals: int
