"""All processes of the service together: their usage, and how to end them all."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time

from . import processes
from .cgroup import Cgroup

LOWEST_PRIORITY = 19


class ProcessGroup:
    """The component's process and all its descendants; the supervisor is their subreaper."""

    def __init__(self, cgroup: Cgroup | None) -> None:
        self._cgroup = cgroup
        self._cpu_s = 0.0

    def pids(self) -> list[int]:
        """Return every present process of the service."""
        return self._cgroup.pids() if self._cgroup is not None else processes.descendants(os.getpid())

    def cpu_s(self) -> float:
        """Return the CPU time since the start: of living processes, with the children they waited for, and of reaped
        ones.
        """
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        living = (processes.read_process(pid) for pid in self.pids())
        used = ended.ru_utime + ended.ru_stime + sum(process.cpu_s for process in living if process is not None)
        self._cpu_s = max(self._cpu_s, used)
        return self._cpu_s

    def memory_bytes(self) -> int:
        """Return the memory in use: the control group's figure, or the sum of resident memory, which counts shared
        pages twice.
        """
        if self._cgroup is not None:
            return self._cgroup.memory_bytes()
        living = (processes.read_process(pid) for pid in self.pids())
        return sum(process.memory_bytes for process in living if process is not None)

    def exceeds(self, limit_bytes: int | None) -> bool:
        """Return whether the limit is exceeded; without a control group, shared pages are then counted exactly."""
        if not limit_bytes:
            return False
        if self._cgroup is not None:
            return self._cgroup.out_of_memory_kills() > 0
        if self.memory_bytes() <= limit_bytes:
            return False
        exact = sum(processes.proportional_memory_bytes(pid) for pid in self.pids())
        return exact > limit_bytes or exact == 0

    def yield_cores(self) -> None:
        """Set the priority of every present process to the lowest: they may still use idle cores.

        Where the kernel groups processes by session, priorities count within one session only, so the session's is
        lowered, too.
        """
        for pid in self.pids():
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PGRP, os.getpgid(pid), LOWEST_PRIORITY)
            with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "r+") as file:
                if not file.read().rstrip().endswith(f"nice {LOWEST_PRIORITY}"):
                    file.write(str(LOWEST_PRIORITY))

    def kill(self) -> None:
        """Send SIGKILL to every present process."""
        if self._cgroup is not None:
            self._cgroup.forbid_forks()
        _signal_all(self.pids(), signal.SIGSTOP)  # a stopped process cannot fork during the walk through the list
        _signal_all(self.pids(), signal.SIGKILL)

    def end(self, timeout_s: float = 30.0) -> list[int]:
        """Kill until no process is left, and reap all; return the processes that did not end in time."""
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
        """Return whether no child is left, living or dead."""
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
