"""How many instances a component is to have by what is measured. Pure.

The rule is that of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2): for a share of the reservation, the number
that runs times what is measured over what is wanted, with a dead band; for an amount, as many as it takes. More at
once, but at most double, or four more; fewer only when the larger number was not wanted for a while. With a steady load
the number wanted does not depend on how many run, so it comes to rest.
"""

from __future__ import annotations

import math
from collections import deque

from zoe_lib.domain.values.frozen import value

DEAD_BAND = 0.1
"""A share of the reservation this near to what is wanted changes nothing."""
_AT_ONCE_MIN = 4
_NEARLY = 1e-9


@value(frozen=True, slots=True)
class ScalingRule:
    """Between which numbers of instances, and by what: exactly one of `cpu`, `query` and `port`.

    cpu: the share of the reserved cores that instances are to use on average. query: an expression of Prometheus, whose
    value is shared among instances, `per_instance` for each. port: the same for the number that an instance answers
    with there, at `path`. interval_s: between two looks. calm_s: for how long fewer must have been enough.
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

    def wanted(self, running: int, measured: float) -> int:
        """Return how many instances are wanted of a component of which so many run; `measured`: the share of the
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
    """What was wanted of one component lately, and what it is given."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self._wanted: deque[tuple[float, int]] = deque()

    def given(self, rule: ScalingRule, now_s: float, present: int, wanted: int) -> int:
        """Return how many instances it is to have now. `now_s`: of a clock that is not set back."""
        self._wanted.append((now_s, wanted))
        while self._wanted[0][0] < now_s - rule.calm_s:
            self._wanted.popleft()
        if wanted > present:
            return min(wanted, max(2 * present, present + _AT_ONCE_MIN))
        if now_s - self._began_s < rule.calm_s:
            return present
        return min(present, max(one for _, one in self._wanted))
