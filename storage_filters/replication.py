"""A filter of the object server: how fast replication may fill its disks, in bytes per second, for all its workers.

    [pipeline:main]
    pipeline = healthcheck recon zoe_replication ... object-server
    [filter:zoe_replication]
    paste.filter_factory = storage_filters.replication:filter_factory
    rates_file = /run/swift/zoe-replication
    limits_from = tcp://controller:5561
    key_file = /etc/swift/zoe.key
    [object-replicator]
    sync_method = ssync

Replicators send by the verb SSYNC, which passes filters; by rsync, they would not. The storage controller pushes the
rate several times a second; the last one holds while it is away, and before the first one there is no limit.
`key_file` is that of `storage_filters/bandwidth.py`.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from eventlet import sleep, spawn_n
from eventlet.green import zmq
from swift.common.utils import get_logger

from storage_filters.limits import addresses, secured
from storage_filters.newest import NewestMessage
from storage_filters.rate_table import RateTable, belonging_to

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

METHOD = "SSYNC"
PIECE_BYTES = 64 * 1024
_NAME = "replication"
# After a pause, no more may follow at once than a piece: who watches windows of a second sees no burst.
_BURST_S = 0.0
_LOOK_S = 0.25  # how soon a piece that waits at an old rate notices a new one
_SILENCE_S = 5.0
# What the kernel may buffer before it is counted; by default it buffers megabytes.
_AHEAD_BYTES = 64 * 1024


class Replication:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: Mapping[str, str]) -> None:
        self._app = app
        self._logger = get_logger(dict(conf), log_route="zoe-replication")
        self._table = RateTable(Path(conf["rates_file"]), _BURST_S)
        if conf.get("limits_from"):
            spawn_n(self._listen, conf)

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pace what a replicator sends; all other requests pass."""
        if env["REQUEST_METHOD"] == METHOD:
            env["wsgi.input"] = _PacedInput(env["wsgi.input"], self._wait)
        passed: Iterable[bytes] = self._app(env, start_response)
        return passed

    def _wait(self, length: int) -> bool:
        """Count a piece and wait for its time; return whether there is a limit."""
        turn = self._table.turn(_NAME, "put", length, time.monotonic())
        left_s = turn.wait_s
        while left_s > 0:
            sleep(min(left_s, _LOOK_S))
            left_s = self._table.left_s(_NAME, "put", turn.place, time.monotonic())
        return turn.rate > 0

    def _listen(self, conf: Mapping[str, str]) -> None:
        limits = secured(zmq.Context().socket(zmq.SUB), conf["key_file"])
        limits.setsockopt(zmq.SUBSCRIBE, b"")
        for address in addresses(conf["limits_from"]):
            limits.connect(address)
        newest = NewestMessage(_SILENCE_S)
        while True:
            message = limits.recv()
            try:
                self._take(json.loads(message), newest)
            except Exception as error:  # without this loop, the rate would never change again
                self._logger.error("invalid rate of replication: %r", error)

    def _take(self, message: Mapping[str, Any], newest: NewestMessage) -> None:
        if _NAME not in message:  # a module, or a controller that knows nothing of it
            return
        order, now_s = (int(message["epoch"]), int(message["seq"])), time.monotonic()
        if newest.outdated(order, now_s):
            return
        rate = float(message[_NAME])
        if not rate >= 0:
            raise ValueError(f"{rate} bytes per second")
        self._table.set_rates({(_NAME, "put"): rate}, now_s)
        newest.heard(order, now_s)


class _PacedInput:
    """A replicator's body, read no faster than it may fill the disks."""

    def __init__(self, stream: Any, wait: Callable[[int], bool]) -> None:
        self._stream = stream
        self._wait = wait
        self._narrow = False

    def read(self, *arguments: Any, **more: Any) -> bytes:
        """Read like the stream."""
        return self._waited(self._stream.read(*arguments, **more))

    def readline(self, *arguments: Any, **more: Any) -> bytes:
        """Read a line like the stream."""
        return self._waited(self._stream.readline(*arguments, **more))

    def __getattr__(self, name: str) -> Any:
        # Swift asks for the connection, to end it.
        return getattr(self._stream, name)

    def _waited(self, data: bytes) -> bytes:
        for start in range(0, len(data), PIECE_BYTES):
            held = self._wait(min(PIECE_BYTES, len(data) - start))
            if held and not self._narrow:
                self._narrow = True
                self._stream.get_socket().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _AHEAD_BYTES)
        return data


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], Replication]:
    """Return the filter, for paste. Its file belongs to the server's user, also while root starts it."""

    def made(app: Any) -> Replication:
        with belonging_to(global_conf.get("user", "swift")):
            return Replication(app, local_conf)

    return made
