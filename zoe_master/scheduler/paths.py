"""The nodes' paths to the object store, and how many services share each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from zoe_lib.domain.cluster import Node, storage_path
from zoe_lib.domain.execution import Execution


class Paths:
    """By index of the node: bytes per second of its path (0: not told), services that use the store, all services."""

    def __init__(
        self, rates: Sequence[float], index: Mapping[str, int], active: Iterable[Execution], services: Sequence[int]
    ) -> None:
        self.rates = np.array(rates, dtype=np.float64)
        self.services = np.array(services, dtype=np.float64)
        self.users = np.zeros(len(rates))
        for execution in active:
            if execution.application.storage is not None:
                for service in execution.services:
                    if service.alive and service.node is not None and service.node in index:
                        self.users[index[service.node]] += 1


def rates_of(nodes: Iterable[Node]) -> list[float]:
    """How wide the path of each node is."""
    return [storage_path(node) or 0.0 for node in nodes]
