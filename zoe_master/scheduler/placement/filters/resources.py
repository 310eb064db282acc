"""Only nodes with enough free cores and memory."""

from __future__ import annotations

from zoe_lib.domain.cluster.cluster import Node, lacks_resources
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Request


def resources(request: Request, node: Node, ledger: Ledger) -> str | None:
    """Refuse a node without the cores or the memory of one more service; an exact fit counts."""
    index = ledger.index[node.name]
    wanted = request.component.reservation
    if ledger.free_cores[index] >= wanted.cores_milli and ledger.free_memory[index] >= wanted.memory_bytes:
        return None
    return lacks_resources(request.component, ledger.free(index), node.foreign)
