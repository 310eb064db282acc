"""Nodes, components and executions for tests of the scheduler."""

from __future__ import annotations

from typing import Any

from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Placement, Queued, StartPlanned, Submitted
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Request

GIB = 2**30
# For tests of other parts of the policy: by arrival, without backfill.
FIFO = Policy(order="fifo", backfill="none")


def node(name: str, cores: float = 8, memory_gib: float = 32, **more: Any) -> Node:
    devices = more.pop("devices", {})
    return Node(name, Resources(round(cores * 1000), round(memory_gib * GIB), devices), **more)


def component(name: str = "c", cores: float = 1, memory_gib: float = 1, **more: Any) -> Component:
    devices = more.pop("devices", {})
    more.setdefault("total_count", more.get("essential_count", 1))
    return Component(name, "zoe/tiny", Resources(round(cores * 1000), round(memory_gib * GIB), devices), **more)


def queued(execution_id: str, *components: Component, at_s: float = 0.0, priority: int = 0, **more: Any) -> Execution:
    application = Application(execution_id, components or (component(),), **more)
    fresh = Execution(execution_id, execution_id, "default", "ada", application, at_s, priority=priority)
    return apply(apply(fresh, Submitted(at_s=at_s)), Queued(at_s=at_s))


def started(execution: Execution, *nodes: str) -> Execution:
    """Return the execution with its services placed on these nodes, in order; the rest stays without a node."""
    placements = tuple(
        Placement(service_id=service.id, node=name) for service, name in zip(execution.current(), nodes, strict=False)
    )
    return apply(execution, StartPlanned(at_s=1.0, placements=placements))


def request(one: Component, count: int = 1) -> Request:
    return Request(one, count, "default")


def ledger(*nodes: Node, active: tuple[Execution, ...] = ()) -> Ledger:
    return Ledger(nodes, active)
