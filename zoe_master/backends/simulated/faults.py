"""Simulated back-ends with a fault, named after it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import BackendError, Observation, ServiceStart
from zoe_master.backends.simulated.backend import SimulatedBackend
from zoe_master.backends.simulated.behaviour import SIGKILL_EXIT_CODE, ServiceBehaviour


class BackendRefusesStarts(SimulatedBackend):
    """`start` raises for the first `refusals` calls, then works."""

    refusals: float = math.inf

    def start(self, start: ServiceStart) -> None:
        """Raise while refusals are left."""
        if self.refusals > 0:
            self.refusals -= 1
            raise BackendError("the simulated node cannot be reached")
        super().start(start)


class BackendForgetsStarts(SimulatedBackend):
    """The first `losses` starts are accepted and then lost, like a request lost on its way."""

    losses: float = math.inf

    def start(self, start: ServiceStart) -> None:
        """Do nothing while losses are left."""
        if self.losses > 0:
            self.losses -= 1
            return
        super().start(start)


class BackendUnreachable(SimulatedBackend):
    """`observe` raises while `down` is set."""

    down: bool = True

    def observe(self) -> Sequence[Observation]:
        """Raise while it is down."""
        if self.down:
            raise BackendError("the simulated node cannot be reached")
        return super().observe()


class StartFails(SimulatedBackend):
    """No service ever runs; `fault` is the reported cause."""

    fault: Cause = Cause.START_FAILED

    def _behaviour_of(self, start: ServiceStart) -> ServiceBehaviour:
        return ServiceBehaviour(fails=self.fault, message=f"simulated: cannot start {start.service_id}")


class NeverReady(SimulatedBackend):
    """Readiness probes never succeed."""

    def _behaviour_of(self, start: ServiceStart) -> ServiceBehaviour:
        return replace(super()._behaviour_of(start), ready_s=math.inf)


class IgnoresTerminate(SimulatedBackend):
    """Services end only when they are killed after the grace period."""

    def _behaviour_of(self, start: ServiceStart) -> ServiceBehaviour:
        return replace(super()._behaviour_of(start), stop_s=math.inf)


class RunsOutOfMemory(SimulatedBackend):
    """Every service runs out of memory `after_s` after its process began."""

    after_s: float = 1.0

    def _behaviour_of(self, start: ServiceStart) -> ServiceBehaviour:
        return replace(
            super()._behaviour_of(start), run_s=self.after_s, exit_code=SIGKILL_EXIT_CODE, cause=Cause.OUT_OF_MEMORY
        )
