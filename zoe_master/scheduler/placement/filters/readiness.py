"""Only nodes that are ready take services."""

from __future__ import annotations

from zoe_lib.domain.cluster.cluster import Node
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Request


def readiness(_request: Request, node: Node, _ledger: Ledger) -> str | None:
    """Refuse a node that is down, drained or not reachable. Details contain addresses, so the API shows them to
    operators only."""
    return None if node.ready else "the node is not ready"
