"""Swift's servers as processes that begin with everything imported, which is most of the CPU time of their start.

They behave like executed programs, with separate configurations, accounts and logs.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import threading
from functools import cache
from typing import Any, cast

from tests.support import swift_fork_server
from zoe_embedded.swift.store import ObjectStore


class ForkedStore(ObjectStore):
    """An object store whose servers are forked."""

    def _spawn(self, name: str, command: list[str]) -> None:
        python, *rest = command
        if rest[0] != "-c":
            super()._spawn(name, command)
            return
        # Without a copier, which limits the file: it is a separate program, and costs as much as the server's start.
        with (self.directory / f"{name}.log").open("ab") as log:
            process = ForkedScript(forks(python), rest[1], rest[2:], (self._uid, self._gid), log.fileno())
        self._processes[name] = cast("subprocess.Popen[bytes]", process)

    def _run(self, command: list[str]) -> None:
        python, _, text, *arguments = command
        process = ForkedScript(forks(python), text, arguments, (self._uid, self._gid), 2)
        if code := process.wait():
            raise subprocess.CalledProcessError(code, command)


class Forks:
    """The process that forks, for one interpreter."""

    def __init__(self, python: str) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [python, "-P", swift_fork_server.__file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd="/")
        self._lock = threading.Lock()
        # Waited for at the end, so that nothing is left behind and the CPU time of all is counted.
        atexit.register(self.close)

    def ask(self, message: object, log: int | None = None) -> Any:
        """Return the answer to a message; see the server's module."""
        with self._lock:
            socket.send_fds(self._line, [json.dumps(message).encode()], [] if log is None else [log])
            answer = self._line.recv(swift_fork_server.MESSAGE_BYTES_MAX)
        assert answer, "the process that forks Swift's servers has ended"
        return json.loads(answer)

    def close(self) -> None:
        self._line.close()
        self._process.wait()


@cache
def forks(python: str) -> Forks:
    """Return the one of this process, which starts with the first store."""
    return Forks(python)


class ForkedScript:
    """A process like that of `subprocess.Popen`, as far as a store uses one."""

    def __init__(
        self, of: Forks, text: str, arguments: list[str], ids: tuple[int | None, int | None], log: int
    ) -> None:
        self._forks = of
        uid, gid = ids
        self.pid: int = of.ask({"text": text, "arguments": arguments, "uid": uid, "gid": gid}, log)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._forks.ask(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.poll() is None:
            ended = os.pidfd_open(self.pid)  # it stays readable until the server has asked for the code
            try:
                select.select([ended], [], [], timeout)
            finally:
                os.close(ended)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
