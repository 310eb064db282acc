"""The thread that forecasts the start of each waiting execution, without delaying the loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Execution
from zoe_master.loop.master import Master
from zoe_master.loop.tick import Tick
from zoe_master.state.cpu_budget import FORECAST_S, CpuBudget
from zoe_master.waker import TickWaker

log = structlog.get_logger(__name__)

# The thread rests four times as long as it works, since it shares one core with the loop.
_REST = 4.0
_LOOK_INTERVAL_S = 0.2


class ForecastThread:
    """Runs beside one master until it is closed.

    Each forecast has the same budget as a user's request, and is extrapolated beyond it. `cpu_s` counts the CPU time of
    the calling thread.
    """

    def __init__(
        self,
        master: Master,
        waker: TickWaker,
        cpu_s: Callable[[], float] = time.thread_time,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._master = master
        self._waker = waker
        self._cpu_s, self._clock = cpu_s, clock
        self._closing = threading.Event()
        self._asked: set[tuple[str, int]] = set()
        self._thread = threading.Thread(target=self._run, name="zoe-foretelling", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        pause_s = _LOOK_INTERVAL_S
        while not self._clock.wait(self._closing, pause_s):
            pause_s = self.work_once()

    def work_once(self) -> float:
        """Forecast at most one execution; return the length of the rest afterwards."""
        began_s = self._cpu_s()
        try:
            self._forecast_next()
        except Exception:  # a failed forecast must not end the master
            log.exception("a forecast failed")
        return max((self._cpu_s() - began_s) * _REST, _LOOK_INTERVAL_S)

    def _forecast_next(self) -> None:
        tick = self._master.latest
        execution = self._next_execution(tick) if tick is not None else None
        if tick is None or execution is None:
            return
        self._asked.add((execution.id, execution.attempt))
        forecast = tick.forecast(execution.id, CpuBudget(cpu_s=self._cpu_s).spent_after(FORECAST_S))
        if forecast is not None:
            self._master.note_forecast(execution.id, forecast)
            self._waker.wake()

    def _next_execution(self, tick: Tick) -> Execution | None:
        """Return the first queued execution that has to wait and has no forecast yet."""
        waiting = {(e.id, e.attempt): e for e in tick.snapshot.queued if e.id not in tick.plan.starts}
        self._asked &= waiting.keys()
        return next((e for key, e in waiting.items() if key not in self._asked and e.forecast is None), None)
