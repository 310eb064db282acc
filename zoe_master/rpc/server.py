"""Keeps the master's ZeroMQ side open while it leads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import structlog
import zmq

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.messaging.server import Handler, Server, Slow

log = structlog.get_logger(__name__)

# A paused master keeps the address for a while, so this is no reason to end.
_HINT = "if another program has this address, end it, or change master_endpoint (ZOE_MASTER_ENDPOINT)"
_RETRY_S = 1.0


class RpcServer:
    """A server that is opened as soon as its endpoint is free.

    A paused earlier master may still hold it: applications must not wait for that, only requests do.
    """

    def __init__(
        self,
        endpoint: str,
        keys_dir: Path,
        handlers: Mapping[str, Handler],
        slow: Mapping[str, Slow],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._endpoint = endpoint
        self._keys_dir = keys_dir
        self._handlers = handlers
        self._slow = slow
        self._server: Server | None = None
        self._tried_at_s = float("-inf")

    def __enter__(self) -> RpcServer:
        self.ensure()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._server is not None:
            self._server.close()

    def ensure(self) -> None:
        """Open the server if it is not open and was not just tried."""
        if self._server is not None or self._clock.monotonic_s() < self._tried_at_s + _RETRY_S:
            return
        self._tried_at_s = self._clock.monotonic_s()
        try:
            self._server = Server(self._endpoint, self._keys_dir, self._handlers, self._slow)
        except (zmq.ZMQError, OSError) as error:
            log.warning("cannot answer questions yet", endpoint=self._endpoint, why=str(error), hint=_HINT)
