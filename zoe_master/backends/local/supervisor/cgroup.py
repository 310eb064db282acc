"""The control group of one service, in version 1 or 2, as far as the kernel permits."""

from __future__ import annotations

import contextlib
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .files import Document

# Enough for a large JVM application; few enough that a fork bomb leaves the machine usable.
PIDS_MAX = 8192
# The kernel's own default, and the smallest quota that it accepts.
CPU_PERIOD_US = 100_000
CPU_QUOTA_US_MIN = 1_000
# CPU weight of a reserved core, by version of control groups, and its factor for promised services. Other services with
# as many cores then take less than a hundredth of each from it. Idle cores are available to all, whatever their weight.
CPU_WEIGHT = {1: 64, 2: 4}
CPU_WEIGHT_MAX = {1: 262_144, 2: 10_000}
PROMISED_FACTOR = 128
# Services with a small reservation, such as a coordinating JVM, must still start in time.
CORES_MILLI_MIN = 250


class Cgroup:
    """Directories of the service's group; in version 2 they are the same one. None: the controller is missing."""

    def __init__(self, version: int, memory: str, pids: str | None, cpu: str | None = None) -> None:
        self.version = version
        self.memory = memory
        self.pids_directory = pids
        self.cpu_directory = cpu

    @classmethod
    def from_document(cls, document: Document | None) -> Cgroup | None:
        """Return the group named in a start or status file."""
        if not document:
            return None
        return cls(document["version"], document["memory"], document.get("pids"), document.get("cpu"))

    def document(self) -> Document:
        """Return the JSON that `of` reads."""
        directories = {"memory": self.memory, "pids": self.pids_directory, "cpu": self.cpu_directory}
        return {"version": self.version, **directories}

    def create(
        self,
        memory_limit_bytes: int | None,
        cores_limit_milli: int | None = None,
        cores_milli: int | None = None,
        promised: bool = False,
    ) -> None:
        """Create the group, and set its limits and its CPU weight; OSError if not permitted."""
        for directory in self._directories():
            os.makedirs(directory, exist_ok=True)
        if memory_limit_bytes:
            _write(f"{self.memory}/{self._file('memory.limit_in_bytes', 'memory.max')}", str(memory_limit_bytes))
            with contextlib.suppress(OSError):  # swap accounting may be off
                swap, amount = ("memory.swap.max", 0) if self.version == 2 else (_MEMSW, memory_limit_bytes)
                _write(f"{self.memory}/{swap}", str(amount))
        if self.pids_directory:
            with contextlib.suppress(OSError):
                _write(f"{self.pids_directory}/pids.max", str(PIDS_MAX))
        if self.cpu_directory and cores_limit_milli:
            with contextlib.suppress(OSError):  # without a limit it may run faster, which is no reason to refuse it
                self._limit_cores(cores_limit_milli)
        if self.cpu_directory and cores_milli is not None:
            weight = cpu_weight(self.version, cores_milli, promised)
            with contextlib.suppress(OSError):
                _write(f"{self.cpu_directory}/{self._file('cpu.shares', 'cpu.weight')}", str(weight))

    def _limit_cores(self, cores_milli: int) -> None:
        quota_us = max(CPU_QUOTA_US_MIN, cores_milli * CPU_PERIOD_US // 1000)
        if self.version == 2:
            _write(f"{self.cpu_directory}/cpu.max", f"{quota_us} {CPU_PERIOD_US}")
        else:
            _write(f"{self.cpu_directory}/cpu.cfs_period_us", str(CPU_PERIOD_US))
            _write(f"{self.cpu_directory}/cpu.cfs_quota_us", str(quota_us))

    def join(self) -> None:
        """Move the calling process into the group."""
        for directory in self._directories():
            _write(f"{directory}/cgroup.procs", "0")

    def pids(self) -> list[int]:
        """Return every process of the group, whatever its session or parent."""
        try:
            return [int(pid) for pid in _read(f"{self.memory}/cgroup.procs").split()]
        except OSError:
            return []

    def memory_bytes(self) -> int:
        """Return the memory in use without page cache; 0 if it cannot be read."""
        try:
            used = int(_read(f"{self.memory}/{self._file('memory.usage_in_bytes', 'memory.current')}"))
        except OSError:
            return 0
        return max(0, used - self.cache_bytes())

    def cache_bytes(self) -> int:
        """Return the memory of file pages, which the kernel drops if it is needed; 0 if it cannot be read."""
        prefix = self._file("total_", "")
        try:
            return sum(self._figure("memory.stat", f"{prefix}{name}") for name in ("active_file", "inactive_file"))
        except OSError:
            return 0

    def restart_peak(self) -> int:
        """Restart the kernel's record of the peak where it can be, and return it."""
        if self.version == 1:
            with contextlib.suppress(OSError):
                _write(f"{self.memory}/memory.max_usage_in_bytes", "0")
        return self.peak_bytes()

    def peak_bytes(self) -> int:
        """Return the peak of memory with page cache; 0 if the kernel does not record it (version 2, before 5.19)."""
        try:
            return int(_read(f"{self.memory}/{self._file('memory.max_usage_in_bytes', 'memory.peak')}"))
        except OSError:
            return 0

    def cpu_s(self) -> float | None:
        """Return the CPU seconds of all processes so far; None if the group does not count them."""
        try:
            if self.version == 2:
                return self._figure("cpu.stat", "usage_usec") / 1e6
            return int(_read(f"{self.cpu_directory}/cpuacct.usage")) / 1e9
        except OSError:
            return None

    def out_of_memory_kills(self) -> int:
        """Return how many of its processes the kernel has killed for exceeding the limit."""
        try:
            return self._figure(self._file("memory.oom_control", "memory.events"), "oom_kill")
        except OSError:
            return 0

    def forbid_forks(self) -> None:
        """Forbid new processes, so that killing all of them ends."""
        if self.pids_directory:
            with contextlib.suppress(OSError):
                _write(f"{self.pids_directory}/pids.max", "0")

    def remove(self, timeout_s: float = 2.0) -> bool:
        """Remove the empty group, which stays busy until its last process is reaped. Return False if it could not be
        removed.
        """
        deadline_s = time.monotonic() + timeout_s
        gone = True
        for directory in self._directories():
            while not _remove_directory(directory):
                if time.monotonic() >= deadline_s:
                    gone = False
                    break
                time.sleep(0.01)
        return gone

    def _directories(self) -> list[str]:
        return list(dict.fromkeys(d for d in (self.memory, self.pids_directory, self.cpu_directory) if d))

    def _file(self, version_1: str, version_2: str) -> str:
        return version_1 if self.version == 1 else version_2

    def _figure(self, file: str, name: str) -> int:
        for line in _read(f"{self.memory}/{file}").splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
        return 0


def cpu_weight(version: int, cores_milli: int, promised: bool) -> int:
    """Return the CPU weight of a service."""
    weight = CPU_WEIGHT[version] * (PROMISED_FACTOR if promised else 1) * max(cores_milli, CORES_MILLI_MIN) // 1000
    return min(weight, CPU_WEIGHT_MAX[version])


_MEMSW = "memory.memsw.limit_in_bytes"


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _remove_directory(directory: str) -> bool:
    try:
        os.rmdir(directory)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
