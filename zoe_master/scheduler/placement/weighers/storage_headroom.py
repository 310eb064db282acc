"""Spread users of the object store over the nodes' paths to it."""

from __future__ import annotations

import numpy as np

from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.request import Request


def storage_headroom(request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """Score the rate for one more user of the store on the node's path, as a share of the widest path.

    That is the part of the path that measured traffic leaves, and at least an equal share of it. The label
    `storage_bytes_per_s` is the width of the path, or else the maximum measured on any node without a label. 0 if
    neither is known, and for applications without a storage section.
    """
    paths = ledger.paths
    if request.storage is None or paths is None:
        return np.zeros(len(nodes))
    # Services placed in this pass count as users: mostly they belong to the same application.
    services = np.array([ledger.services[i] for i in nodes.tolist()], dtype=np.float64)
    new = np.maximum(services - paths.services[nodes], 0.0)
    # Traffic without a user of Zoe's belongs to another program.
    users = np.maximum(paths.users[nodes], paths.busy[nodes]) + new
    equal = paths.rates[nodes] / (1.0 + users)
    shares: Scores = np.maximum(paths.free[nodes] / (1.0 + new), equal) / float(paths.rates.max())
    return shares
