"""Only nodes with the labels that the component requires."""

from __future__ import annotations

from zoe_lib.domain.cluster.cluster import Node, lacks_labels
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Request


def labels(request: Request, node: Node, _ledger: Ledger) -> str | None:
    """Refuse a node without one of the wanted labels."""
    return lacks_labels(request.component, node)
