"""Nodes that an admin has drained or reserved."""

from __future__ import annotations

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.clock import utc_text
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Request


def holds(request: Request, node: Node, _ledger: Ledger) -> str | None:
    """Refuse a drained node, and one reserved for another tenant now or before the service is expected to end."""
    hold = node.hold_against(request.tenant, request.begins_s, request.leaves_s)
    if hold is None:
        return None
    lasts = "" if hold.until_s is None else f" until {utc_text(hold.until_s)}"
    # The note of a reservation is for operators and for its tenant, which it does not refuse.
    why = f": {hold.note}" if hold.note and hold.tenant is None else ""
    if request.begins_s < hold.since_s:
        what = "drained" if hold.tenant is None else "reserved"
        return f"will be {what} soon, from {utc_text(hold.since_s)}{lasts}{why}"
    return f"drained{lasts}{why}" if hold.tenant is None else f"reserved for another tenant{lasts}{why}"
