"""The cluster: nodes, usage, status."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from zoe_client.vocabulary import ExecutionState
from zoe_client.wire.base import Wire
from zoe_client.wire.cluster.policy import NodeHoldView


class NodeView(Wire):
    """A node: its resources, Zoe's reservations, and the resources that foreign programs take."""

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
    elastic_cores: float = Field(description="Reserved cores that elastic services hold.")
    elastic_memory_bytes: int
    services: int
    hold: NodeHoldView | None = Field(default=None, description="First entry of `holds`.")
    holds: list[NodeHoldView] = Field(
        default=[], description="Present and future times at which the node is drained or reserved; earliest first."
    )


class NodeList(Wire):
    """All nodes."""

    nodes: list[NodeView]


class UsageView(Wire):
    """Usage of a service: CPU seconds since its start, and memory in bytes at that time."""

    execution_id: str
    service_id: str
    node: str
    at_s: float
    cpu_s: float
    memory_bytes: int


class UsageList(Wire):
    """Samples of usage."""

    usage: list[UsageView]
    interval_s: float | None = Field(default=None, description="Seconds between samples, from the API's settings.")


class UsePointView(Wire):
    """Average use in the interval that begins at `at_s`."""

    at_s: float
    name: str
    cores: float
    memory_bytes: float


class UseOverTimeView(Wire):
    """Use by time and name, in intervals of `stretch_s` seconds."""

    stretch_s: float
    points: list[UsePointView]


class StatusView(Wire):
    """State of the installation: executions by state, and the master if it answers."""

    version: str
    executions: dict[ExecutionState, int]
    master: dict[str, Any] | None
    master_message: str = ""
    submissions_closed: str = Field(
        default="", description="Sentence of an admin while users cannot submit; empty: they can. Operators can."
    )
    journal_id: int
