"""Prefer nodes that hold the inputs, where the storage controller reports who does."""

from __future__ import annotations

from itertools import chain

import numpy as np

from zoe_lib.domain.storage import located
from zoe_master.scheduler.ledger import Ledger, Nodes, Scores
from zoe_master.scheduler.request import Request


def locality(request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
    """The share of the application's inputs that the node holds; 0 where nothing is reported."""
    inputs = request.storage.inputs if request.storage is not None else ()
    objects = (located(request.tenant, one.uri) for one in inputs)
    places = [ledger.locality[one] for one in objects if one in ledger.locality]
    if not places:
        return np.zeros(len(nodes))
    held = np.zeros(len(ledger.nodes))
    for name in chain.from_iterable(places):
        if name in ledger.index:
            held[ledger.index[name]] += 1
    scores: Scores = held[nodes] / len(inputs)
    return scores
