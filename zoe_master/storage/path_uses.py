"""Traffic between nodes and the object store, as counted by its proxies, for the weigher `storage_headroom`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node, storage_path
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.cluster.store_hosts import host_key, nodes_by_host
from zoe_master.storage.reconciler import StorageReconciler

WEIGHER = "storage_headroom"
Look = Callable[[Sequence[Node], Policy], Mapping[str, PathUse]]
"""Returns traffic of nodes, by name, and the widths of their paths; empty if the policy does not need it."""
# Rates are rounded to this many steps of the width, so that small changes do not count as new results.
_STEPS = 16


class PathUses:
    """Measures the paths of nodes to the object store.

    The width of a path is the node's label, or else the maximum traffic of any node without a label.
    """

    def __init__(self, reconciler: StorageReconciler | None) -> None:
        self._reconciler = reconciler
        self._most = 0

    def look(self, nodes: Sequence[Node], policy: Policy) -> Mapping[str, PathUse]:
        """Return the use of each node's path; empty if it is not measured or the policy does not need it."""
        if self._reconciler is None or not policy.weighers.get(WEIGHER):
            return {}
        transfers = self._reconciler.moved_bytes()
        if transfers is None:
            return {}
        hosts = nodes_by_host(nodes)
        moved: dict[str, float] = defaultdict(float)
        for host, rate in transfers.items():
            names = hosts.get(host_key(host), frozenset())
            if len(names) == 1:  # the traffic of an address shared by several nodes belongs to no node
                moved[next(iter(names))] += rate
        labelled = {node.name: width for node in nodes if (width := storage_path(node)) is not None}
        most = max((rate for name, rate in moved.items() if name not in labelled), default=0.0)
        self._most = max(self._most, _rounded_up(most))
        uses = {}
        for node in nodes:
            width = int(labelled.get(node.name, self._most))
            if width > 0:
                uses[node.name] = PathUse(_in_steps(moved[node.name], width), width)
        return uses


def _in_steps(rate: float, width: int) -> int:
    step = max(width // _STEPS, 1)
    return -(-int(rate) // step) * step


def _rounded_up(rate: float) -> int:
    """Round up to a power of two, so that a slightly higher maximum changes nothing."""
    return 1 << (int(rate) - 1).bit_length() if rate >= 1 else 0
