"""Prefer the node with the most free memory."""

from __future__ import annotations

import numpy as np

from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.request import Request


def free_memory(_request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """Score the free bytes as a share of the largest node's memory."""
    return np.array([ledger.free_memory[i] for i in nodes], dtype=np.float64) / max(float(ledger.largest_memory), 1.0)


def free_memory_of_one(node: int, ledger: Ledger) -> float:
    """Return the same score of a single node, without arrays."""
    return ledger.free_memory[node] / max(float(ledger.largest_memory), 1.0)
