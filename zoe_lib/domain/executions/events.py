"""Events: facts about executions. The journal stores them; `lifecycle.apply` is the only reader that changes state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar

from zoe_client.vocabulary import ExecutionState, Holder
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome, ServiceId
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.domain.values.finish_times import FinishTerms, PromiseNotice, PromiseOffers
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.locality import InputPlaces
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.domain.values.storage import Bandwidth, InputRead
from zoe_lib.domain.values.transfers import StoreTransfers


@value(frozen=True, slots=True, kw_only=True)
class Event:
    """A fact: its time (seconds since the epoch) and its cause.

    `cause_id` names the request, plan or observation behind it; logs and labels use the same name.
    """

    kind: ClassVar[str] = ""
    at_s: float
    cause_id: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Submitted(Event):
    """A user submitted it; `conditions` kept it from the queue at that time."""

    kind: ClassVar[str] = "submitted"
    conditions: Conditions | None = None


def submission_event(execution: Execution, cause_id: str = "") -> Submitted:
    """Return the first event of a new execution."""
    conditions = None if execution.conditions == NO_CONDITIONS else execution.conditions
    return Submitted(at_s=execution.submitted_at_s, cause_id=cause_id, conditions=conditions)


@value(frozen=True, slots=True, kw_only=True)
class Queued(Event):
    """The master took it into the queue."""

    kind: ClassVar[str] = "queued"


@value(frozen=True, slots=True, kw_only=True)
class Held(Event):
    """A user or an operator put it on hold: it does not enter the queue, or leaves it, until it is released."""

    kind: ClassVar[str] = "held"
    by: Holder
    user: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Released(Event):
    """It is no longer on hold; dependencies that cannot be met any more are dropped."""

    kind: ClassVar[str] = "released"
    user: str = ""


@value(frozen=True, slots=True, kw_only=True)
class DependencyEnded(Event):
    """A dependency has ended, in that state; null: it does not exist any more."""

    kind: ClassVar[str] = "dependency_ended"
    on: str
    state: ExecutionState | None = None


@value(frozen=True, slots=True, kw_only=True)
class Requested:
    """Fields that a user may change while an execution waits. Times are in seconds since the epoch."""

    priority: int
    deadline_s: float | None
    begin_at_s: float | None
    application: Application

    @classmethod
    def of_execution(cls, execution: Execution) -> Requested:
        """Return the present values of these fields."""
        begin_at_s = execution.conditions.begin_at_s
        return cls(
            priority=execution.priority,
            deadline_s=execution.deadline_s,
            begin_at_s=begin_at_s,
            application=execution.application,
        )


@value(frozen=True, slots=True, kw_only=True)
class Modified(Event):
    """A user changed the request while it waited; `what` describes the change in words."""

    kind: ClassVar[str] = "modified"
    before: Requested
    after: Requested
    user: str = ""
    what: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Scaled(Event):
    """A user, or without one the component's rule, requested other numbers of instances of these components; `before`:
    the earlier numbers. Only elastic services start or stop. `why`: the measured value.
    """

    kind: ClassVar[str] = "scaled"
    before: Mapping[str, int]
    total_counts: Mapping[str, int]
    user: str = ""
    why: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Promised(Event):
    """It is promised to end by a time; the resources in the terms are guaranteed to it from now on.
    offer: the number of the accepted offer; 0: the promise is as requested. deadline_before_s, bandwidth_before: what
    it had requested until then.
    """

    kind: ClassVar[str] = "promised"
    terms: FinishTerms
    offer: int = 0
    user: str = ""
    deadline_before_s: float | None = None
    bandwidth_before: Bandwidth | None = None


def promised_event(
    execution: Execution, terms: FinishTerms, *, at_s: float, cause_id: str, offer: int = 0, user: str = ""
) -> Promised:
    """Return the event of a promise, with what it replaces."""
    storage = execution.application.storage
    return Promised(
        at_s=at_s,
        cause_id=cause_id,
        terms=terms,
        offer=offer,
        user=user,
        deadline_before_s=execution.deadline_s,
        bandwidth_before=None if storage is None else storage.bandwidth,
    )


@value(frozen=True, slots=True, kw_only=True)
class PromiseOffered(Event):
    """The requested promise cannot be given, and why; these offers can, if its user accepts one in time."""

    kind: ClassVar[str] = "promise_offered"
    offers: PromiseOffers


@value(frozen=True, slots=True, kw_only=True)
class PromiseAtRisk(Event):
    """Its promise is expected to be broken; the execution continues."""

    kind: ClassVar[str] = "promise_at_risk"
    notice: PromiseNotice


@value(frozen=True, slots=True, kw_only=True)
class PromiseAdjusted(Event):
    """New guarantees in place of the terms: elastic services, fewer while it is early and more when it is not any more;
    and bytes per second to read, more than promised while it is late. None: as in the terms.
    """

    kind: ClassVar[str] = "promise_adjusted"
    elastic: int
    read_bytes_per_s: int | None = None


@value(frozen=True, slots=True, kw_only=True)
class ReasonChanged(Event):
    """The reason for which it waits changed."""

    kind: ClassVar[str] = "reason_changed"
    reason: Reason


@value(frozen=True, slots=True, kw_only=True)
class Forecasted(Event):
    """The forecast of start and end that was shown to the user."""

    kind: ClassVar[str] = "forecasted"
    forecast: Forecast


@value(frozen=True, slots=True, kw_only=True)
class Placement:
    """A service and its node."""

    service_id: ServiceId
    node: str


@value(frozen=True, slots=True, kw_only=True)
class StartPlanned(Event):
    """All essential services were admitted and placed; the placements may include elastic services.
    places: share of its inputs on the nodes at that time, if the object store reported it.
    """

    kind: ClassVar[str] = "start_planned"
    placements: tuple[Placement, ...]
    places: tuple[InputPlaces, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class StorageGranted(Event):
    """The storage controller has put its guarantee in force."""

    kind: ClassVar[str] = "storage_granted"
    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None


@value(frozen=True, slots=True, kw_only=True)
class StorageRefused(Event):
    """The storage controller refuses the required bandwidth, and why; the master keeps asking."""

    kind: ClassVar[str] = "storage_refused"
    why: str


@value(frozen=True, slots=True, kw_only=True)
class StorageDeclined(Event):
    """The preferred bandwidth is not guaranteed, and why; the execution starts without a guarantee."""

    kind: ClassVar[str] = "storage_declined"
    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None
    why: str = ""


@value(frozen=True, slots=True, kw_only=True)
class StorageWithdrawn(Event):
    """The granted bandwidth is no longer in force, and why; services that have started continue without it."""

    kind: ClassVar[str] = "storage_withdrawn"
    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None
    why: str


@value(frozen=True, slots=True, kw_only=True)
class AttemptOpened(Event):
    """Before its first service starts: which of the admin's programs run for this attempt."""

    kind: ClassVar[str] = "attempt_opened"
    prologue: bool
    epilogue: bool


