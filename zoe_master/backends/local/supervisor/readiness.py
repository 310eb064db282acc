"""Probe the readiness of the component without blocking."""

from __future__ import annotations

import errno
import os
import select
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .spec import ProbeSpec

# Most components are ready long before the first interval is over, and others wait for them. So the pause is a
# twentieth of the time waited: readiness is detected at most 5 % late, with some hundred probes of a component that
# takes ten seconds.
INTERVAL_S_MIN = 0.01
PATIENCE = 20
ANSWER_S_MAX = 5.0
HTTP_FAILURE = 500
HEAD_BYTES_MAX = 64
READ_BYTES = 65536
# How much of a response is read, and for how long, so that the component does not see its response cut off.
REST_BYTES_MAX = 1 << 20
REST_S_MAX = 1.0


class ReadinessProbe:
    """One connection at a time: `descriptor` and `events` are for poll, `due_at_s` is when to call `advance`."""

    def __init__(self, probe: ProbeSpec, now_s: float) -> None:
        self._probe = probe
        self._began_at_s = now_s
        self._socket: socket.socket | None = None
        self._head = b""
        self._rest_bytes = 0
        self._status: int | None = None
        self.events = 0
        self.due_at_s = now_s
        self.ready = False
        self.problem = "nothing listens"

    @property
    def descriptor(self) -> int | None:
        """Return the connection to watch, if one is open."""
        return self._socket.fileno() if self._socket is not None else None

    def late(self, now_s: float) -> bool:
        """Return whether the time limit has passed."""
        return not self.ready and now_s >= self._began_at_s + self._probe["timeout_s"]

    def advance(self, now_s: float) -> None:
        """Continue as far as possible without blocking."""
        if self.ready:
            return
        try:
            if self._socket is None:
                if now_s >= self.due_at_s:
                    self._connect(now_s)
            elif self.events == select.POLLOUT:
                self._finish_connect()
            else:
                self._read(now_s)
            if self._status is not None and now_s >= self.due_at_s:
                self._judge()
        except OSError as error:
            self._schedule_retry(now_s, error.strerror or str(error))
        if self._socket is not None and now_s >= self.due_at_s:
            self._schedule_retry(now_s, "no answer")

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self, now_s: float) -> None:
        self.due_at_s = now_s + ANSWER_S_MAX
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._head, self._rest_bytes, self._status = b"", 0, None
        self.events = select.POLLOUT
        code = self._socket.connect_ex(("127.0.0.1", self._probe["port"]))
        if code == 0:
            self._finish_connect()
        elif code != errno.EINPROGRESS:
            raise OSError(code, os.strerror(code))

    def _finish_connect(self) -> None:
        assert self._socket is not None
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        if not self._is_connected():
            return
        if self._probe["kind"] == "tcp":
            self._set_ready()
            return
        request = f"GET {self._probe['path']} HTTP/1.0\r\nHost: 127.0.0.1:{self._probe['port']}\r\n\r\n"
        self._socket.send(request.encode("latin-1", "replace"))
        self.events = select.POLLIN

    def _is_connected(self) -> bool:
        assert self._socket is not None
        try:
            self._socket.getpeername()
        except OSError:
            return False
        return True

    def _read(self, now_s: float) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        if self._status is None:
            self._head += data[:HEAD_BYTES_MAX]
            if len(self._head.split(b" ", 2)) < 3 and data and len(self._head) < HEAD_BYTES_MAX:
                return
            self._status = self._status_of_head()
            self.due_at_s = min(self.due_at_s, now_s + REST_S_MAX)
        self._rest_bytes += len(data)
        if not data or self._rest_bytes >= REST_BYTES_MAX:
            self._judge()

    def _status_of_head(self) -> int:
        words = self._head.split(b" ", 2)
        if not words[0].startswith(b"HTTP/") or len(words) < 2 or not words[1][:3].isdigit():
            raise OSError("the answer is not HTTP")
        return int(words[1][:3])

    def _judge(self) -> None:
        if self._status is not None and self._status >= HTTP_FAILURE:
            raise OSError(f"HTTP status {self._status}")
        self._set_ready()

    def _set_ready(self) -> None:
        self.ready = True
        self.close()

    def _schedule_retry(self, now_s: float, problem: str) -> None:
        self.problem = problem
        self.close()
        pause_s = max(INTERVAL_S_MIN, (now_s - self._began_at_s) / PATIENCE)
        self.due_at_s = now_s + min(pause_s, self._probe["interval_s"])
