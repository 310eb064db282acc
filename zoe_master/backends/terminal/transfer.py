"""Move bytes between one connection and one program, within the window of each side."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import time

from zoe_client.calls import frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zoe_master.backends.terminal.container_exec import ContainerExec
    from zoe_master.backends.terminal.program import TerminalProcess

_LOOK_S = 1.0
_SEND_BYTES_MAX = 128 * 1024
_FLUSH_S, _CLOSE_S = 30.0, 5.0


class TerminalTransfer:
    """Ends with the program, the connection, or when `over`, called each second, returns a reason."""

    def __init__(
        self,
        connection: socket.socket,
        program: TerminalProcess | ContainerExec,
        wakeups: list[int],
        over: Callable[[], str | None],
    ) -> None:
        self._connection = connection
        self._program = program
        self._wakeups = wakeups
        self._over = over
        self._received, self._unsent, self._input = bytearray(), bytearray(), bytearray()
        self._untaken = 0
        self._input_ends = False
        self._kinds = dict(zip(program.outputs, (frames.OUTPUT, frames.ERRORS), strict=False))
        connection.setblocking(False)

    def run(self) -> None:
        """Return after all bytes are delivered, or the client is gone."""
        look_at_s = 0.0
        while self._connection.fileno() >= 0:
            self._poll()
            self._program.reap()
            if time.monotonic() >= look_at_s:
                look_at_s = time.monotonic() + _LOOK_S
                reason = self._over()
                if reason is not None:
                    self._send_end(self._program.exit_code, reason)
                    return
            if self._program.exit_code is not None and not self._kinds and not self._unsent:
                self._send_end(self._program.exit_code, "")
                return

    def _poll(self) -> None:
        poll = select.poll()
        poll.register(self._connection, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        for descriptor in self._wakeups:
            poll.register(descriptor, select.POLLIN)
        wanted = dict.fromkeys(self._kinds, select.POLLIN) if self._may_read() else {}
        if self._input and self._program.input >= 0:
            wanted[self._program.input] = wanted.get(self._program.input, 0) | select.POLLOUT
        for descriptor, events in wanted.items():
            poll.register(descriptor, events)
        ended = self._program.exit_code is not None
        ready = dict(poll.poll(0 if ended and self._may_read() and self._kinds else _LOOK_S * 1000))
        self._drain_wakeups(ready)
        if ready.get(self._connection.fileno(), 0):
            self._receive()
            self._send()
        if ready.get(self._program.input, 0) & ~select.POLLIN:
            self._write()
        if self._may_read():
            self._read(ready, ended)

    def _may_read(self) -> bool:
        return self._untaken < frames.WINDOW and len(self._unsent) < _SEND_BYTES_MAX

    def _drain_wakeups(self, ready: dict[int, int]) -> None:
        for descriptor in self._wakeups:
            if ready.get(descriptor, 0) and not os.read(descriptor, 4096):
                self._connection.close()  # the client's permission has ended

    def _read(self, ready: dict[int, int], ended: bool) -> None:
        for descriptor, kind in list(self._kinds.items()):
            # The remaining output of an ended program is available now; its children may keep the other end open for
            # ever.
            if not ended and not ready.get(descriptor, 0) & ~select.POLLOUT:
                continue
            data = self._program.read(descriptor)
            if data:
                self._untaken += len(data)
                self._queue(kind + data)
            elif data == b"" or ended:
                del self._kinds[descriptor]

    def _write(self) -> None:
        count = self._program.write(bytes(self._input[: frames.CONTENT_MAX]))
        del self._input[:count]
        if count:
            self._queue(frames.taken_message(count))
        self._end_input()

    def _end_input(self) -> None:
        if self._input_ends and not self._input:
            self._input_ends = False
            self._program.end_input()

    def _receive(self) -> None:
        try:
            data = self._connection.recv(frames.CONTENT_MAX)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._connection.close()
            return
        self._received += data
        try:
            while (message := frames.next_frame(self._received)) is not None:
                self._obey(message[:1], message[1:])
        except frames.FrameError:
            self._connection.close()

    def _obey(self, kind: bytes, content: bytes) -> None:
        if kind == frames.INPUT:
            if len(self._input) + len(content) > frames.WINDOW:
                raise frames.FrameError(
                    f"the client sent more than {frames.WINDOW} bytes without waiting for an acknowledgement"
                )
            self._input += content
            self._write()
        elif kind == frames.INPUT_END:
            self._input_ends = True
            self._end_input()
        elif kind == frames.SIZE:
            self._program.resize(*frames.size_of(content))
        elif kind == frames.TAKEN:
            self._untaken = max(0, self._untaken - frames.count_of(content))
        else:
            raise frames.FrameError("an unknown kind")

    def _queue(self, message: bytes) -> None:
        self._unsent += frames.add_length(message)
        self._send()

    def _send(self) -> None:
        if self._unsent and self._connection.fileno() >= 0:
            try:
                del self._unsent[: self._connection.send(self._unsent)]
            except BlockingIOError:
                return
            except OSError:
                self._connection.close()

    def _send_end(self, exit_code: int | None, message: str) -> None:
        self._queue(frames.EXIT + json.dumps({"exit_code": exit_code, "message": message}).encode())
        until_s = time.monotonic() + _FLUSH_S
        while self._unsent and self._connection.fileno() >= 0 and time.monotonic() < until_s:
            select.select([], [self._connection], [], _LOOK_S)
            self._send()
        self._close_after_reading()

    def _close_after_reading(self) -> None:
        """Close after the other side: closing before it has read everything would discard sent bytes."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
            self._connection.settimeout(_CLOSE_S)
            until_s = time.monotonic() + _CLOSE_S
            while self._connection.recv(frames.CONTENT_MAX) and time.monotonic() < until_s:
                pass
        self._connection.close()