@value(frozen=True, slots=True, kw_only=True)
class PrologueEnded(Event):
    """The admin's prologue ended: with exit code 0, its services start. No exit code: it was ended; `output` says why.

    `output`: the end of what it wrote.
    """

    kind: ClassVar[str] = "prologue_ended"
    exit_code: int | None = None
    output: str = ""


@value(frozen=True, slots=True, kw_only=True)
class EpilogueEnded(Event):
    """The admin's epilogue ended, after the last service; how it ended changes nothing. Fields as for the prologue."""

    kind: ClassVar[str] = "epilogue_ended"
    exit_code: int | None = None
    output: str = ""


@value(frozen=True, slots=True, kw_only=True)
class TenantCredentialUsed(Event):
    """Its services sign in to the object store as its tenant: its own credential did not come in time."""

    kind: ClassVar[str] = "tenant_credential_used"


@value(frozen=True, slots=True, kw_only=True)
class StorageTransferred(Event):
    """Bytes that its attempt moved to and from the object store with its own credential, which has ended; may follow
    the end.
    """

    kind: ClassVar[str] = "storage_transferred"
    attempt: int
    transfers: StoreTransfers


@value(frozen=True, slots=True, kw_only=True)
class InputsDecided(Event):
    """The way in which each of its inputs with a pushdown is read: through a view or not, and why."""

    kind: ClassVar[str] = "inputs_decided"
    inputs: tuple[InputRead, ...]


@value(frozen=True, slots=True, kw_only=True)
class ElasticPlaced(Event):
    """Elastic services of a started execution got nodes."""

    kind: ClassVar[str] = "elastic_placed"
    placements: tuple[Placement, ...]


@value(frozen=True, slots=True, kw_only=True)
class ServiceEvent(Event):
    """A fact about one service."""

    service_id: ServiceId


@value(frozen=True, slots=True, kw_only=True)
class ServiceStarting(ServiceEvent):
    """The master handed it to the back-end."""

    kind: ClassVar[str] = "service_starting"


@value(frozen=True, slots=True, kw_only=True)
class ServiceStarted(ServiceEvent):
    """Its process started."""

    kind: ClassVar[str] = "service_started"
    backend_id: str = ""


@value(frozen=True, slots=True, kw_only=True)
class ServiceReady(ServiceEvent):
    """Its readiness probe succeeded."""

    kind: ClassVar[str] = "service_ready"


@value(frozen=True, slots=True, kw_only=True)
class ServiceStopping(ServiceEvent):
    """The master asked it to stop; `cause` says why."""

    kind: ClassVar[str] = "service_stopping"
    cause: Cause


