"""Limit the size of messages that never end.

ZeroMQ keeps the frames of a message until its last one arrives. It can limit the size of a frame, but not their number.
The kernel knows how much each connection has received: a connection that has received far more than a message since its
last complete one is ended, and ZeroMQ then discards its frames.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any

import structlog
import zmq
from zmq.utils.monitor import parse_monitor_message

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.messaging.envelope import MESSAGE_BYTES_MAX

log = structlog.get_logger(__name__)

UNFINISHED_BYTES_MAX = 4 * MESSAGE_BYTES_MAX
"""A question is smaller than two of the largest frames."""
LOOK_S = 0.25
# While messages keep coming, complete ones may not have been taken yet; but a flood must not postpone the check.
_LOOK_S_MAX = 2.0
_TCP_INFO_BYTES_RECEIVED = slice(128, 136)  # struct tcp_info of Linux


class UnfinishedMessages:
    """Watches the TCP connections of a listening socket, in the thread that uses it. `ipc:` connections do not
    count.
    """

    def __init__(self, front: zmq.Socket[bytes], clock: Clock = SYSTEM_CLOCK) -> None:
        self._front = front
        self._clock = clock
        self._events: Any = front.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
        self._received_before: dict[int, int] = {}
        self._finished: set[int] = set()
        self._looked_at_s = clock.monotonic_s()

    def __enter__(self) -> UnfinishedMessages:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._events.close()

    def note_complete(self, frame: zmq.Frame) -> None:
        """Record that a message with this last frame has been taken."""
        self._finished.add(frame.get(zmq.SRCFD))

    def look(self, more_to_take: bool) -> None:
        """End connections with too long an unfinished message, if a check is due."""
        since_s = self._clock.monotonic_s() - self._looked_at_s
        if since_s < (_LOOK_S_MAX if more_to_take else LOOK_S):
            return
        self._looked_at_s = self._clock.monotonic_s()
        self._note_connections()
        for descriptor, before in self._received_before.items():
            received = self._end_if_beyond(descriptor, before + UNFINISHED_BYTES_MAX)
            if descriptor in self._finished:
                self._received_before[descriptor] = received
        self._finished.clear()

    def _note_connections(self) -> None:
        while self._events.poll(0):
            event: Any = parse_monitor_message(self._events.recv_multipart())
            if event["event"] == zmq.EVENT_ACCEPTED:
                self._received_before[event["value"]] = 0
            else:
                self._received_before.pop(event["value"], None)

    def _end_if_beyond(self, descriptor: int, most: int) -> int:
        """Return how many bytes a connection has received; end it if that is more than `most` and no message was
        complete.

        ZeroMQ may have closed the descriptor, and another file may have it now: only TCP connections count.
        """
        try:
            with socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as connection:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
                received = int.from_bytes(info[_TCP_INFO_BYTES_RECEIVED], "little")
                if received > most and descriptor not in self._finished and self._is_accepted_here(connection):
                    log.warning("connection ended: its message has no end", received_bytes=received)
                    connection.shutdown(socket.SHUT_RDWR)
                return received
        except OSError:
            return 0

    def _is_accepted_here(self, connection: socket.socket) -> bool:
        endpoint = self._front.getsockopt_string(zmq.LAST_ENDPOINT)
        return endpoint.rpartition(":")[2] == str(connection.getsockname()[1])
