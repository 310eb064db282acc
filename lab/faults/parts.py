"""Parts around the master that faults affect."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.memory.state import State
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.base import BackendError, Observation, ServiceStart
from zoe_master.backends.simulated import SimulatedBackend


class BreakingStore(MemoryStore):
    """A store that fails after `calls_left` further calls; None: it never fails."""

    calls_left: int | None = None

    def _reached(self) -> State:
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                raise StoreUnavailable("simulated: the connection was lost")
        return super()._reached()


class BreakingBackend(SimulatedBackend):
    """A back-end with faults: it loses `starts_lost` starts, refuses starts if `refuses`, cannot be observed if `away`,
    and reports `late` if set.
    """

    starts_lost: int = 0
    refuses: bool = False
    away: bool = False
    late: Sequence[Observation] | None = None

    def start(self, start: ServiceStart) -> None:
        """Hand over a service, unless the start is lost or refused."""
        if self.refuses:
            raise BackendError("simulated: takes nothing now")
        if self.starts_lost > 0:
            self.starts_lost -= 1
            return
        super().start(start)

    def observe(self) -> Sequence[Observation]:
        """Return the present observations, or earlier ones."""
        if self.away:
            raise BackendError("the simulated node cannot be reached")
        return self.observe_truly() if self.late is None else self.late

    def observe_truly(self) -> Sequence[Observation]:
        """Return the present observations."""
        return super().observe()

    def running(self) -> list[Observation]:
        """Return the services that really run now, by id."""
        alive = (o for o in self.observe_truly() if o.state.value in ("starting", "started", "ready"))
        return sorted(alive, key=lambda o: o.service_id)
