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
        self.cgroup = cgroup
        self.reaped_bytes = 0
        """Largest high-water mark of resident memory of a reaped child, or of a process that it waited for."""

    def pids(self) -> list[int]:
        """Return every present process of the service."""
        return self.cgroup.pids() if self.cgroup is not None else processes.descendants(os.getpid())

    def memory_bytes(self) -> int:
        """Return the memory in use: the control group's figure, or the sum of resident memory, which counts shared
        pages twice.
        """
        if self.cgroup is not None:
            return self.cgroup.memory_bytes()
        living = (processes.read_process(pid) for pid in self.pids())
        return sum(process.memory_bytes for process in living if process is not None)

    def exceeds(self, limit_bytes: int | None) -> bool:
        """Return whether the limit is exceeded; without a control group, shared pages are then counted exactly."""
        if not limit_bytes:
            return False
        if self.cgroup is not None:
            return self.cgroup.out_of_memory_kills() > 0
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
        if self.cgroup is not None:
            self.cgroup.forbid_forks()
        _signal_all(self.pids(), signal.SIGSTOP)  # a stopped process cannot fork during the walk through the list
        _signal_all(self.pids(), signal.SIGKILL)

    def end(self, timeout_s: float = 30.0) -> list[int]:
        """Kill until no process is left, and reap all; return the processes that did not end in time."""
        deadline_s = time.monotonic() + timeout_s
        pause_s = 0.001
        while True:
            nobody = self._reap_all()
            alive = self.pids()
            if nobody and not alive:
                return []
            if time.monotonic() >= deadline_s:
                return alive
            self.kill()
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.1)

    def reap(self) -> tuple[int, int]:
        """Reap a child that has ended; return its pid and wait status. The pid is 0 if all live. Raises
        ChildProcessError if there is no child.
        """
        pid, wait_status, used = os.wait4(-1, os.WNOHANG)
        if pid:
            self.reaped_bytes = max(self.reaped_bytes, used.ru_maxrss * 1024)
        return pid, wait_status

    def _reap_all(self) -> bool:
        """Return whether no child is left, living or dead."""
        try:
            while self.reap()[0]:
                pass
        except ChildProcessError:
            return True
        return False


class UsageMeter:
    """CPU time and peak memory of a group since its last `begin`, from the kernel's own counters where it has them.

    So programs that prepare the component, such as a build of its environment, do not count.
    """

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self._before_s = 0.0
        self._cpu_s = 0.0
        self._seen_bytes = self._cache_bytes = self._counted_before_bytes = 0

    def begin(self) -> None:
        """Forget the use until now."""
        self._before_s, self._cpu_s = self._total_cpu_s(), 0.0
        self._seen_bytes = self._cache_bytes = self._group.reaped_bytes = 0
        cgroup = self._group.cgroup
        self._counted_before_bytes = cgroup.restart_peak() if cgroup is not None else 0

    def sample(self) -> tuple[float, int]:
        """Return CPU seconds and the bytes of memory in use now."""
        used_bytes = self._group.memory_bytes()
        self._seen_bytes = max(self._seen_bytes, used_bytes)
        self._look_at_cache()
        self._cpu_s = max(self._cpu_s, self._total_cpu_s() - self._before_s)
        return self._cpu_s, used_bytes

    def total_cpu_s(self) -> float:
        """Return the CPU seconds after the end of all processes, which is exact; samples may count a process twice
        while it ends.
        """
        return max(self._total_cpu_s() - self._before_s, 0.0)

    def peak_bytes(self) -> int:
        """Return the peak memory, without page cache.

        With a control group, this is the kernel's peak without the most file pages that were seen, as they stay
        until others need the memory; never less than a sample. Without one, it is the larger one of the samples,
        which add up processes, and of the kernel's high-water marks, which are exact for each process.
        """
        cgroup = self._group.cgroup
        if cgroup is None:
            return max(self._seen_bytes, self._reaped_bytes())
        counted_bytes = cgroup.peak_bytes()
        if counted_bytes <= self._counted_before_bytes:
            return self._seen_bytes
        self._look_at_cache()
        return max(self._seen_bytes, counted_bytes - self._cache_bytes)

    def _look_at_cache(self) -> None:
        if self._group.cgroup is not None:
            self._cache_bytes = max(self._cache_bytes, self._group.cgroup.cache_bytes())

    def _total_cpu_s(self) -> float:
        cgroup = self._group.cgroup
        counted_s = cgroup.cpu_s() if cgroup is not None else None
        if counted_s is not None:
            return counted_s
        living = [processes.read_process(pid) for pid in self._group.pids()]
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime + sum(process.cpu_s for process in living if process is not None)

    def _reaped_bytes(self) -> int:
        """Return the largest high-water mark of an ended process; 0 if it may be the supervisor's own.

        A program that is started by a process inherits that one's mark.
        """
        own_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return self._group.reaped_bytes if self._group.reaped_bytes > own_bytes else 0


def _signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
