"""A control group of its own for what one command starts, to count CPU seconds that no parent has waited for.

The second version counts CPU in every group, without a controller; the first one needs `cpuacct`. A machine on which
neither lets a group be made has none, and the command runs as it would anyway.
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

MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
ENGINES_PARENT = "ZOE_TEST_ENGINES_PARENT"
"""The group below which engines of tests put their containers."""
COUNTED = "ZOE_TEST_CPU_GROUP"
"""The directory of the group in which the tests run."""
COMMAND_CHARACTERS_MAX = 200
_CLOSE_S = 2.0
_NUMBERS = itertools.count(1)
# The shell moves itself, so everything of the command counts; without the permission it goes on where it is.
_ENTER = 'echo 0 2>/dev/null >"$0"; exec "$@"'


class CpuGroup:
    """A group below that of this process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def make(cls, name: str) -> CpuGroup | None:
        """Make one; None if the machine does not let this process do so."""
        for _, above in _places():
            path = above / f"zoe-tests-{os.getpid()}-{next(_NUMBERS)}-{name.replace(' ', '-')}"
            with contextlib.suppress(OSError):
                path.mkdir()
                group = cls(path)
                if os.access(path / "cgroup.procs", os.W_OK) and used_s(path) is not None:
                    return group
                path.rmdir()
        return None

    def command(self, command: Sequence[str]) -> list[str]:
        """Return a command that does the same in this group."""
        return ["/bin/sh", "-c", _ENTER, str(self._path / "cgroup.procs"), *command]

    @property
    def environment(self) -> dict[str, str]:
        """Return what tests in this group are told of it."""
        return {COUNTED: str(self._path), ENGINES_PARENT: self.for_engines}

    @property
    def for_engines(self) -> str:
        """Return the group as an engine knows it, for its option `--cgroup-parent`; "" if it may not hold containers.

        An engine puts containers into groups of all hierarchies, outside of its own. In the second version, a group
        with processes, such as this one, cannot hold others that are limited.
        """
        for point, place in _places():
            if self._path.parent == place and "memory" not in _controllers(place):
                return f"/{self._path.relative_to(point)}"
        return ""

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
                    found.append(" ".join(process.cmdline())[:COMMAND_CHARACTERS_MAX] or process.name())
        return sorted(found)

    def _pids(self) -> Iterator[int]:
        for folder, _, _ in os.walk(self._path):
            with contextlib.suppress(OSError):
                yield from map(int, (Path(folder) / "cgroup.procs").read_text().split())

    def close(self) -> float | None:
        """Return the CPU seconds of everything that ran here; remove the group. None if nothing could enter it.

        What still runs is moved to the group above. A group that others have made here and use still stays.
        """
        counted_s = used_s(self._path)
        give_up_s = time.monotonic() + _CLOSE_S
        while not self._removed() and time.monotonic() < give_up_s:
            time.sleep(0.02)
        return counted_s or None

    def _removed(self) -> bool:
        for folder, _, _ in os.walk(self._path, topdown=False):
            with contextlib.suppress(OSError):
                for pid in (Path(folder) / "cgroup.procs").read_text().split():
                    with contextlib.suppress(OSError):  # it has ended meanwhile
                        (self._path.parent / "cgroup.procs").write_text(pid)
                Path(folder).rmdir()
        return not self._path.exists()


def used_s(group: Path) -> float | None:
    """Return the CPU seconds of everything that has run in a group so far; None if it does not count them."""
    with contextlib.suppress(OSError, KeyError, ValueError):
        lines = (group / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6
    with contextlib.suppress(OSError, ValueError):
        return int((group / "cpuacct.usage").read_text()) / 1e9
    return None


def _places() -> Iterator[tuple[Path, Path]]:
    """Yield mount points and this process's groups where CPU is counted: of the second version, then `cpuacct`."""
    try:
        own = [line.split(":", 2) for line in OWN.read_text().splitlines()]
        mounts = [line.split() for line in MOUNTS.read_text().splitlines()]
    except OSError:
        return
    for kind, controller in (("cgroup2", ""), ("cgroup", "cpuacct")):
        paths = [path for _, controllers, path in own if controller in controllers.split(",")]
        for fields in mounts:
            root, point, (found, _, options) = fields[3], Path(fields[4]), fields[fields.index("-") + 1 :][:3]
            if found == kind and (not controller or controller in options.split(",")):
                below = (os.path.relpath(path, root) for path in paths)
                yield from ((point, point / path) for path in below if not path.startswith(".."))  # a container's part


def _controllers(group: Path) -> list[str]:
    """Return the controllers of a group of the second version; nothing for one of the first."""
    try:
        return (group / "cgroup.controllers").read_text().split()
    except OSError:
        return []
