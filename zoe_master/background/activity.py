"""Which executions compute: those are not idle, though nobody looks at them."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.execution import ExecutionId
from zoe_lib.domain.policy import Policy
from zoe_master.backends.base import Usage

# So long that neither a page that asks now and then nor a collection of garbage passes for work.
_STRETCH_S = 60.0


class ServiceActivity:
    """Averages what each service uses over a minute, or over half of the time after which somebody is idle."""

    def __init__(self) -> None:
        self._began: dict[str, Usage] = {}

    def seen(self, usage: Sequence[Usage], policy: Policy) -> dict[ExecutionId, float]:
        """When executions were at work last, of those a service of which has just been seen at it.

        At work is a service that used at least `idle_cores_milli` thousandths of a core on average.
        """
        if not policy.idle_after_s or not policy.idle_cores_milli:
            self._began = {}
            return {}
        stretch_s = min(_STRETCH_S, policy.idle_after_s / 2)
        began, last_active = {}, {}
        for now in usage:
            then = self._began.get(now.service_id, now)
            passed_s, used_s = now.at_s - then.at_s, now.cpu_s - then.cpu_s
            goes_on = passed_s < stretch_s and used_s >= 0  # less than before: it was started again
            began[now.service_id] = then if goes_on else now
            if not goes_on and used_s * 1000 >= policy.idle_cores_milli * passed_s > 0:
                last_active[now.execution_id] = now.at_s
        self._began = began
        return last_active
