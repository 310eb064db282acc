"""Executions and their services: states, marks and outcome. Changed only by `lifecycle.apply`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_client.vocabulary import ACTIVE_STATES, TERMINAL_STATES, Cause, ExecutionState, Mark, Outcome, ServiceState
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.deadlines import NO_EARLIER, DeadlineMiss, EarlierAttempts
from zoe_lib.domain.values.finish_times import Promise, PromiseOffers
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.locality import InputPlaces
from zoe_lib.domain.values.owners import FormerUser
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.domain.values.storage import InputRead
from zoe_lib.domain.values.transfers import StoreTransfers

__all__ = [
    "ACTIVE_STATES",
    "PLATFORM_CAUSES",
    "SERVICE_TERMINAL_STATES",
    "TERMINAL_STATES",
    "WAITING_STATES",
    "Cause",
    "Execution",
    "ExecutionId",
    "ExecutionState",
    "Mark",
    "Outcome",
    "Service",
    "ServiceId",
    "ServiceState",
    "awaits_prologue",
    "new_service",
    "new_services",
    "pause_of",
    "service_id",
]

ExecutionId = str
ServiceId = str


# The platform caused these ends. A service that ended without Zoe's command ended with its node or its supervisor.
PLATFORM_CAUSES = frozenset(
    {
        Cause.ENGINE_FAULT,
        Cause.PORT_TAKEN,
        Cause.NODE_LOST,
        Cause.STOPPED,
        Cause.KILLED,
        Cause.STORAGE_UNAVAILABLE,
        Cause.PROLOGUE_FAILED,
    }
)

UNCHARGED_CAUSES = PLATFORM_CAUSES | {Cause.REQUEUED}
"""Causes after which a retry does not count against the user's `retries`."""
WAITING_STATES = frozenset({ExecutionState.SUBMITTED, ExecutionState.QUEUED})
SERVICE_TERMINAL_STATES = frozenset({ServiceState.ENDED, ServiceState.LOST})


@value(frozen=True, slots=True)
class Service:
    """One instance of a Component. It has a node from placement to the end, and holds its reservation in that time.
    left_files: names and sizes of the files in its scratch directory at its end, if the back-end knows.
    """

    id: ServiceId
    component: str
    index: int
    core: bool
    attempt: int = 1
    state: ServiceState = ServiceState.CREATED
    node: str | None = None
    backend_id: str | None = None
    not_before_s: float = 0.0
    started_at_s: float | None = None
    ready_at_s: float | None = None
    ended_at_s: float | None = None
    exit_code: int | None = None
    cause: Cause | None = None
    message: str = ""
    left_files: str = ""

    @property
    def alive(self) -> bool:
        """Return whether it is neither ended nor lost."""
        return self.state not in SERVICE_TERMINAL_STATES

    @property
    def has_succeeded(self) -> bool:
        """Return whether it ended with exit code 0. A shell that continues after the memory limit killed its program
        did not succeed, nor did a program that ended because it was asked to stop.
        """
        ended = self.state is ServiceState.ENDED and self.exit_code == 0
        return ended and self.cause not in (Cause.OUT_OF_MEMORY, Cause.STOPPED)

    @property
    def name(self) -> str:
        """Return component and index, as users see them."""
        return f"{self.component}-{self.index}"


