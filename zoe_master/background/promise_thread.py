"""The thread that decides promises, without delaying the loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.progress import ExecutionProgress
from zoe_master.loop.master import Master
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.state.cpu_budget import PROMISES_S, CpuBudget
from zoe_master.waker import TickWaker

log = structlog.get_logger(__name__)

# It rests four times as long as it works, since it shares one core with the loop.
_REST = 4.0
_LOOK_S = 0.1


class PromiseThread:
    """Runs beside one master until it is closed. `progress` returns the progress of executions; `cpu_s` counts the CPU
    time of the calling thread.
    """

    def __init__(
        self,
        master: Master,
        decisions: PromiseDecisions,
        waker: TickWaker,
        progress: Callable[[], Mapping[ExecutionId, ExecutionProgress]] = dict,
        cpu_s: Callable[[], float] = time.thread_time,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._master = master
        self._decisions = decisions
        self._waker = waker
        self._progress = progress
        self._cpu_s, self._clock = cpu_s, clock
        self._told = 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-promises", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        pause_s = _LOOK_S
        while not self._clock.wait(self._closing, pause_s):
            pause_s = self.work_once()

    def work_once(self) -> float:
        """Decide pending promises, once the loop has taken the previous decisions; return the length of the rest."""
        began_s = self._cpu_s()
        try:
            self._decide()
        except Exception:  # one execution that cannot be decided must not end the thread
            log.exception("deciding promises failed")
        return max((self._cpu_s() - began_s) * _REST, _LOOK_S)

    def _decide(self) -> None:
        tick = self._master.present()
        if tick is None or tick.answers_taken < self._told:
            return
        made = self._decisions.decide_on(tick, CpuBudget(cpu_s=self._cpu_s).spent_after(PROMISES_S), self._progress())
        if made:
            self._told += len(made)
            self._master.note_promises(made)
            self._waker.wake()
