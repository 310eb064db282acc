"""Lasting reasons of thousands of unlike executions, each in a few comparisons: what is exact takes all nodes."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.cluster.cluster import lacks_labels
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.frozen import once
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.placement.admission import no_usable_node
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.core_columns import Mask, ServiceColumns
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.usable_nodes import NodesKey, UsableNodes

_EXACTLY = "`zoe explain` shows what each node lacks"
_NEVER_FITS = Reason(
    ReasonCode.NEVER_FITS, "Its essential services need more than the nodes have, even if they are empty.", {}, _EXACTLY
)
_NODES_AWAY = Reason(
    ReasonCode.NODES_AWAY,
    "Nodes that it needs are down, drained, reserved, or refused by filters: without them it does not fit, even if "
    "nothing else runs.",
    {},
    "it keeps its turn until they are back, and blocks no other execution meanwhile",
)
_WINDOW_AHEAD = Reason(
    ReasonCode.WINDOW_AHEAD,
    "Nodes that it needs are drained or reserved later, and nothing says that it has ended by then.",
    {},
    "`zoe explain` shows the longest time limit with which it would start",
)
_FOREIGN_USE = Reason(
    ReasonCode.FOREIGN_USE,
    "Its essential services do not fit next to programs that Zoe does not run.",
    {},
    "it starts when these programs use less; until then it keeps its turn and blocks no other execution",
)


class QuickReasons:
    """The lasting reasons of one pass for executions that surely find no room on nodes without services."""

    def __init__(self, placer: ServicePlacer, now_s: float) -> None:
        self._placer = placer
        self._now_s = now_s

    def is_lasting(self, execution: Execution) -> bool:
        """Return whether no end of an execution would let it start, for certain; False: it is not known so quickly."""
        return not self._beside_foreign.may_have_room(execution)

    def unsettled(self, columns: ServiceColumns) -> Mask:
        """Return the executions for which `is_lasting` may be true, by their columns."""
        _, surely = self._beside_foreign.settle(columns)
        return ~surely

    def reason(self, execution: Execution) -> Reason:
        """Return the reason of an execution for which `is_lasting`."""
        if not self._ever.may_have_room(execution):
            return _NEVER_FITS
        if self._no_node is not None:
            return self._no_node
        if self._empty.may_have_room(execution):
            return _FOREIGN_USE
        return _WINDOW_AHEAD if self._at_once.may_have_room(execution) else _NODES_AWAY

    @once
    def _no_node(self) -> Reason | None:
        return no_usable_node(self._placer.ledger.nodes, self._now_s)

    @once
    def _beside_foreign(self) -> CapacityCheck:
        return CapacityCheck(self._placer.with_ledger(self._placer.ledger.without_services(with_foreign=True)))

    @once
    def _empty(self) -> CapacityCheck:
        return CapacityCheck(self._placer.with_ledger(self._placer.ledger.without_services()))

    @once
    def _at_once(self) -> CapacityCheck:
        """Return the check for executions that have ended before any hold begins."""
        return CapacityCheck(self._placer.as_if_leaving(self._now_s, self._placer.ledger.without_services()))

    @once
    def _ever(self) -> CapacityCheck:
        """Return the check on all nodes as if none were down or held."""
        empty = self._placer.with_ledger(self._placer.ledger.without_services())
        return CapacityCheck(empty, _AllNodes(empty))


class _AllNodes(UsableNodes):
    """All nodes with the labels."""

    def key(self, component: Component, execution: Execution) -> NodesKey:  # noqa: ARG002 - equal for all executions
        return component.labels, "", 0

    def nodes(self, component: Component, execution: Execution) -> Sequence[int]:  # noqa: ARG002 - as above
        nodes = self._placer.ledger.nodes
        return [i for i, node in enumerate(nodes) if lacks_labels(component, node) is None]
