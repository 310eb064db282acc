"""The nodes' paths to the object store, and how many services share each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node, storage_path
from zoe_lib.domain.executions.execution import Execution


class Paths:
    """The paths by index of the node.

    `rates`: bytes per second, 0 if unknown; `free`: the unused part, 0 if not measured. `busy`: whether traffic is
    measured; `users`: services that use the object store; `services`: all services.
    """

    def __init__(
        self,
        rates: Sequence[float],
        moved: Sequence[float | None],
        index: Mapping[str, int],
        active: Iterable[Execution],
        services: Sequence[int],
    ) -> None:
        self.rates = np.array(rates, dtype=np.float64)
        free = (0.0 if part is None else max(rate - part, 0.0) for rate, part in zip(rates, moved, strict=True))
        self.free = np.array(list(free), dtype=np.float64)
        self.busy = np.array([bool(part) for part in moved])
        self.services = np.array(services, dtype=np.float64)
        self.users = np.zeros(len(rates))
        for execution in active:
            if execution.application.storage is not None:
                for service in execution.services:
                    if service.alive and service.node is not None and service.node in index:
                        self.users[index[service.node]] += 1


def rates_of(nodes: Sequence[Node], paths: Mapping[str, PathUse]) -> tuple[list[float], list[float | None]]:
    """Return the width of each node's path, and the traffic on it; None if it is not measured."""
    if not paths:
        return [storage_path(node) or 0.0 for node in nodes], [None] * len(nodes)
    rates = [float(paths[n.name].width) if n.name in paths else storage_path(n) or 0.0 for n in nodes]
    return rates, [float(paths[n.name].moved) if n.name in paths else None for n in nodes]
