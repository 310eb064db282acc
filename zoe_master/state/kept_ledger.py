"""The accounts of the nodes, kept from tick to tick: a tick counts only changed executions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.storage import Located
from zoe_master.scheduler.placement.free_resources import Ledger


class KeptLedger:
    """Tracks every execution with resources; `ledger_for` makes the ledger of a snapshot."""

    def __init__(self) -> None:
        self._ledger: Ledger | None = None
        self._nodes: Sequence[Node] = ()
        self._changed: dict[ExecutionId, Execution | None] = {}

    def put(self, execution: Execution) -> None:
        """Record that an execution has changed."""
        self._changed[execution.id] = execution

    def remove(self, execution_id: ExecutionId) -> None:
        """Record that an execution has no resources any more."""
        self._changed[execution_id] = None

    def ledger_for(
        self,
        nodes: Sequence[Node],
        active: Collection[Execution],
        locality: Mapping[Located, Places | None],
        paths: Mapping[str, PathUse],
    ) -> Ledger:
        """Return the same as `Ledger` from these nodes and executions."""
        ledger = self._ledger
        if ledger is None or not _same_accounts(self._nodes, nodes):
            ledger = self._ledger = Ledger(nodes, active)
        else:
            for execution_id, execution in self._changed.items():
                if execution is None:
                    ledger.discount(execution_id)
                else:
                    ledger.count(execution)
            ledger.changes.clear()
        self._nodes = nodes
        self._changed.clear()
        return ledger.updated_for(nodes, active, locality, paths)


def _same_accounts(before: Sequence[Node], now: Sequence[Node]) -> bool:
    """Return whether these are the same nodes, of the same size, with the same foreign use."""
    return len(before) == len(now) and all(map(_same_account, before, now))


def _same_account(before: Node, now: Node) -> bool:
    return before is now or (
        before.name == now.name
        and _equal(before.total, now.total)
        and _equal(before.foreign, now.foreign)
        and _equal(before.gateway, now.gateway)
    )


def _equal(one: object, other: object) -> bool:
    return one is other or one == other
