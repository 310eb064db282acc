"""Limits on connections to this process: their number, in total and per address, the time for a request to arrive, and
the time for a client to read its response.

uvicorn only ends idle connections between two requests. It refuses none before its request, and waits for ever for a
head or body that trickles, and for a client that does not read.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.logs.few_lines import client_of
from zoe_lib.settings.config import Settings

log = structlog.get_logger(__name__)

# File descriptors besides connections: the database, the master, files, and the connections accepted at a time.
BACKLOG = 64
DESCRIPTORS_KEPT = 64 + BACKLOG
# One to the browser, and one to the application behind the proxy.
_DESCRIPTORS_EACH = 2
_CONNECTIONS_MIN = 8
_SWEEP_S_MAX = 1.0
_TELL_S = 1.0
# A client that has closed its sending side may wait for its response, or be gone: both look the same.
HALF_CLOSED_S = 5.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one process.

    A body may take `body_s`, and longer if it brings this many bytes a second on average. A response may wait `write_s`
    until the client reads more of it.
    """

    in_all: int = 1000
    of_address: int = 250
    head_s: float = 10.0
    body_s: float = 30.0
    body_bytes_per_s: int = 1000
    write_s: float = 60.0
    shared: Sequence[str] = ()
    """Addresses and networks of proxies, which stand for many clients."""

    @classmethod
    def from_settings(cls, settings: Settings) -> Bounds:
        """Return the limits from the settings, with at most as many connections as file descriptors allow."""
        soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        room = settings.api_connections_max if soft == resource.RLIM_INFINITY else _room(soft)
        return cls(
            min(settings.api_connections_max, room),
            settings.api_connections_of_address_max,
            settings.api_head_timeout_s,
            settings.api_body_timeout_s,
            settings.api_body_bytes_per_s_min,
            settings.api_write_timeout_s,
            tuple(settings.trusted_proxies),
        )


def _room(descriptors: int) -> int:
    return max((descriptors - DESCRIPTORS_KEPT) // _DESCRIPTORS_EACH, _CONNECTIONS_MIN)


@dataclass(slots=True, eq=False)
class Exchange:
    """State of one request and its response on a connection.

    `end` ends the connection with a response, if none has begun; `abort` ends it at once.
    """

    end: Callable[[], None]
    abort: Callable[[], None]
    paused: Callable[[], bool]
    unsent: Callable[[], int]
    head_since_s: float | None = None
    body_since_s: float | None = None
    body_bytes: int = 0
    half_closed_since_s: float | None = None
    _unsent_bytes: int = 0
    _unsent_since_s: float = 0.0

    def all_came(self) -> None:
        """The request is complete."""
        self.head_since_s = self.body_since_s = None

    def is_stuck(self, now_s: float, write_s: float) -> bool:
        """Return whether the client has read nothing for too long, or has left after it closed its sending side."""
        unsent = self.unsent()
        if unsent != self._unsent_bytes or not unsent:
            self._unsent_bytes, self._unsent_since_s = unsent, now_s
        if unsent:
            return now_s >= self._unsent_since_s + write_s
        return self.half_closed_since_s is not None and now_s >= self.half_closed_since_s + HALF_CLOSED_S


@dataclass(slots=True, eq=False)
class Connections:
    """The connections of one process, in its event loop's thread."""

    bounds: Bounds
    clock: Clock = SYSTEM_CLOCK
    exchanges: set[Exchange] = field(default_factory=set)
    open: int = 0
    _of_address: Counter[str] = field(default_factory=Counter)
    _sweeping: bool = False
    _refused: int = 0
    _late: int = 0
    _stuck: int = 0
    _told_s: float = float("-inf")

    def enter(self, address: str) -> bool:
        """Count a new connection; return False beyond the limit."""
        full = self.open >= self.bounds.in_all
        place = client_of(address)
        if full or (self._of_address[place] >= self.bounds.of_address and not self._is_shared(address)):
            self._refused += 1
            self._log_refusals()
            return False
        self._of_address[place] += 1
        self.open += 1
        self._sweep_later()
        return True

    def leave(self, address: str) -> None:
        """Forget a counted connection that has ended."""
        place = client_of(address)
        self.open -= 1
        self._of_address[place] -= 1
        if not self._of_address[place]:
            del self._of_address[place]

    def sweep(self) -> None:
        """End connections whose request does not arrive or whose response is not read."""
        now_s = self.clock.monotonic_s()
        for exchange in list(self.exchanges):
            if self._is_late(exchange, now_s):
                self._late += 1
                exchange.end()
            elif exchange.is_stuck(now_s, self.bounds.write_s):
                self._stuck += 1
                exchange.abort()
        self._log_refusals()

    def _is_late(self, exchange: Exchange, now_s: float) -> bool:
        if exchange.head_since_s is not None:
            return now_s >= exchange.head_since_s + self.bounds.head_s
        if exchange.body_since_s is None or exchange.paused():
            return False
        granted_s = self.bounds.body_s + exchange.body_bytes / self.bounds.body_bytes_per_s
        return now_s >= exchange.body_since_s + granted_s

    def _sweep_later(self) -> None:
        if not self._sweeping:
            self._sweeping = True
            every_s = min(_SWEEP_S_MAX, self.bounds.head_s / 4, self.bounds.body_s / 4, self.bounds.write_s / 4)
            asyncio.get_running_loop().call_later(every_s, self._sweep_on)

    def _sweep_on(self) -> None:
        self._sweeping = False
        self.sweep()
        if self.open or self._refused or self._late or self._stuck:
            self._sweep_later()

    def _is_shared(self, address: str) -> bool:
        try:
            return any(ip_address(address) in ip_network(network) for network in self.bounds.shared)
        except ValueError:
            return False

    def _log_refusals(self) -> None:
        """Log at most one line a second."""
        now_s = self.clock.monotonic_s()
        some = self._refused or self._late or self._stuck
        if some and now_s >= self._told_s + _TELL_S:
            log.warning(
                "connections ended",
                refused=self._refused,
                too_slow=self._late,
                not_reading=self._stuck,
                open=self.open,
            )
            self._refused, self._late, self._stuck, self._told_s = 0, 0, 0, now_s


class AcceptTrouble:
    """Handle exceptions of an event loop: when accepts fail, asyncio reports each of thousands of attempts."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._failed = 0
        self._told_s = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log failed accepts once a second, and all other errors at once."""
        if not str(context.get("message", "")).startswith("socket.accept()"):
            loop.default_exception_handler(context)
            return
        self._failed += 1
        if self._clock.monotonic_s() >= self._told_s + _TELL_S:
            log.error("cannot accept connections", tries=self._failed, why=str(context.get("exception")))
            self._failed, self._told_s = 0, self._clock.monotonic_s()
