"""The object store's records of executions: requests, applied rules, and bytes over time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from zoe_client.wire.base import Wire


class StorageRequestsView(Wire):
    """Requests of an execution, by method and container."""

    method: str
    container: str = Field(description="Empty: the account itself; `*`: containers with too long a name to be counted.")
    done: int = Field(description="Requests served completely.")
    refused: int = Field(description="Requests refused, failed, or ended early.")
    read_bytes: int
    written_bytes: int
    cpu_s: float = Field(default=0.0, description="CPU seconds of filters and views for these requests.")


class StorageRuleMetView(Wire):
    """A rule that applied to requests of an execution."""

    rule: int | None = Field(description="Number of the rule; null: a bandwidth limit, which rules and guarantees set.")
    filter: str
    way: Literal["read", "write"]
    requests: int


class StoragePointView(Wire):
    """Bytes in an interval."""

    at_s: float = Field(description="Its beginning.")
    read_bytes: int
    written_bytes: int


class ExecutionStorageView(Wire):
    """Bytes that an execution moved to and from the object store with its own credentials, with requests and rules."""

    execution_id: str
    name: str
    user: str
    tenant: str
    state: str
    placed_s: float | None
    ended_s: float | None
    stretch_s: float
    requests: list[StorageRequestsView] = Field(description="Requests, most bytes first; 500 at most.")
    rules: list[StorageRuleMetView]
    points: list[StoragePointView] = Field(description="Bytes over time; intervals without bytes are missing.")


class StorageHistoryView(Wire):
    """The executions of a tenant that moved bytes in a period: the 50 with the most bytes."""

    from_s: float
    to_s: float
    tenant: str
    executions: list[ExecutionStorageView]


class StorageUseView(Wire):
    """An execution's use of one subject, as the storage controller counts it.

    subject: `request/METHOD/CONTAINER`, `cpu/METHOD/CONTAINER` (`done` in microseconds), `rule/NUMBER/FILTER/WAY` or
    `limit/WAY`; WAY is `get` or `put`.
    """

    subject: str
    done: int
    refused: int
    read_bytes: int
    written_bytes: int


class ExecutionUsesView(Wire):
    """The bytes of an execution over time, and its uses."""

    points: list[StoragePointView]
    uses: list[StorageUseView]


class StorageUsesView(Wire):
    """Executions by id, in the form of the storage controller."""

    stretch_s: float
    executions: dict[str, ExecutionUsesView]
