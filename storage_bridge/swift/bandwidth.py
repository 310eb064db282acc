"""A filter of the proxy: bytes per second of each account, for GET and for PUT, shared by all workers of this proxy.

    [pipeline:main]
    pipeline = ... proxy-logging zoe_bandwidth cache ... <authentication> ... proxy-server
    [filter:zoe_bandwidth]
    paste.filter_factory = storage_bridge.swift.bandwidth:filter_factory
    rates_file = /run/swift/zoe-rates
    proxy_name = proxy1
    limits_from = tcp://controller:5561
    usage_to = tcp://controller:5562
    key_file = /etc/swift/zoe.key

The storage controller pushes limits and is told each second what was moved, so no request waits for a network call.
`key_file` has three lines, in Z85: the controller's public key, this proxy's public key and its secret one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from eventlet import sleep, spawn_n
from swift.common.utils import close_if_possible, config_true_value, get_logger

from storage_bridge.swift.limits import LimitsAgent
from storage_bridge.swift.rate_table import Direction, RateTable

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

PIECE_BYTES = 64 * 1024
_LOOK_S = 0.25  # how soon who waits by an old rate notices a new one
_ACCOUNT_PATH_PARTS = 3
_VERSIONS = ("v1", "v1.0")
_PIECES_A_TURN = (1, 2, 3)


class Bandwidth:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str]) -> None:
        self._app = app
        self._logger = get_logger(conf, log_route="zoe-bandwidth")
        self._table = RateTable(Path(conf["rates_file"]), float(conf.get("burst_s", "0.5")))
        if config_true_value(conf.get("connected", "limits_from" in conf)):
            agent = LimitsAgent(self._table, conf, self._logger)
            spawn_n(agent.run)

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pace what is read and written in the name of an account."""
        parts = env["PATH_INFO"].split("/", _ACCOUNT_PATH_PARTS)
        if len(parts) < _ACCOUNT_PATH_PARTS or parts[1] not in _VERSIONS or not parts[2]:
            passed: Iterable[bytes] = self._app(env, start_response)
            return passed
        account = parts[2]
        if env["REQUEST_METHOD"] in ("PUT", "POST"):
            env["wsgi.input"] = PacedInput(env["wsgi.input"], lambda *piece: self._wait(account, "put", *piece))
        statuses: list[str] = []

        def started(status: str, *more: Any) -> Any:
            statuses.append(status)
            return start_response(status, *more)

        return self._paced(self._app(env, started), account, statuses)

    def _paced(self, body: Iterable[bytes], account: str, statuses: list[str]) -> Iterator[bytes]:
        """Only what was granted counts: names that somebody made up get no place in the table."""
        try:
            for chunk in body:
                if not statuses or not statuses[-1].startswith("2"):
                    yield chunk
                    continue
                for start in range(0, len(chunk), PIECE_BYTES):
                    piece = chunk[start : start + PIECE_BYTES]
                    self._wait(account, "get", len(piece))
                    yield piece
        finally:
            close_if_possible(body)

    def _wait(self, account: str, direction: Direction, length: int, its_turn: bool = True) -> None:
        """Count a piece and wait for its time; one that is not to wait is counted only, and the next waits for both."""
        turn = self._table.turn(account, direction, length, time.monotonic())
        if not its_turn or turn.wait_s <= 0:
            return
        until_s = time.monotonic() + turn.wait_s
        while (left_s := until_s - time.monotonic()) > 0:
            sleep(min(left_s, _LOOK_S))
            if self._table.version(account, direction) != turn.version:
                return


class PacedInput:
    """A request's body, read no faster than its account may write.

    Each waits before every first, second or third piece, by lot: bodies of one account that advanced in step would end
    at once, and then all of them would wait for the disks.
    """

    def __init__(self, stream: Any, wait: Callable[[int, bool], None]) -> None:
        self._stream = stream
        self._wait = wait
        self._every = random.choice(_PIECES_A_TURN)
        self._pieces = 0

    def read(self, length: int = -1, *rest: Any, **more: Any) -> bytes:
        """As the stream does."""
        return self._waited(self._stream.read(length, *rest, **more))

    def readline(self, *arguments: Any, **more: Any) -> bytes:
        """As the stream does."""
        return self._waited(self._stream.readline(*arguments, **more))

    def __iter__(self) -> Iterator[bytes]:
        for line in self._stream:
            yield self._waited(line)

    def __getattr__(self, name: str) -> Any:
        # Swift asks the server's own stream for more, such as for answers to `Expect: 100-continue`.
        return getattr(self._stream, name)

    def _waited(self, data: bytes) -> bytes:
        for start in range(0, len(data), PIECE_BYTES):
            self._pieces += 1
            self._wait(min(PIECE_BYTES, len(data) - start), self._pieces % self._every == 0)
        return data


def filter_factory(_global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], Bandwidth]:
    """For paste."""
    return lambda app: Bandwidth(app, local_conf)
