"""Reasons of waiting: a common one for most of a long queue, and separate ones for the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.frozen import once
from zoe_lib.domain.values.reasons import Reason, ReasonCode


class Reasons(Mapping[ExecutionId, Reason]):
    """Reasons by execution. `own`: separate reasons; all other executions wait for the `common` one, once it is set."""

    def __init__(self, own: Mapping[ExecutionId, Reason] | None = None) -> None:
        self.own = dict(own or {})
        self.common: Reason | None = None
        self._rest: Sequence[Execution] = ()
        self._gone: set[ExecutionId] = set()

    def give_rest(self, rest: Sequence[Execution], common: Reason) -> None:
        """Set the common reason of these executions, which have no separate reason. Call it once."""
        self._rest, self.common = rest, common

    def give(self, execution_id: ExecutionId, reason: Reason) -> None:
        """Set an execution's separate reason, also for one with the common reason."""
        self.drop(execution_id)
        self.own[execution_id] = reason

    def drop(self, execution_id: ExecutionId) -> None:
        """Remove the reason of an execution that no longer waits, or not for the common reason."""
        if self.own.pop(execution_id, None) is None and self._rest:
            self._gone.add(execution_id)

    def counts(self) -> Counter[ReasonCode]:
        """Return how many wait by the code of their reason, without iterating over those with the common one."""
        counts = Counter(reason.code for reason in self.own.values())
        if self.common is not None:
            counts[self.common.code] += len(self) - len(self.own)
        return +counts

    def __getitem__(self, execution_id: ExecutionId) -> Reason:
        reason = self.own.get(execution_id)
        if reason is None and execution_id in self._of_rest and execution_id not in self._gone:
            reason = self.common
        if reason is None:
            raise KeyError(execution_id)
        return reason

    def __iter__(self) -> Iterator[ExecutionId]:
        yield from self.own
        yield from (execution.id for execution in self._rest if execution.id not in self._gone)

    def __len__(self) -> int:
        return len(self.own) + len(self._rest) - len(self._gone)

    @once
    def _of_rest(self) -> frozenset[ExecutionId]:
        return frozenset(execution.id for execution in self._rest)
