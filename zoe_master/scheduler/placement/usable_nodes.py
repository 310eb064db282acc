"""The nodes that a component may use by labels and holds, whatever is free on them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.executions.execution import Execution
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request

# Labels, tenant, and number of holds that begin before the expected end.
NodesKey = tuple[tuple[tuple[str, str], ...], str, int]


class UsableNodes:
    """Usable nodes by a key that is equal for components of executions that may use the same nodes.

    Filters of plugins are not considered: they may refuse some of these nodes.
    """

    def __init__(self, placer: ServicePlacer) -> None:
        self._placer = placer
        holds = [hold for node in placer.ledger.nodes for hold in node.holds]
        self._hold_begins = sorted({hold.since_s for hold in holds})
        self._for_tenants = any(hold.tenant is not None for hold in holds)

    @property
    def has_holds(self) -> bool:
        """Return whether a hold of a node may make keys differ."""
        return bool(self._hold_begins)

    def key(self, component: Component, execution: Execution) -> NodesKey:
        """Return the key; quick where no node is held."""
        if not self._hold_begins:
            return component.labels, "", 0
        begun = bisect_left(self._hold_begins, self._placer.leaves_s(execution))
        return component.labels, execution.tenant if self._for_tenants else "", begun

    def nodes(self, component: Component, execution: Execution) -> Sequence[int]:
        """Return the indexes of the nodes."""
        eligible = self._placer.eligible_nodes(Request(component, 1, execution.tenant))
        if not self._hold_begins:
            return eligible
        nodes, begins_s = self._placer.ledger.nodes, self._placer.span(execution)[0]
        leaves_s = self._placer.leaves_s(execution)
        return [i for i in eligible if nodes[i].hold_against(execution.tenant, begins_s, leaves_s) is None]
