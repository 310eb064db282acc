"""Prefer nodes that hold the inputs, where nodes are hosts of the object store."""

from __future__ import annotations

import numpy as np

from zoe_lib.domain.values.storage import object_of
from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.request import Request


def locality(request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """Score the share of the inputs' bytes on the node; 0 if unknown, or if no node is a host of the store.

    An input that was examined only in part counts with all of its bytes.
    """
    inputs = request.storage.inputs if request.storage is not None else ()
    held = np.zeros(len(ledger.nodes))
    bytes_in_all = 0
    for text in {object_of(request.tenant, given.uri) for given in inputs}:
        places = ledger.locality.get(text)
        if places is None or places.looked_at.bytes == 0:
            continue
        bytes_in_all += places.listed.bytes
        for name, part in places.hosts.items():
            if name in ledger.index:
                held[ledger.index[name]] += places.listed.bytes * part.bytes / places.looked_at.bytes
    if bytes_in_all == 0:
        return np.zeros(len(nodes))
    scores: Scores = held[nodes] / bytes_in_all
    return scores
