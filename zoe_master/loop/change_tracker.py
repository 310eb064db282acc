"""Find the executions that need no examination: they are settled, and have not changed since."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ServiceId
from zoe_lib.domain.lifecycle.consequences import due_at_s
from zoe_master.backends.base import Observation


class ChangeTracker:
    """Remembers seen and settled executions, so that the cost of a tick depends on changes, not on the number of
    executions.
    """

    def __init__(self) -> None:
        self._seen: Mapping[ServiceId, Observation] = {}
        self._executions: dict[ExecutionId, tuple[Execution, float | None]] = {}
        self._touched: set[ExecutionId] = set()
        self._policy = Policy()

    def look(self, observations: Mapping[ServiceId, Observation], policy: Policy) -> None:
        """Compare these observations with the last ones; under a changed policy, examine all executions again."""
        if policy is not self._policy:
            self._executions.clear()
            self._policy = policy
        before, known = self._seen, 0
        for service_id, seen in observations.items():
            earlier = before.get(service_id)
            known += earlier is not None
            # Nearly all are the same objects as before, so the identity check decides; only the others are compared.
            if earlier is not seen and earlier != seen:
                self._touched.add(seen.execution_id)
        if known < len(before):
            self._touched.update(seen.execution_id for i, seen in before.items() if i not in observations)
        self._seen = observations

    def needs_look(self, execution: Execution, now_s: float) -> bool:
        """Return whether an event may follow: there are new observations, another state, or a time that has come."""
        known, due_s = self._executions.get(execution.id, (None, None))
        if known is not execution or execution.id in self._touched:
            return True
        return due_s is not None and due_s <= now_s

    def keep(self, before: Execution, after: Execution | None) -> None:
        """Record that the execution is settled, as `after`; None if another writer changed it, so the next tick
        examines it.
        """
        if after is None:
            return
        self._touched.discard(before.id)
        if after.terminal:
            self._executions.pop(before.id, None)
        else:
            self._executions[before.id] = (after, due_at_s(after, self._policy))
