"""Requests and responses of the API: one truth for the server and the SDK. Times are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from zoe_lib.domain.cluster import Node
from zoe_lib.domain.execution import Cause, Execution, ExecutionState, Mark, Outcome, Service, ServiceState
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.reasons import Reason

SECONDS_MAX = 100 * 365 * 86_400.0


class Wire(BaseModel):
    """Base of all messages: unknown keys in requests are refused."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Diagnostic(Wire):
    """One thing wrong with a document: where (JSON pointer), what, and what helps."""

    pointer: str
    code: str
    message: str
    hint: str = ""


class Problem(Wire):
    """A refusal (RFC 9457). `code` is stable; `errors` holds every diagnostic of a bad document."""

    type: str = Field(default="about:blank", description="`urn:zoe:problem:` and the code.")
    title: str
    status: int
    code: str
    detail: str = ""
    hint: str = ""
    instance: str = ""
    errors: list[Diagnostic] = []


class SubmitRequest(Wire):
    """Submit an application: its description, and what belongs to this one execution of it."""

    application: dict[str, Any] = Field(description="The description, format version 4.")
    name: str | None = Field(default=None, max_length=128, description="Of this execution; default: the application's.")
    priority: int | None = Field(default=None, ge=-1000, le=1000)
    deadline_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Seconds from now until it should have ended."
    )


class ReasonView(Wire):
    """Why something waits."""

    code: str
    sentence: str
    counts: dict[str, int] = {}
    hint: str = ""

    @classmethod
    def of(cls, reason: Reason) -> ReasonView:
        """The wire form of a reason."""
        return cls(code=reason.code.value, sentence=reason.sentence, counts=dict(reason.counts), hint=reason.hint)


class ServiceView(Wire):
    """One service of an execution."""

    id: str
    name: str
    component: str
    index: int
    core: bool
    attempt: int
    state: ServiceState
    node: str | None
    started_at_s: float | None
    ready_at_s: float | None
    ended_at_s: float | None
    exit_code: int | None
    cause: Cause | None
    message: str

    @classmethod
    def of(cls, service: Service) -> ServiceView:
        """The wire form of a service."""
        return cls.model_validate(service)


class ExecutionSummary(Wire):
    """One execution as a line of a list."""

    id: str
    name: str
    application: str
    kind: str
    tenant: str
    user: str
    state: ExecutionState
    version: int
    attempt: int
    priority: int
    deadline_s: float | None
    submitted_at_s: float
    marks: dict[Mark, float]
    outcome: Outcome | None
    exit_code: int | None
    cause: Cause | None
    message: str
    reason: ReasonView | None
    core_total: int
    core_ready: int
    elastic_total: int
    elastic_ready: int

    @classmethod
    def of(cls, execution: Execution) -> ExecutionSummary:
        """The wire form of an execution, without its services."""
        return cls(**_summary(execution))


class ExecutionView(ExecutionSummary):
    """One execution with its services, its notes and its description."""

    services: list[ServiceView]
    notes: list[str]
    description: dict[str, Any]

    @classmethod
    def detailed(cls, execution: Execution, description: Mapping[str, Any]) -> ExecutionView:
        """The wire form of an execution; `description` is its application's canonical document."""
        return cls(
            **_summary(execution),
            services=[ServiceView.of(s) for s in execution.services],
            notes=list(execution.notes),
            description=dict(description),
        )


class ExecutionList(Wire):
    """A page of executions; `next_cursor` asks for the next one."""

    executions: list[ExecutionSummary]
    next_cursor: str | None = None


class Explanation(Wire):
    """Why an execution is not running: the reason, how many are ahead, and per node and component what refuses."""

    state: ExecutionState
    reason: ReasonView | None
    ahead: int | None = None
    nodes: dict[str, dict[str, str]] = {}
    detailed: bool = Field(description="False when the master could not be asked: only what is stored is shown.")


class NodeView(Wire):
    """A node: what it has, what is reserved by Zoe, what foreign work takes."""

    name: str
    ready: bool
    message: str
    labels: dict[str, str]
    cores: float
    memory_bytes: int
    devices: dict[str, int]
    foreign_cores: float
    foreign_memory_bytes: int
    reserved_cores: float
    reserved_memory_bytes: int
    services: int

    @classmethod
    def of(cls, node: Node, reserved_cores_milli: int, reserved_memory_bytes: int, services: int) -> NodeView:
        """The wire form of a node and of what Zoe holds there."""
        return cls(
            name=node.name,
            ready=node.ready,
            message=node.message,
            labels=dict(node.labels),
            cores=node.total.cores_milli / 1000,
            memory_bytes=node.total.memory_bytes,
            devices=dict(node.total.devices),
            foreign_cores=node.foreign.cores_milli / 1000,
            foreign_memory_bytes=node.foreign.memory_bytes,
            reserved_cores=reserved_cores_milli / 1000,
            reserved_memory_bytes=reserved_memory_bytes,
            services=services,
        )


class NodeList(Wire):
    """All nodes."""

    nodes: list[NodeView]


