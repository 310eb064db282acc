"""Read processes from /proc, without any library."""

from __future__ import annotations

import os

CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Process:
    """One line of /proc/PID/stat; CPU includes children it waited for. (NamedTuple would cost 3 ms a start.)"""

    __slots__ = ("cpu_s", "group", "memory_bytes", "parent", "pid", "session", "start_ticks", "state")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.session = int(fields[3])
        self.cpu_s = sum(int(ticks) for ticks in fields[11:15]) / CLOCK_TICKS_PER_S
        self.start_ticks = int(fields[19])
        self.memory_bytes = int(fields[21]) * PAGE_BYTES


def read_process(pid: int) -> Process | None:
    """Return the process, or None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name in parentheses may hold any character, so fields are counted after the last parenthesis.
    return Process(pid, text[text.rindex(b")") + 2 :].split())


def start_ticks(pid: int) -> int | None:
    """Return when the process began, in ticks since boot; together with the pid it identifies one process. None if
    gone.
    """
    process = read_process(pid)
    return process.start_ticks if process else None


def pids() -> list[int]:
    """Return the numbers of every process of the machine."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def all_processes() -> dict[int, Process]:
    """Return every process of the machine by pid."""
    found = (read_process(pid) for pid in pids())
    return {process.pid: process for process in found if process is not None}


def descendants(root: int) -> list[int]:
    """Return all children of `root`, their children and so on."""
    found: list[int] = []
    ahead = children(root)
    while ahead:
        pid = ahead.pop()
        found.append(pid)
        ahead.extend(children(pid))
    return found


def children(pid: int) -> list[int]:
    """Return the children of all threads of a process; walks over all processes if the kernel keeps no such list."""
    if not os.path.exists("/proc/self/task") or not _kernel_lists_children():
        return [process.pid for process in all_processes().values() if process.parent == pid]
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.extend(int(child) for child in file.read().split())
    except OSError:
        return found
    return found


def proportional_memory_bytes(pid: int) -> int:
    """Return resident memory with shared pages divided among their users; 0 if it may not be read."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def _kernel_lists_children() -> bool:
    pid = os.getpid()
    return os.path.exists(f"/proc/{pid}/task/{pid}/children")
