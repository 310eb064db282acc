"""Automatic scaling: the number of instances of a component from a measured value. Pure.

The rule is that of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2): for a share of the reservation, the running
number times measured over target share, with a dead band; for an amount, as many as it takes. Scaling up is immediate,
but at most double, or four more; scaling down waits until the larger number was not needed for a while, which begins
anew after a silence: nothing is known of the time in between. With a steady load the result does not depend on the
running number, so it settles.
"""

from __future__ import annotations

import math
from collections import deque

from zoe_lib.domain.values.frozen import value

DEAD_BAND = 0.1
"""Deviation from the target share that changes nothing."""
_AT_ONCE_MIN = 4
_BLIND_S_MIN = 30.0
_INTERVALS_OF_SILENCE = 3
_NEARLY = 1e-9


@value(frozen=True, slots=True)
class ScalingRule:
    """Limits on the number of instances, and the measured value: exactly one of `cpu`, `query`, `port` and `spark`.
    cpu: target share of the reserved cores in use, on average. query: a Prometheus expression for an amount that
    instances share, `per_instance` for each. port: the same for the number that an instance reports there, at `path`.
    spark: the same for the executors that the Spark driver with this port wants, in any component.
    interval_s: between two measurements. calm_s: how long fewer instances must have sufficed.
    """

    minimum: int
    maximum: int
    cpu: float | None = None
    query: str | None = None
    port: str | None = None
    path: str = "/"
    per_instance: float = 1.0
    interval_s: float = 15.0
    calm_s: float = 120.0
    spark: str | None = None

    def wanted_count(self, running: int, measured: float) -> int:
        """Return the wanted number of instances of a component with `running` ones; `measured`: the share of the
        reserved cores that they use, or the amount.
        """
        if self.cpu is None:
            found = math.ceil(max(measured, 0.0) / self.per_instance - _NEARLY)
        elif abs(measured / self.cpu - 1) <= DEAD_BAND:
            found = running
        else:
            found = math.ceil(running * measured / self.cpu - _NEARLY)
        return min(max(found, self.minimum), self.maximum)


class ScalingHistory:
    """Recently wanted numbers of one component, and the number in force. `problem`: why the last measurement failed;
    empty if it did not, None before the first. All times are of a clock that is not set back.
    """

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self._measured_s = began_s
        self._wanted: deque[tuple[float, int]] = deque()
        self.problem: str | None = None

    def note_silence(self, problem: str) -> None:
        """Note that the value could not be measured, and why."""
        self.problem = problem
        self._wanted.clear()

    def is_blind(self, rule: ScalingRule, now_s: float) -> bool:
        """Return whether the value has not been measured for so long that the user should know."""
        return now_s - self._measured_s > max(_INTERVALS_OF_SILENCE * rule.interval_s, _BLIND_S_MIN)

    def next_count(self, rule: ScalingRule, now_s: float, present: int, wanted: int) -> int:
        """Return the number of instances from now on."""
        silent_s = now_s - self._measured_s
        if not self._wanted or silent_s > rule.calm_s + _INTERVALS_OF_SILENCE * rule.interval_s:
            self._began_s = now_s
            self._wanted.clear()
        self._measured_s, self.problem = now_s, ""
        self._wanted.append((now_s, wanted))
        while self._wanted[0][0] < now_s - rule.calm_s:
            self._wanted.popleft()
        if wanted > present:
            return min(wanted, max(2 * present, present + _AT_ONCE_MIN))
        if now_s - self._began_s < rule.calm_s:
            return present
        return min(present, max(number for _, number in self._wanted))
