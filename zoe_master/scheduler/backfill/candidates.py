"""The executions behind the first waiting one that may have room, narrowed together each time that a trial failed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_master.scheduler.backfill.backfill import Reservation
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.core_columns import ServiceColumns


class BackfillCandidates:
    """Executions in the sequence of their turns, with their expected run times in seconds. One that certainly cannot
    pass is left out for good, since room only shrinks; those in `apart` stay: they may have another reason to wait.
    """

    def __init__(
        self,
        executions: Sequence[Execution],
        columns: ServiceColumns,
        run_s: Sequence[float],
        check: CapacityCheck,
        reservation: Reservation,
        apart: Collection[ExecutionId],
    ) -> None:
        self._executions = executions
        self._columns = columns
        self._run_s = np.array(run_s)
        self._check = check
        self._reservation = reservation
        self._apart = [place for place, one in enumerate(executions) if one.id in apart] if apart else []
        self._left: npt.NDArray[np.intp] = np.arange(len(executions))
        self._surely = np.ones(len(executions), dtype=np.bool_)  # they have passed the check of the present room
        self._keep(reservation.may_let_each(columns, self._run_s))

    def next_turn(self, turn: int) -> int:
        """Return the first turn from this one on of an execution that is left; their number if there is none."""
        at = bisect_left(self._turns, turn)
        return self._turns[at] if at < len(self._turns) else len(self._executions)

    def may_have_room(self, place: int) -> bool:
        """Return False if an execution has certainly no room after the last failed trial."""
        return self._sure[place] or self._check.may_have_room(self._executions[place])

    def narrow(self) -> None:
        """Compare all that are left with the present room: to be called when a trial failed."""
        self._check.refresh()
        self._reservation.refresh()
        columns = self._columns.at(self._left)
        may, self._surely[self._left] = self._check.settle(columns)
        self._keep(may & self._reservation.may_let_each(columns, self._run_s[self._left]))

    def _keep(self, may: npt.NDArray[np.bool_]) -> None:
        self._left = self._left[may]
        self._turns: list[int] = self._left.tolist()
        if self._apart:
            self._turns = sorted({*self._turns, *self._apart})
        self._sure: list[bool] = self._surely.tolist()
