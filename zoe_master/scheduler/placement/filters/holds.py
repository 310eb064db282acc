"""Nodes that an admin has drained or reserved."""

from __future__ import annotations

from zoe_lib.domain.cluster import Node
from zoe_master.scheduler.placement.ledger import Ledger
from zoe_master.scheduler.placement.request import Request


def holds(request: Request, node: Node, _ledger: Ledger) -> str | None:
    """Refuse a drained node, and one reserved for another tenant now or before the service is expected to end."""
    hold = node.hold
    if hold is None or not hold.refuses(request.tenant, request.begins_s, request.ends_s):
        return None
    why = f": {hold.note}" if hold.note else ""
    if hold.tenant is None:
        return f"drained{why}"
    return f"reserved for another tenant{why}" if request.begins_s >= hold.since_s else f"to be reserved soon{why}"
