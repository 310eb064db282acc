"""The essential services of a queue in columns, so that one test answers for thousands of unlike executions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.executions.execution import Execution

Column = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class ServiceColumns:
    """Cores, memory and number of essential services for each execution of a queue, where these say all.

    `plain`: the executions with one kind of essential services, without labels and devices; the others' rows are 0.
    `first`: the first plain one.
    """

    def __init__(self, executions: Sequence[Execution]) -> None:
        self._table: Column = np.array([one.application.plain_core for one in executions], dtype=np.int64)
        self._name(self._table.reshape(-1, 3))
        places = self.plain.nonzero()[0]
        self.first = executions[int(places[0])] if len(places) else None

    def _name(self, table: Column) -> None:
        self._table = table
        self.cores, self.memory, self.count = np.ascontiguousarray(table.T)
        self.plain: Mask = self.count > 0

    def at(self, places: Sequence[int] | npt.NDArray[np.intp]) -> ServiceColumns:
        """Return the rows at these places, in their sequence."""
        twin = ServiceColumns.__new__(ServiceColumns)
        twin._name(self._table[np.array(places, dtype=np.intp)])
        twin.first = self.first
        return twin
