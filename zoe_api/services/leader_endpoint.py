"""The endpoint of the leader, which writes it to the database when it takes the lead."""

from __future__ import annotations

import threading
from collections.abc import Callable

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.errors import StoreError
from zoe_lib.store.values import Leader

_KEPT_S = 1.0


class LeaderEndpoint:
    """Reads the leader's endpoint at most once a second. Thread-safe.

    A leader without an endpoint answers at `default`. While the database does not answer, the last endpoint is kept.
    """

    def __init__(self, leader: Callable[[], Leader | None], default: str, clock: Clock = SYSTEM_CLOCK) -> None:
        self._leader = leader
        self._default = default
        self._clock = clock
        self._endpoint = default
        self._until_s = float("-inf")
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """Return the endpoint."""
        with self._lock:
            if self._clock.monotonic_s() < self._until_s:
                return self._endpoint
            self._until_s = self._clock.monotonic_s() + _KEPT_S
        try:
            leader = self._leader()
        except StoreError:
            return self._endpoint
        self._endpoint = leader.endpoint if leader is not None and leader.endpoint else self._default
        return self._endpoint
