"""A separate control group for the programs of a command, to count CPU seconds of processes that no parent waited for.

The second version of control groups counts CPU in every group, without a controller. If this process may not make a
group, the command runs without one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

MOUNTS, OWN = Path("/proc/self/mounts"), Path("/proc/self/cgroup")
ENGINES_PARENT = "ZOE_TEST_ENGINES_PARENT"
"""The group below which engines of tests put their containers, so that these count."""
COUNTED = "ZOE_TEST_CPU_GROUP"
"""The directory of the group in which the tests run."""
LEAVE_S = 5.0
"""Seconds for programs that outlived their parent to end: some are dismantling engines then."""
_REMOVE_S = 2.0
_COMMAND_CHARACTERS_MAX = 200
_NUMBERS = itertools.count(1)
# The shell moves itself, so everything of the command counts; without the permission it stays where it is.
_ENTER = 'echo 0 2>/dev/null >"$0"; exec "$@"'


class CpuGroup:
    """A group below that of this process; without a path, no group."""

    def __init__(self, path: Path | None = None, for_engines: str = "") -> None:
        self.path = path
        self.environment = {COUNTED: str(path or ""), ENGINES_PARENT: for_engines}
        """Variables for the tests in this group."""

    @classmethod
    def make(cls) -> CpuGroup:
        """Create a group; without a path if the machine does not allow it."""
        with contextlib.suppress(OSError, StopIteration):
            mounts = (line.split() for line in MOUNTS.read_text().splitlines())
            point = next(Path(fields[1]) for fields in mounts if fields[2] == "cgroup2")
            own = next(line[3:] for line in OWN.read_text().splitlines() if line.startswith("0::"))
            path = Path(f"{point}{own}") / f"zoe-tests-{os.getpid()}-{next(_NUMBERS)}"
            path.mkdir()
            if os.access(path / "cgroup.procs", os.W_OK) and used_s(path) is not None:
                # A group with processes, such as this one, cannot hold containers with limits of the second version.
                limited = "memory" in (path / "cgroup.controllers").read_text().split()
                return cls(path, "" if limited else f"/{path.relative_to(point)}")
            path.rmdir()
        return cls()

    def command(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs another one in this group."""
        return ["/bin/sh", "-c", _ENTER, str(self.path / "cgroup.procs"), *command] if self.path else [*command]

    def end(self) -> tuple[list[str], float | None]:
        """End the remaining processes, and remove the group.

        Returns their commands, and the CPU seconds of all processes; None if none could enter it.
        """
        if self.path is None:
            return [], None
        left = _commands_in(self.path)
        if psutil.wait_procs(left, LEAVE_S)[1]:
            with contextlib.suppress(OSError):
                (self.path / "cgroup.kill").write_text("1")  # since Linux 5.14, with all groups below
        used, give_up_s = used_s(self.path), time.monotonic() + _REMOVE_S
        while self.path.exists() and time.monotonic() < give_up_s:  # a process leaves it a moment after its end
            for folder, _, _ in os.walk(self.path, topdown=False):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
        return sorted(left.values()), used or None


def used_s(group: Path) -> float | None:
    """Return the CPU seconds of everything that has run in a group so far; None if it does not count them."""
    with contextlib.suppress(OSError, KeyError, ValueError):
        lines = (group / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6
    return None


def _commands_in(group: Path) -> dict[psutil.Process, str]:
    """Return the processes of a group and of those below, and their commands."""
    found = dict[psutil.Process, str]()
    for file in group.rglob("cgroup.procs"):
        for pid in file.read_text().split():
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(int(pid))
                found[process] = " ".join(process.cmdline())[:_COMMAND_CHARACTERS_MAX] or process.name()
    return found
