"""Report to the back-end: files, and a datagram that means "look"."""

from __future__ import annotations

import contextlib
import os
import socket
import time

from . import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .spec import ProcessSpec

UNWRITTEN_S_MAX = 600.0


class ServiceStatus:
    """The content of `status.json`; a failed write is repeated at the next tick."""

    def __init__(self, directory: str, spec: ProcessSpec, free_space: Callable[[], bool]) -> None:
        self._directory = directory
        self._descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._hint = spec["hint"]
        self._free_space = free_space
        self._service_id = spec["service_id"]
        pid = os.getpid()
        self._content: files.Document = {
            "service_id": spec["service_id"],
            "execution_id": spec["execution_id"],
            "node": spec["node"],
            "boot_id": spec["boot_id"],
            "shim_pid": pid,
            "shim_start_ticks": _start_ticks(pid),
            "state": "starting",
            "at_s": time.time(),
        }
        self.unwritten = True

    def __getitem__(self, key: str) -> object:
        return self._content.get(key)

    def note(self, **facts: object) -> None:
        """Add facts to be written with the next change."""
        self._content.update(facts)

    def change(self, state: str, **facts: object) -> None:
        """Enter a new state."""
        self._content.update(facts, state=state, at_s=time.time())
        self.unwritten = True
        self.write()

    def write(self) -> None:
        """Write changed facts, and send a hint; if the disk is full, free space of output for it."""
        while self.unwritten:
            try:
                files.write_json(f"{self._directory}/{files.STATUS}", self._content)
                self.unwritten = False
            except OSError:
                if not self._free_space():
                    return
        self.hint()

    def write_for_certain(self) -> None:
        """Repeat until it is written, since only the supervisor knows the exit code; give up if the directory was
        removed.
        """
        deadline_s = time.monotonic() + UNWRITTEN_S_MAX
        while self.unwritten and time.monotonic() < deadline_s:
            self.write()
            if self.unwritten:
                if os.fstat(self._descriptor).st_nlink == 0:
                    return
                time.sleep(1.0)

    def write_usage(self, cpu_s: float, memory_bytes: int) -> None:
        """Replace `usage.json`; a failed write does not matter, since the next one follows within a second."""
        value = {"cpu_s": round(cpu_s, 3), "memory_bytes": memory_bytes, "at_s": time.time()}
        with contextlib.suppress(OSError):
            files.write_json(f"{self._directory}/{files.USAGE}", value)

    def hint(self) -> None:
        """Wake the back-end if there is one; a lost hint delays it until its next poll, a second later."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(self._service_id.encode(), f"\0{self._hint}")


def _start_ticks(pid: int) -> int | None:
    from .processes import start_ticks

    return start_ticks(pid)
