"""A control group of its own for what one command starts, to count CPU seconds that no parent has waited for.

The second version of control groups counts CPU in every group, without a controller. Where this process may not make a
group, there is none, and the command runs as it would anyway.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

MOUNTS, OWN = Path("/proc/self/mounts"), Path("/proc/self/cgroup")
ENGINES_PARENT = "ZOE_TEST_ENGINES_PARENT"
"""The group below which engines of tests put their containers, so that these count."""
COUNTED = "ZOE_TEST_CPU_GROUP"
"""The directory of the group in which the tests run."""
_COMMAND_CHARACTERS_MAX = 200
_CLOSE_S = 2.0
_NUMBERS = itertools.count(1)
# The shell moves itself, so everything of the command counts; without the permission it goes on where it is.
_ENTER = 'echo 0 2>/dev/null >"$0"; exec "$@"'


class CpuGroup:
    """A group below that of this process."""

    def __init__(self, path: Path, for_engines: str = "") -> None:
        self._path = path
        self.environment = {COUNTED: str(path), ENGINES_PARENT: for_engines}
        """What tests in this group are told of it."""

    @classmethod
    def make(cls, name: str) -> CpuGroup | None:
        """Make one; None if the machine does not let this process do so."""
        with contextlib.suppress(OSError, StopIteration):
            mounts = (line.split() for line in MOUNTS.read_text().splitlines())
            point = next(Path(fields[1]) for fields in mounts if fields[2] == "cgroup2")
            own = next(line[3:] for line in OWN.read_text().splitlines() if line.startswith("0::"))
            above = Path(f"{point}{own}")
            path = above / f"zoe-tests-{os.getpid()}-{next(_NUMBERS)}-{name.replace(' ', '-')}"
            path.mkdir()
            if os.access(path / "cgroup.procs", os.W_OK) and used_s(path) is not None:
                # A group with processes, such as this one, cannot hold containers with limits of the second version.
                limited = "memory" in (path / "cgroup.controllers").read_text().split()
                return cls(path, "" if limited else f"/{path.relative_to(point)}")
            path.rmdir()
        return None

    def command(self, command: Sequence[str]) -> list[str]:
        """Return a command that does the same in this group."""
        return ["/bin/sh", "-c", _ENTER, str(self._path / "cgroup.procs"), *command]

    def end(self) -> None:
        """End everything that still runs here, as nobody else will once its parent was killed."""
        give_up_s = time.monotonic() + _CLOSE_S
        while (left := list(self._pids())) and time.monotonic() < give_up_s:
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def left(self) -> list[str]:
        """Return the commands of what still runs here."""
        found = []
        for pid in self._pids():
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline())[:_COMMAND_CHARACTERS_MAX] or process.name())
        return sorted(found)

    def close(self) -> float | None:
        """Return the CPU seconds of everything that ran here, None if nothing could enter it; remove the group.

        What still runs is moved to the group above. A group that others have made here and use still stays.
        """
        counted_s = used_s(self._path)
        give_up_s = time.monotonic() + _CLOSE_S
        while self._path.exists() and time.monotonic() < give_up_s:
            for folder, _, _ in os.walk(self._path, topdown=False):
                with contextlib.suppress(OSError):
                    for pid in (Path(folder) / "cgroup.procs").read_text().split():
                        with contextlib.suppress(OSError):  # it has ended meanwhile
                            (self._path.parent / "cgroup.procs").write_text(pid)
                    Path(folder).rmdir()
            time.sleep(0.02)
        return counted_s or None

    def _pids(self) -> Iterator[int]:
        for folder, _, _ in os.walk(self._path):
            with contextlib.suppress(OSError):
                yield from map(int, (Path(folder) / "cgroup.procs").read_text().split())


def used_s(group: Path) -> float | None:
    """Return the CPU seconds of everything that has run in a group so far; None if it does not count them."""
    with contextlib.suppress(OSError, KeyError, ValueError):
        lines = (group / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6
    return None
