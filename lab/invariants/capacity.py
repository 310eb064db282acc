"""Invariants of capacity: no node is over-committed, a core has all of its nodes or none, and waiting executions hold
nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import ACTIVE_STATES, WAITING_STATES, Execution, ExecutionState
from zoe_lib.domain.values.resources import Resources


def capacity_problems(nodes: Iterable[Node], executions: Iterable[Execution]) -> Iterator[str]:
    """Yield violations of reservations, as sentences."""
    held: dict[str, Resources] = defaultdict(Resources)
    for execution in executions:
        placed = [s for s in execution.services if s.alive and s.node is not None]
        for service in placed:
            held[service.node or ""] += execution.component_of(service).reservation
        if execution.state in WAITING_STATES and placed:
            yield f"{execution.id} waits and holds {placed[0].node}"
        starts = execution.state in ACTIVE_STATES and execution.state is not ExecutionState.STOPPING
        if starts and any(service.node is None for service in execution.core_services()):
            yield f"{execution.id} is {execution.state} without its whole core"
    for node in nodes:
        if not held[node.name].fits_in(node.usable):
            yield f"node {node.name} is over-committed: {held[node.name]} of {node.usable}"
