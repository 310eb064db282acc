"""The thread that learns how long applications run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.base import ExecutionStore
from zoe_master.state.run_history import recently_ended
from zoe_master.state.run_times import LearnedRunTimes

log = structlog.get_logger(__name__)

# It rests four times as long as it works, since it shares one core with the loop.
_REST = 4.0
_LOOK_S = 1.0
_AT_ONCE_MAX = 20


class RunTimesThread:
    """Runs beside one master until it is closed. First it reads recently ended executions. `cpu_s` counts its CPU
    time.
    """

    def __init__(
        self,
        times: LearnedRunTimes,
        store: ExecutionStore,
        cpu_s: Callable[[], float] = time.thread_time,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._times = times
        self._store = store
        self._cpu_s, self._clock = cpu_s, clock
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-run-times", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._times.recall(recently_ended(self._store))
        except Exception:  # without it, it learns only from later executions
            log.exception("reading earlier run times failed")
        pause_s = 0.0
        while not self._clock.wait(self._closing, pause_s):
            pause_s = self.work_once()

    def work_once(self) -> float:
        """Learn from some of the recorded ends; return the length of the rest afterwards."""
        began_s, done = self._cpu_s(), 0
        try:
            done = self._times.work_off(_AT_ONCE_MAX)
        except Exception:  # a useless execution must not end the thread
            log.exception("learning a run time failed")
        return (self._cpu_s() - began_s) * _REST if done == _AT_ONCE_MAX else _LOOK_S
