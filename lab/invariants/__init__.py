"""Invariants that must hold after every tick under every policy, checked independently of the scheduler's
accounting.
"""

from __future__ import annotations

from collections.abc import Iterable

from lab.invariants.capacity import capacity_problems
from lab.invariants.grants import grant_problems
from lab.invariants.journal import Journal
from lab.invariants.limits import limit_problems
from lab.invariants.promises import Promises
from lab.invariants.queue import queue_problems
from lab.invariants.reservations import reservation_problems
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.base import ExecutionStore
from zoe_master.loop.tick import Tick


class Violation(Exception):  # noqa: N818 - a finding, not an error
    """An invariant does not hold; the message names it, the time, and the execution or node."""


class Invariants:
    """Checks every tick of one run, the journal, and the storage controller."""

    def __init__(self, store: ExecutionStore, controller: SimulatedController | None = None) -> None:
        self._journal = Journal(store)
        self._controller = controller
        self._promises = Promises()
        self.ticks = 0

    def check(self, tick: Tick, policy: Policy, executions: Iterable[Execution]) -> None:
        """Raise Violation if an invariant does not hold after a tick; `executions` are those in the master's cache."""
        active = list(executions)
        self.ticks += 1
        problems = [
            *capacity_problems(tick.snapshot.nodes, active),
            *queue_problems(tick.snapshot, policy, tick.plan),
            *limit_problems(tick.snapshot, policy, tick.plan),
            *self._promises.problems(tick.snapshot, policy, tick.plan),
            *reservation_problems(tick.snapshot, policy, tick.plan),
            *self._journal.problems(active),
        ]
        if self._controller is not None:
            problems += grant_problems(active, self._controller)
        if problems:
            raise Violation(f"{tick.plan_id} at {tick.snapshot.now_s:.3f} s: " + "; ".join(problems))
