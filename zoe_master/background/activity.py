"""Detect computing executions: they are not idle, even if their pages are closed."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_master.backends.base import Usage

STRETCH_S = 60.0
"""Time over which usage is averaged: neither a polling page nor a garbage collection counts as work."""


class ServiceActivity:
    """Average the usage of each service over a minute, or over half of the idle time if that is shorter."""

    def __init__(self) -> None:
        self._began: dict[str, Usage] = {}

    def last_computing(self, usage: Sequence[Usage], policy: Policy) -> dict[ExecutionId, float]:
        """Return when executions last computed, for those with a service that has just computed.

        A service computes if it used at least `idle_cores_milli` thousandths of a core on average.
        """
        if not policy.idle_after_s or not policy.idle_cores_milli:
            self._began = {}
            return {}
        stretch_s = min(STRETCH_S, policy.idle_after_s / 2)
        began, last_active = {}, {}
        for now in usage:
            then = self._began.get(now.service_id, now)
            passed_s, used_s = now.at_s - then.at_s, now.cpu_s - then.cpu_s
            goes_on = passed_s < stretch_s and used_s >= 0  # less than before: the service was restarted
            began[now.service_id] = then if goes_on else now
            if not goes_on and used_s * 1000 >= policy.idle_cores_milli * passed_s > 0:
                last_active[now.execution_id] = now.at_s
        self._began = began
        return last_active
