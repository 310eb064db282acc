"""Object server filter that limits how fast replication fills its disks, in bytes per second, for all workers.

    [pipeline:main]
    pipeline = healthcheck recon zoe_replication ... object-server
    [filter:zoe_replication]
    paste.filter_factory = storage_filters.replication:filter_factory
    rates_file = /run/swift/zoe-replication
    limits_from = tcp://controller:5561
    key_file = /etc/swift/zoe.key
    [object-replicator]
    sync_method = ssync

Replicators send with the method SSYNC, which passes filters, unlike rsync. The storage controller pushes the rate
several times a second; the last one holds while it is away, and before the first one there is no limit. `key_file` is
the one of `storage_filters/bandwidth/middleware.py`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from eventlet import spawn_n
from eventlet.green import zmq
from swift.common.utils import get_logger

from storage_filters.bandwidth.controller_connection import addresses, curve_socket
from storage_filters.bandwidth.newest import NewestMessage
from storage_filters.counting.pacing import PacedInput, Uncounted, pace_piece
from storage_filters.counting.rate_table import RateTable, belonging_to

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

METHOD = "SSYNC"
_NAME = "replication"
# No burst after a pause: any window of a second stays within the rate, up to one piece.
_BURST_S = 0.0
_SILENCE_S = 5.0
# Most bytes that the kernel buffers before they are counted; by default it buffers megabytes.
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
        """Pace the data of replicators; pass all other requests on."""
        if env["REQUEST_METHOD"] == METHOD:
            stream = env["wsgi.input"]
            env["wsgi.input"] = PacedInput(stream, stream, self._wait, Uncounted(), _AHEAD_BYTES)
        passed: Iterable[bytes] = self._app(env, start_response)
        return passed

    def _wait(self, length: int, _: bool) -> bool:
        """Count a piece and wait for its time; return whether there is a limit."""
        return pace_piece(self._table, _NAME, "put", length)

    def _listen(self, conf: Mapping[str, str]) -> None:
        limits = curve_socket(zmq.Context().socket(zmq.SUB), conf["key_file"])
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
        if _NAME not in message:  # a module, or a controller without this rate
            return
        order, now_s = (int(message["epoch"]), int(message["seq"])), time.monotonic()
        if newest.is_outdated(order, now_s):
            return
        rate = float(message[_NAME])
        if not rate >= 0:
            raise ValueError(f"{rate} bytes per second")
        self._table.set_rates({(_NAME, "put"): rate}, now_s)
        newest.record(order, now_s)


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], Replication]:
    """Return the filter, for paste. Its file belongs to the server's user, even while root starts the server."""

    def build(app: Any) -> Replication:
        with belonging_to(global_conf.get("user", "swift")):
            return Replication(app, local_conf)

    return build
