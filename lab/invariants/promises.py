"""With backfill, the expected start of the first in the queue never moves back, so no execution starves."""

from __future__ import annotations

import math

from lab.invariants.queue import refused_for_room, started_in_turn
from lab.invariants.room import expected_start_s
from zoe_lib.domain.cluster.policy import Policy
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

_EQUAL_S = 1e-6


class Promises:
    """Remembers the expected start of the first in the queue after the last tick.

    It counts only if nothing else explains a delay: the same execution is first and none that now precedes it got a
    place, nodes and policy are unchanged, nothing was learned, nothing runs beyond its estimate.
    """

    def __init__(self) -> None:
        self._circumstances: object = None
        self._expected_s = math.inf

    def problems(self, snapshot: Snapshot, policy: Policy, plan: Plan) -> list[str]:
        """Return broken promises, as sentences."""
        head = refused_for_room(snapshot, plan) if policy.backfill != "none" else None
        stays = policy.preemption == "none" and any(e.application.malleable for e in snapshot.active)
        if head is None or stays or _overdue(snapshot, policy):
            self._circumstances = None
            return []
        ready = tuple(node.name for node in snapshot.nodes if node.ready and not node.holds)
        circumstances = (head.id, head.attempt, ready, policy.version, snapshot.past_runs)
        expected_s = expected_start_s(snapshot, policy, plan, head)
        as_before = circumstances == self._circumstances and not started_in_turn(snapshot, policy, plan, head)
        broken = as_before and expected_s > self._expected_s + _EQUAL_S
        before_s, self._expected_s, self._circumstances = self._expected_s, expected_s, circumstances
        return [f"{head.id} could expect to start at {before_s:g} s, and now at {expected_s:g} s"] if broken else []


def _overdue(snapshot: Snapshot, policy: Policy) -> bool:
    estimates = snapshot.estimates(limits_first=policy.limits_first)
    return any(estimates.release_s(execution, 0.0) < snapshot.now_s for execution in snapshot.active)