class PolicyView(Wire):
    """The admin's policy; see docs/reference/policy.md for every field."""

    order: Literal["fifo", "size"] = "fifo"
    backfill: Literal["none", "easy", "easy-sjbf"] = "none"
    ageing_s: float = Field(default=600.0, ge=0, allow_inf_nan=False)
    filters: list[str] = []
    weighers: dict[str, float] = {}
    queue_scan_max: int = Field(default=100_000, ge=1)
    placements_per_tick_max: int = Field(default=10_000, ge=1)
    start_attempts_max: int = Field(default=3, ge=1, le=100)
    elastic_failures_max: int = Field(default=5, ge=1, le=100)
    elastic_backoff_s: float = Field(default=5.0, gt=0, le=3600)
    retry_backoff_s: float = Field(default=1.0, gt=0, le=3600)
    retry_backoff_max_s: float = Field(default=300.0, gt=0, le=86400)
    version: int = 0

    @classmethod
    def of(cls, policy: Policy) -> PolicyView:
        """The wire form of a policy."""
        return cls.model_validate(policy)

    def to_policy(self) -> Policy:
        """The policy itself."""
        values = self.model_dump()
        return Policy(**{**values, "filters": tuple(self.filters)})


class EventView(Wire):
    """A fact from the journal. Ids only grow; whoever reads on from one misses nothing."""

    id: int
    kind: str
    at_s: float
    cause_id: str
    execution_id: str | None
    version: int | None
    data: dict[str, Any]


class EventList(Wire):
    """Facts in order."""

    events: list[EventView]


class LogChunkView(Wire):
    """A piece of a service's output; `data` is base64. Ask again from `next_offset` until `complete`."""

    data: str
    offset: int
    next_offset: int
    complete: bool
    dropped_bytes: int = 0


class AddressView(Wire):
    """Where a port of a service answers, seen from the master's machine; `url` where http is spoken."""

    host: str
    port: int
    url: str | None = None


class UsageView(Wire):
    """What a service used: CPU seconds since its start, memory bytes at that time."""

    execution_id: str
    service_id: str
    node: str
    at_s: float
    cpu_s: float
    memory_bytes: int


class UsageList(Wire):
    """Samples of usage."""

    usage: list[UsageView]


class StatusView(Wire):
    """How the installation is: executions by state, and the master if it answers."""

    version: str
    executions: dict[ExecutionState, int]
    master: dict[str, Any] | None
    master_message: str = ""
    journal_id: int


class ValidateRequest(Wire):
    """A description to be checked; nothing is submitted."""

    application: dict[str, Any]


class ValidateResponse(Wire):
    """The description with its frameworks expanded, and whether it could ever run here."""

    expanded: dict[str, Any]
    never_fits: ReasonView | None = None
    notes: list[str] = []


class ConvertRequest(Wire):
    """A description of any format version."""

    document: Any


class ConvertResponse(Wire):
    """The same as version 4, and what could not carry over."""

    document: dict[str, Any]
    notes: list[str]


class PrincipalView(Wire):
    """Who is asking."""

    user: str
    tenant: str
    admin: bool
    scopes: list[str]


class TokenRequest(Wire):
    """A new API token."""

    scopes: list[Literal["read", "submit", "admin"]] = ["read", "submit"]
    lifetime_s: float | None = Field(default=None, gt=0, le=SECONDS_MAX, description="None never expires.")
    note: str = Field(default="", max_length=200)


class TokenView(Wire):
    """A token as kept; `secret` is given once, when it is made."""

    id: str
    user: str
    tenant: str
    scopes: list[str]
    created_at_s: float
    expires_at_s: float | None
    note: str
    secret: str | None = None


class TokenList(Wire):
    """All tokens of a user."""

    tokens: list[TokenView]


class CatalogueEntryView(Wire):
    """A description that is there to be used."""

    id: str
    title: str
    category: str
    summary: str
    document: dict[str, Any]
    form: dict[str, Any] = {}


class CatalogueList(Wire):
    """The catalogue."""

    entries: list[CatalogueEntryView]


def _summary(execution: Execution) -> dict[str, Any]:
    core, elastic = execution.core_services(), execution.elastic_services()
    return {
        "id": execution.id,
        "name": execution.name,
        "application": execution.application.name,
        "kind": execution.application.kind.value,
        "tenant": execution.tenant,
        "user": execution.user,
        "state": execution.state,
        "version": execution.version,
        "attempt": execution.attempt,
        "priority": execution.priority,
        "deadline_s": execution.deadline_s,
        "submitted_at_s": execution.submitted_at_s,
        "marks": {mark: execution.marks[mark] for mark in Mark if mark in execution.marks},
        "outcome": execution.outcome,
        "exit_code": execution.exit_code,
        "cause": execution.cause,
        "message": execution.message,
        "reason": None if execution.reason is None else ReasonView.of(execution.reason),
        "core_total": len(core),
        "core_ready": sum(s.state is ServiceState.READY for s in core),
        "elastic_total": len(elastic),
        "elastic_ready": sum(s.state is ServiceState.READY for s in elastic),
    }
