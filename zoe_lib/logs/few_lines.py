"""Limit the log lines that one client can cause. Standard library only: Swift's filters use it, too."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import ip_network

from zoe_lib.clock import SYSTEM_CLOCK, Clock

LINES_OF_CLIENT_A_SECOND_MAX = 50
"""About 1 GB a day. Further requests of a client are counted in the metrics, which drop nothing."""
_CLIENTS_MAX = 10_000


def client_of(address: str) -> str:
    """Return the key of one client: an address, or the IPv6 /64 that a provider assigns as one."""
    if ":" not in address:
        return address
    try:
        return str(ip_network(f"{address.partition('%')[0]}/64", strict=False))
    except ValueError:
        return address


@dataclass(slots=True)
class _Lines:
    second: int
    written: int = 0
    dropped: int = 0


class LineLimiter:
    """Counts the lines of each client by second. Thread-safe.

    It remembers the clients of the last lines, up to a number; for a forgotten client, dropped lines are not reported.
    """

    def __init__(self, a_second_max: int = LINES_OF_CLIENT_A_SECOND_MAX, clock: Clock = SYSTEM_CLOCK) -> None:
        self._max = a_second_max
        self._clock = clock
        self._lock = threading.Lock()
        self._clients: OrderedDict[str, _Lines] = OrderedDict()

    def take(self, address: str) -> int | None:
        """Return how many lines of the client were dropped before this one; None if it must be dropped, too."""
        second, client = int(self._clock.now_s()), client_of(address)
        with self._lock:
            lines = self._clients.setdefault(client, _Lines(second))
            self._clients.move_to_end(client)
            if len(self._clients) > _CLIENTS_MAX:
                self._clients.popitem(last=False)
            if second != lines.second:
                lines.second, lines.written = second, 0
            if lines.written >= self._max:
                lines.dropped += 1
                return None
            lines.written += 1
            dropped, lines.dropped = lines.dropped, 0
            return dropped
