"""Datagrams from supervisors: "look at this service"."""

from __future__ import annotations

import hashlib
import select
import socket
from pathlib import Path

from zoe_lib.domain.executions.execution import ServiceId

MESSAGE_BYTES_MAX = 512
BATCH_MAX = 256


def hint_name(state_dir: Path) -> str:
    """Return the socket's name, the same for every back-end on that directory, so that supervisors also reach the next
    one.

    The name is in the abstract namespace: no file is left behind and no long path is cut off. Any user of the machine
    may send to it; all that a message causes is a look at a file.
    """
    return "zoe-local-" + hashlib.sha256(str(state_dir).encode()).hexdigest()[:16]


class SupervisorHints:
    """Receives hints; while another back-end holds the name, only regular polling finds changes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._receiver: socket.socket | None = None
        self._wake_read, self._wake_write = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._wake_write.setblocking(False)
        self._bind()

    def wait(self, timeout_s: float) -> set[ServiceId]:
        """Return the services hinted at; none after the timeout, or once `wake` was called."""
        if self._receiver is None:
            self._bind()
        watched = [self._wake_read] + ([self._receiver] if self._receiver is not None else [])
        readable, _, _ = select.select(watched, [], [], timeout_s)
        if self._wake_read in readable:
            self._wake_read.recv(MESSAGE_BYTES_MAX)
        if self._receiver is None or self._receiver not in readable:
            return set()
        return self._drain(self._receiver)

    def wake(self) -> None:
        """Make `wait` return."""
        self._wake_write.send(b"!")

    def close(self) -> None:
        """Release the name."""
        for held in (self._receiver, self._wake_read, self._wake_write):
            if held is not None:
                held.close()

    def _bind(self) -> None:
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.setblocking(False)
        try:
            receiver.bind(f"\0{self._name}")
        except OSError:
            receiver.close()
            return
        self._receiver = receiver

    @staticmethod
    def _drain(receiver: socket.socket) -> set[ServiceId]:
        found: set[ServiceId] = set()
        for _ in range(BATCH_MAX):
            try:
                found.add(receiver.recv(MESSAGE_BYTES_MAX).decode(errors="replace"))
            except BlockingIOError:
                break
        return found
