"""The cluster: nodes, usage, status."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from zoe_lib.domain.cluster import Node, NodeHold
from zoe_lib.domain.execution import ExecutionState
from zoe_lib.domain.resources import Resources
from zoe_lib.wire.base import Wire
from zoe_lib.wire.policy import NodeHoldView


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
    elastic_cores: float = Field(description="Reserved cores that elastic services hold.")
    elastic_memory_bytes: int
    services: int
    hold: NodeHoldView | None = Field(default=None, description="Whether an admin has drained or reserved the node.")

    @classmethod
    def of(
        cls,
        node: Node,
        reserved: Resources,
        elastic: Resources,
        services: int,
        hold: NodeHold | None = None,
    ) -> NodeView:
        """Return the wire form of a node and of what Zoe reserves on it."""
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
            reserved_cores=reserved.cores_milli / 1000,
            reserved_memory_bytes=reserved.memory_bytes,
            elastic_cores=elastic.cores_milli / 1000,
            elastic_memory_bytes=elastic.memory_bytes,
            services=services,
            hold=None if hold is None else NodeHoldView.model_validate(hold),
        )


class NodeList(Wire):
    """All nodes."""

    nodes: list[NodeView]


class UsageView(Wire):
    """What a service used: CPU seconds since its start, and memory in bytes at that time."""

    execution_id: str
    service_id: str
    node: str
    at_s: float
    cpu_s: float
    memory_bytes: int


class UsageList(Wire):
    """Samples of usage."""

    usage: list[UsageView]


class UsePointView(Wire):
    """Average use over a stretch of time that begins at `at_s`."""

    at_s: float
    name: str
    cores: float
    memory_bytes: float


class UseOverTimeView(Wire):
    """Use by time and name; each stretch is `stretch_s` long."""

    stretch_s: float
    points: list[UsePointView]


class StatusView(Wire):
    """State of the installation: executions by state, and the master if it answers."""

    version: str
    executions: dict[ExecutionState, int]
    master: dict[str, Any] | None
    master_message: str = ""
    journal_id: int
