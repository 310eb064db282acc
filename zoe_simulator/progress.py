"""The progress of simulated applications: work advances with running components and, if they read, with arriving
bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from zoe_simulator.workload import Arrival

# Rounding of times must not leave a remainder of work that never ends.
_DONE = 1.0 - 1e-9


@dataclass(slots=True)
class Progress:
    """The work of one application. `done` is a share from 0 to 1; `running` components, `bandwidth` in bytes/s.

    With a of n components the run time is run_s x (n / a) ^ scaling; a reading application is at most as fast as its
    bytes arrive.
    `remote_share` of its input comes over the network.
    """

    arrival: Arrival
    read_bytes: float = 0.0
    running: int = 0
    bandwidth: float = math.inf
    done: float = 0.0
    remote_share: float = 1.0

    @property
    def rate(self) -> float:
        """Return the share of the work done per second."""
        if self.running == 0:
            return 0.0
        computed = self.running / (self.arrival.total * self.arrival.run_s)
        if self.arrival.scaling != 1.0:
            computed = math.pow(self.running / self.arrival.total, self.arrival.scaling) / self.arrival.run_s
        return min(computed, self.bandwidth / self.read_bytes) if self.read_bytes > 0 else computed

    @property
    def demand(self) -> int:
        """Return bytes per second that it could use now."""
        return math.ceil(self.read_bytes * self.running / (self.arrival.total * self.arrival.run_s))

    @property
    def left_s(self) -> float:
        """Return seconds to its end if nothing changes; infinite while nothing runs."""
        if self.done >= _DONE:
            return 0.0
        return (1.0 - self.done) / self.rate if self.rate > 0 else math.inf

    def lose(self, component_seconds: float) -> None:
        """Discard work of components, which has to be repeated."""
        self.done = max(self.done - component_seconds / (self.arrival.total * self.arrival.run_s), 0.0)

    def advance(self, seconds: float) -> None:
        """Advance by some time."""
        self.done = min(self.done + self.rate * seconds, 1.0)
