"""Only nodes with enough free devices, such as GPUs."""

from __future__ import annotations

from zoe_lib.domain.cluster.cluster import Node, lacks_devices
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Request


def devices(request: Request, node: Node, ledger: Ledger) -> str | None:
    """Refuse a node with too few free devices of a kind."""
    if not request.component.reservation.devices:
        return None
    return lacks_devices(request.component, ledger.free(ledger.index[node.name]))
