"""Cache of the executions written last, in their stored form."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from zoe_lib.domain.executions.execution import Execution, ExecutionId

# A master keeps its executions in memory anyway, and these are the same objects.
KEPT_MAX = 5000


class RecentExecutions:
    """A bounded cache of committed executions, which saves `append` a read.

    It is never wrong, only old: a version identifies one content, and the write itself checks the version.
    """

    def __init__(self) -> None:
        self._by_id: OrderedDict[ExecutionId, Execution] = OrderedDict()
        self._lock = Lock()

    def keep(self, execution: Execution) -> None:
        """Store a committed execution; remove one that has ended, since it changes no more."""
        with self._lock:
            if execution.terminal:
                self._by_id.pop(execution.id, None)
                return
            known = self._by_id.get(execution.id)
            if known is None or known.version < execution.version:
                self._by_id[execution.id] = execution
            self._by_id.move_to_end(execution.id)
            while len(self._by_id) > KEPT_MAX:
                self._by_id.popitem(last=False)

    def get(self, execution_id: ExecutionId, version: int) -> Execution | None:
        """Return the execution at exactly this version."""
        with self._lock:
            execution = self._by_id.get(execution_id)
        return execution if execution is not None and execution.version == version else None
