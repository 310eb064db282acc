"""Move bytes between the pipes of a terminal and the connection to a command in a container."""

from __future__ import annotations

import os
import select
import threading

from zoe_master.backends.terminal.engine_api import ContainerStream

_BUFFER_BYTES_MAX = 64 * 1024
_READ_BYTES = 32 * 1024
_HEAD_BYTES, _ERRORS = 8, 2
_LOOK_S = 1.0


class ExecTransfer(threading.Thread):
    """Ends with the connection, after delivering everything, or with `stop`. It owns the given descriptors.

    `outputs`: descriptors for output and for errors; equal with a pseudo-terminal. Buffers are bounded: it reads no
    more than the other side takes.
    """

    def __init__(self, stream: ContainerStream, input_: int, outputs: list[int]) -> None:
        super().__init__(name="zoe-exec", daemon=True)
        self._stream = stream
        self._input = input_
        self._frames = len(outputs) > 1
        self._pending = {descriptor: bytearray() for descriptor in outputs}
        self._outputs = outputs
        self._received = bytearray()
        self._input_ended = False
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Make it end soon."""
        self._stopping.set()

    def run(self) -> None:
        """Move bytes until the end."""
        try:
            self._take(self._stream.early())
            while not self._stopping.is_set() and not (self._stream.ended and not any(self._pending.values())):
                self._turn()
        finally:
            self._stream.close()
            for descriptor in (self._input, *self._outputs):
                if descriptor >= 0:
                    os.close(descriptor)

    def _turn(self) -> None:
        poll = select.poll()
        wanted: dict[int, int] = {}
        if not self._stream.ended:
            room = sum(map(len, self._pending.values())) < _BUFFER_BYTES_MAX
            wanted[self._stream.fileno()] = (select.POLLIN if room else 0) | (
                select.POLLOUT if self._stream.outgoing else 0
            )
        if self._input >= 0 and len(self._stream.outgoing) < _BUFFER_BYTES_MAX:
            wanted[self._input] = select.POLLIN
        wanted |= {descriptor: select.POLLOUT for descriptor, data in self._pending.items() if data}
        for descriptor, events in wanted.items():
            if events:
                poll.register(descriptor, events)
        ready = dict(poll.poll(_LOOK_S * 1000))
        if ready.get(self._input, 0):
            self._read_input()
        if ready.get(self._stream.fileno(), 0) & ~select.POLLOUT:
            self._take(self._stream.receive())
        self._stream.send(b"")
        if self._input_ended and not self._stream.outgoing:
            self._input_ended = False
            self._stream.end_input()
        for descriptor, data in self._pending.items():
            if data and ready.get(descriptor, 0):
                self._deliver(descriptor, data)

    def _read_input(self) -> None:
        data = os.read(self._input, _READ_BYTES)
        if data:
            self._stream.send(data)
            return
        os.close(self._input)
        self._input = -1
        self._input_ended = True

    def _take(self, data: bytes) -> None:
        """Queue output for its reader; without a pseudo-terminal it arrives in frames: kind, three zeros and length."""
        if not self._frames:
            self._pending[self._outputs[0]] += data
            return
        self._received += data
        while len(self._received) >= _HEAD_BYTES:
            end = _HEAD_BYTES + int.from_bytes(self._received[4:_HEAD_BYTES], "big")
            piece = self._received[_HEAD_BYTES:end]
            self._pending[self._outputs[1 if self._received[0] == _ERRORS else 0]] += piece
            if end > len(self._received):  # the rest of a long frame is a frame, too
                self._received[4:_HEAD_BYTES] = (end - len(self._received)).to_bytes(4, "big")
                del self._received[_HEAD_BYTES:]
                return
            del self._received[:end]

    def _deliver(self, descriptor: int, data: bytearray) -> None:
        try:
            del data[: os.write(descriptor, data)]
        except BlockingIOError:
            return
        except OSError:
            data.clear()  # its reader is gone
