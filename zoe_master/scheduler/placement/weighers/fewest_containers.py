"""Spread: prefer the node with the fewest containers."""

from __future__ import annotations

import numpy as np

from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.request import Request

# More services than any node runs; one service less is then always worth the same share of the score.
_CONTAINERS_MAX = 4096


def fewest_containers(_request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """Score one minus the share of containers that Zoe runs on the node."""
    counts = np.array([ledger.services[i] for i in nodes], dtype=np.float64)
    return 1.0 - counts / _CONTAINERS_MAX


def fewest_containers_of_one(node: int, ledger: Ledger) -> float:
    """Return the same score of a single node, without arrays."""
    return 1.0 - ledger.services[node] / _CONTAINERS_MAX
