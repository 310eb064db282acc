"""The object store's side of executions: requests, rules that they met, and bytes over time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from zoe_client.wire.base import Wire


class StorageRequestsView(Wire):
    """Requests of an execution, by method and container."""

    method: str
    container: str = Field(description="Empty: of the account itself; `*`: its name is too long to be counted.")
    done: int = Field(description="Served to the end.")
    refused: int = Field(description="Refused, failed, or ended early.")
    read_bytes: int
    written_bytes: int
    cpu_s: float = Field(default=0.0, description="CPU seconds that filters and views took for them.")


class StorageRuleMetView(Wire):
    """A rule that requests of an execution met."""

    rule: int | None = Field(description="Its number; null: a limit of bandwidth, which rules and guarantees set.")
    filter: str
    way: Literal["read", "write"]
    requests: int


class StoragePointView(Wire):
    """The bytes of a stretch of time."""

    at_s: float = Field(description="Its beginning.")
    read_bytes: int
    written_bytes: int


class ExecutionStorageView(Wire):
    """What an execution moved to and from the object store with credentials of its own, and how."""

    execution_id: str
    name: str
    user: str
    tenant: str
    state: str
    placed_s: float | None
    ended_s: float | None
    stretch_s: float
    requests: list[StorageRequestsView] = Field(description="Those that moved most bytes first, 500 at most.")
    rules: list[StorageRuleMetView]
    points: list[StoragePointView] = Field(description="Stretches without bytes are missing.")


class StorageHistoryView(Wire):
    """The executions of a tenant that moved bytes within a time: the 50 with most of them."""

    from_s: float
    to_s: float
    tenant: str
    executions: list[ExecutionStorageView]


class StorageUseView(Wire):
    """What an execution asked for, as the storage controller counts it.

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
    """Executions by id, as the storage controller answers."""

    stretch_s: float
    executions: dict[str, ExecutionUsesView]
