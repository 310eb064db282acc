"""A filter and a weigher that read labels of nodes."""

from __future__ import annotations

import numpy as np

from zoe_lib.domain.cluster.cluster import Node
from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.request import Request


def tenants_of_node(request: Request, node: Node, _ledger: Ledger) -> str | None:
    """Refuse a node whose label `tenants` does not name the tenant."""
    tenants = node.labels.get("tenants")
    if tenants is None or request.tenant in tenants.split(","):
        return None
    return f"the node is for the tenants {tenants}"


def preference(_request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """Score nodes by their label `preference`, from 0 to 1."""
    return np.array([float(ledger.nodes[i].labels.get("preference", "0")) for i in nodes])
