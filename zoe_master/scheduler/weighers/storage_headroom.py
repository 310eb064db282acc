"""Spread what uses the object store over the nodes' paths to it."""

from __future__ import annotations

import numpy as np

from zoe_master.scheduler.ledger import Ledger, Nodes, Scores
from zoe_master.scheduler.request import Request


def storage_headroom(request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """What one more user of the store would get of the node's path, as a share of the widest path.

    The label `storage_bytes_per_s` of a node tells how wide its path is; 0 without it, and for applications without a
    storage section.
    """
    paths = ledger.paths
    if request.storage is None or paths is None:
        return np.zeros(len(nodes))
    # What has come to a node in this pass is taken for users: mostly it is the same application.
    services = np.array([ledger.services[i] for i in nodes.tolist()], dtype=np.float64)
    users = paths.users[nodes] + np.maximum(services - paths.services[nodes], 0.0)
    shares: Scores = paths.rates[nodes] / (1.0 + users) / float(paths.rates.max())
    return shares
