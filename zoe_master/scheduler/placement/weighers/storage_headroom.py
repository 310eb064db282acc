"""Spread what uses the object store over the nodes' paths to it."""

from __future__ import annotations

import numpy as np

from zoe_master.scheduler.placement.ledger import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.request import Request


def storage_headroom(request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """What one more user of the store would get of the node's path, as a share of the widest path.

    That is what the path has left by what is measured there, and at least an equal part of it. Its width is told by the
    label `storage_bytes_per_s`, else the most that was measured on any node without; 0 where neither is known, and for
    applications without a storage section.
    """
    paths = ledger.paths
    if request.storage is None or paths is None:
        return np.zeros(len(nodes))
    # What has come to a node in this pass is taken for users: mostly it is the same application.
    services = np.array([ledger.services[i] for i in nodes.tolist()], dtype=np.float64)
    new = np.maximum(services - paths.services[nodes], 0.0)
    # What moves without a user of ours is somebody's.
    users = np.maximum(paths.users[nodes], paths.busy[nodes]) + new
    equal = paths.rates[nodes] / (1.0 + users)
    shares: Scores = np.maximum(paths.free[nodes] / (1.0 + new), equal) / float(paths.rates.max())
    return shares