@value(frozen=True, slots=True)
class Execution:
    """One submitted Application.

    `attempt` counts the attempts of the whole execution: a retry adds new services with attempt + 1, and the old ones
    stay ended. `outcome`, `exit_code`, `cause` and `message` are known from `stopping` on. `forecast`: the forecast of
    this attempt, if it had to wait; it never changes. `inputs`: the inputs with a pushdown, once this attempt's way of
    reading them is decided. `storage_problem`: why the requested bandwidth is not granted, in this attempt, or in the
    last one until this one is placed. `granted_s`: seconds of each day (since the epoch, UTC) for which it was granted
    before the present grant, in all attempts. `places`: share of its inputs on the nodes at this attempt's placement.
    `conditions`: its conditions for the queue, present and past. `earlier`: the time lost before its present attempt.
    `missed`: its deadline, if it was missed. `promise`: the promise in force. `offers`: the offers, while none is
    accepted. `transfers`: bytes moved with its own credentials that have ended; None: unknown. `former_owners`: the
    owners before hand-overs, oldest first.
    """

    id: ExecutionId
    name: str
    tenant: str
    user: str
    application: Application
    submitted_at_s: float
    state: ExecutionState = ExecutionState.SUBMITTED
    version: int = 0
    attempt: int = 1
    failed_attempts: int = 0
    priority: int = 0
    deadline_s: float | None = None
    not_before_s: float = 0.0
    services: tuple[Service, ...] = ()
    marks: Mapping[Mark, float] = field(default_factory=dict)
    outcome: Outcome | None = None
    exit_code: int | None = None
    cause: Cause | None = None
    message: str = ""
    reason: Reason | None = None
    forecast: Forecast | None = None
    notes: tuple[str, ...] = ()
    inputs: tuple[InputRead, ...] = ()
    storage_problem: str = ""
    granted_s: Mapping[int, float] = field(default_factory=dict)
    places: tuple[InputPlaces, ...] = ()
    conditions: Conditions = NO_CONDITIONS
    earlier: EarlierAttempts = NO_EARLIER
    missed: DeadlineMiss | None = None
    promise: Promise | None = None
    offers: PromiseOffers | None = None
    transfers: StoreTransfers | None = None
    former_owners: tuple[FormerUser, ...] = ()

    @property
    def terminal(self) -> bool:
        """Return whether its state is final."""
        return self.state in TERMINAL_STATES

    @property
    def times_s(self) -> tuple[float, ...]:
        """Return the times at which it may change state while it waits, in seconds since the epoch."""
        own_s = () if self.deadline_s is None or self.missed else (self.deadline_s,)
        offers_s = () if self.offers is None else (self.offers.ends_s,)
        return (*self.conditions.times_s, *own_s, *offers_s)

    def service(self, service_id: ServiceId) -> Service:
        """Return the service with that id; KeyError if it belongs to another execution."""
        for service in self.services:
            if service.id == service_id:
                return service
        raise KeyError(service_id)

    def component_of(self, service: Service) -> Component:
        """Return the component of a service."""
        return self.application.component(service.component)

    def current(self) -> tuple[Service, ...]:
        """Return the newest service of every (component, index), in start-up order; without instances that were scaled
        down.
        """
        if len(self.services) == self.application.instance_count:  # no service was retried or scaled down
            return self.services
        newest: dict[tuple[str, int], Service] = {}
        for service in self.services:
            newest[service.component, service.index] = service
        return tuple(service for service in newest.values() if self.requests(service))

    def requests(self, service: Service) -> bool:
        """Return whether the application still requests this instance; it may have been scaled down."""
        return service.index < self.component_of(service).total_count

    def core_services(self) -> tuple[Service, ...]:
        """Return the newest essential services."""
        if not self.application.malleable:
            return self.current()
        return tuple(s for s in self.current() if s.core)

    def elastic_services(self) -> tuple[Service, ...]:
        """Return the newest elastic services."""
        if not self.application.malleable:
            return ()
        return tuple(s for s in self.current() if not s.core)


def awaits_prologue(execution: Execution) -> bool:
    """Return whether the admin's prologue of this attempt has not ended."""
    return Mark.OPENED in execution.marks and Mark.PROLOGUE_ENDED not in execution.marks


def pause_of(execution: Execution, until_s: float) -> float:
    """Return for how many seconds of its present wait in the queue it paused after an attempt, counted until
    `until_s`.
    """
    queued_at_s = execution.marks.get(Mark.QUEUED, until_s)
    return max(min(execution.not_before_s, until_s) - queued_at_s, 0.0) if execution.attempt > 1 else 0.0


def ran_s(execution: Execution) -> float | None:
    """Return the run time of the last attempt of an ended execution: from its placement until its last service ended,
    even if the master recorded the end later. None if it was never placed, or has not ended.
    """
    placed_s, ended_s = execution.marks.get(Mark.PLACED), execution.marks.get(Mark.ENDED)
    if placed_s is None or ended_s is None:
        return None
    ends = [ended_s if s.ended_at_s is None else s.ended_at_s for s in execution.services if s.started_at_s is not None]
    return max(min(max(ends, default=ended_s), ended_s) - placed_s, 0.0)


def service_id(execution_id: ExecutionId, component: str, index: int, attempt: int) -> ServiceId:
    """Return the id of a service; it is derived from the service, so that the same plan always gives the same ids."""
    return f"{execution_id}.{component}.{index}.{attempt}"


def new_services(execution_id: ExecutionId, application: Application, attempt: int) -> tuple[Service, ...]:
    """Return a created service for every instance of the application, in start-up order."""
    return tuple(new_service(execution_id, component, index, attempt) for component, index in application.instances())


def new_service(execution_id: ExecutionId, component: Component, index: int, attempt: int) -> Service:
    """Return a created service for an instance of a component."""
    return Service(
        id=service_id(execution_id, component.name, index, attempt),
        component=component.name,
        index=index,
        core=index < component.essential_count,
        attempt=attempt,
    )