@value(frozen=True, slots=True, kw_only=True)
class ServiceEnded(ServiceEvent):
    """Its process has ended, or never started. `left_files`: names and sizes of the files in its scratch directory,
    which is removed.
    """

    kind: ClassVar[str] = "service_ended"
    cause: Cause
    exit_code: int | None = None
    message: str = ""
    detail: str = ""
    left_files: str = ""


@value(frozen=True, slots=True, kw_only=True)
class ServiceLost(ServiceEvent):
    """Its node is lost, and its fate is unknown."""

    kind: ClassVar[str] = "service_lost"
    message: str = ""
    detail: str = ""


@value(frozen=True, slots=True, kw_only=True)
class ServiceRetried(ServiceEvent):
    """A failed elastic service gets a successor, not to be started before `not_before_s`."""

    kind: ClassVar[str] = "service_retried"
    not_before_s: float


@value(frozen=True, slots=True, kw_only=True)
class Running(Event):
    """All essential services are ready."""

    kind: ClassVar[str] = "running"


@value(frozen=True, slots=True, kw_only=True)
class IdleWarned(Event):
    """It has been idle since `used_at_s`; unless it is used, it ends at `ends_at_s`."""

    kind: ClassVar[str] = "idle_warned"
    used_at_s: float
    ends_at_s: float


@value(frozen=True, slots=True, kw_only=True)
class ScalingBlind(Event):
    """A scaling rule has had no measurement for a while, so the number of instances stays; `why` is empty when all
    rules have one again.
    """

    kind: ClassVar[str] = "scaling_blind"
    why: str = ""


@value(frozen=True, slots=True, kw_only=True)
class DeadlineMissed(Event):
    """It had not ended at its deadline, and why; it continues."""

    kind: ClassVar[str] = "deadline_missed"
    miss: DeadlineMiss


@value(frozen=True, slots=True, kw_only=True)
class Stopping(Event):
    """The outcome is known; running services are being stopped."""

    kind: ClassVar[str] = "stopping"
    outcome: Outcome
    cause: Cause
    exit_code: int | None = None
    message: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Ended(Event):
    """All services have ended; the terminal state is the outcome's."""

    kind: ClassVar[str] = "ended"


@value(frozen=True, slots=True, kw_only=True)
class Requeued(Event):
    """All services of the attempt have ended, and it is retried, not before `not_before_s`.
    plainly: it failed while it read an input through a view, which may be the cause. From now on it reads plain
    objects, and this failure does not count against the user's `retries`. memory_bytes: new reservations of the
    components that ran out of memory, and memory_before: their earlier ones.
    """

    kind: ClassVar[str] = "requeued"
    not_before_s: float = 0.0
    plainly: bool = False
    memory_bytes: Mapping[str, int] = field(default_factory=dict)
    memory_before: Mapping[str, int] = field(default_factory=dict)


@value(frozen=True, slots=True, kw_only=True)
class Refused(Event):
    """It ended while waiting: it can never run, or a user cancelled it."""

    kind: ClassVar[str] = "refused"
    outcome: Outcome
    cause: Cause
    message: str = ""
    detail: str = ""


@value(frozen=True, slots=True, kw_only=True)
class OwnerChanged(Event):
    """An admin handed it over to another user of its tenant; running services continue as the former owner's."""

    kind: ClassVar[str] = "owner_changed"
    former: str
    user: str


def scaling_problem(events: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return why scaling rules have no measurement at present, from the kinds and data of an execution's events in
    their order; empty if all have one.
    """
    why = ""
    for kind, data in events:
        if kind == ScalingBlind.kind:
            why = str(data.get("why", ""))
        elif kind == Requeued.kind:
            why = ""
    return why


EVENT_TYPES: dict[str, type[Event]] = {
    event_type.kind: event_type
    for event_type in (
        Submitted,
        Queued,
        Held,
        Released,
        DependencyEnded,
        Modified,
        Scaled,
        Promised,
        PromiseOffered,
        PromiseAdjusted,
        PromiseAtRisk,
        ReasonChanged,
        Forecasted,
        StartPlanned,
        StorageGranted,
        StorageRefused,
        StorageDeclined,
        StorageWithdrawn,
        TenantCredentialUsed,
        AttemptOpened,
        PrologueEnded,
        EpilogueEnded,
        StorageTransferred,
        InputsDecided,
        ElasticPlaced,
        ServiceStarting,
        ServiceStarted,
        ServiceReady,
        ServiceStopping,
        ServiceEnded,
        ServiceLost,
        ServiceRetried,
        Running,
        DeadlineMissed,
        ScalingBlind,
        IdleWarned,
        Stopping,
        Ended,
        Requeued,
        Refused,
        OwnerChanged,
    )
}
