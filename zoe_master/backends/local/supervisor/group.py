"""All processes of the service together: what they use, and how to end them all."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time

from . import processes
from .cgroup import Cgroup


class ProcessGroup:
    """The component's process with everything that came of it; we are the subreaper of all of them."""

    def __init__(self, cgroup: Cgroup | None) -> None:
        self._cgroup = cgroup
        self._cpu_s = 0.0

    def pids(self) -> list[int]:
        """Return every process of the service that is there now."""
        return self._cgroup.pids() if self._cgroup is not None else processes.descendants(os.getpid())

    def cpu_s(self) -> float:
        """CPU time since the start: of those that live, with the children they waited for, and of those we reaped."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        living = (processes.read_process(pid) for pid in self.pids())
        used = ended.ru_utime + ended.ru_stime + sum(process.cpu_s for process in living if process is not None)
        self._cpu_s = max(self._cpu_s, used)
        return self._cpu_s

    def memory_bytes(self) -> int:
        """Memory now: the control group's figure, or the sum of resident memory, in which shared pages count twice."""
        if self._cgroup is not None:
            return self._cgroup.memory_bytes()
        living = (processes.read_process(pid) for pid in self.pids())
        return sum(process.memory_bytes for process in living if process is not None)

    def over(self, limit_bytes: int | None) -> bool:
        """Return whether the limit is passed; without a control group only after a closer look at shared pages."""
        if not limit_bytes:
            return False
        if self._cgroup is not None:
            return self._cgroup.out_of_memory_kills() > 0
        if self.memory_bytes() <= limit_bytes:
            return False
        exact = sum(processes.proportional_memory_bytes(pid) for pid in self.pids())
        return exact > limit_bytes or exact == 0

    def kill(self) -> None:
        """SIGKILL to every process there is now."""
        if self._cgroup is not None:
            self._cgroup.forbid_forks()
        _signal_all(self.pids(), signal.SIGSTOP)  # a stopped process forks no successor while we go through the list
        _signal_all(self.pids(), signal.SIGKILL)

    def end(self, timeout_s: float = 30.0) -> list[int]:
        """Kill until nothing is left, reaping all; what would not go in time is returned."""
        deadline_s = time.monotonic() + timeout_s
        pause_s = 0.001
        while True:
            nobody = self._reap()
            alive = self.pids()
            if nobody and not alive:
                return []
            if time.monotonic() >= deadline_s:
                return alive
            self.kill()
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.1)

    @staticmethod
    def _reap() -> bool:
        """Return whether we have no child any more, living or dead."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        return False


def _signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
