"""Detect writes to an object through any proxy, by generation numbers in one memcached.

Each object has a number. Every write through any proxy changes it, before the write begins and after it has ended:

    | generation (48 bits) | writes that have begun and not ended (16 bits) |

A reader reads the number, then asks the store for the newest version, and remembers both. While the number is unchanged
and no write is in flight, no write has ended since, so the version is still the newest acknowledged one. Each change
adds a random number, and a new number starts at a random value, so that a lost number never comes back. A write whose
proxy died, or whose outcome is unknown, counts as in flight: its object is re-checked on every request.

A proxy that cannot reach memcached after a write answers only when the leases of all other proxies have expired. A
reader therefore relies on its remembered version for `lease_s` at most, by its own clock.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

KEPT_S = 24 * 3600
_UNDER_WAY_BITS = 16
_UNDER_WAY = (1 << _UNDER_WAY_BITS) - 1
_LOST = 1 << (_UNDER_WAY_BITS - 1)  # it was subtracted from a number that started anew
_STEP_MAX = 1 << 40
_REST_S = 2.0
_MARGIN = 1.5


class Memcache(Protocol):
    """Interface of Swift's memcached client, for one server: with several, two proxies could use different ones for a
    key.
    """

    def get(self, key: str, raise_on_error: bool = False) -> Any:
        """Return the value, or None."""

    def incr(self, key: str, delta: int = 1, time: int = 0) -> int:
        """Add to a number, or create it with this value."""

    def delete(self, key: str) -> None:
        """Remove a key."""


class Fence:
    """Generation numbers of objects. lease_s: how long a reader may rely on a remembered version. errors: exceptions of
    the client.
    """

    def __init__(
        self,
        memcache: Memcache,
        lease_s: float,
        sleep: Callable[[float], Any],
        errors: tuple[type[Exception], ...] = (OSError, ValueError),
    ) -> None:
        self._errors = errors
        self._memcache = memcache
        self.lease_s = lease_s
        self._sleep = sleep
        self._not_before_s = 0.0

    def generation(self, name: str) -> int | None:
        """Return the present number, or None while a write is in flight or memcached is away."""
        if time.monotonic() < self._not_before_s:
            return None
        try:
            text = self._memcache.get(_key(name), raise_on_error=True)
            number = int(text) if text is not None else self._add(name, _step())
        except self._errors:
            self._not_before_s = time.monotonic() + _REST_S
            return None
        return None if number & _UNDER_WAY else number

    def begin(self, name: str) -> bool:
        """Make all readers ask the store from now on; return whether memcached has the change."""
        try:
            self._add(name, _step() + 1)
        except self._errors:
            return False
        return True

    def end(self, name: str, begun: bool, settled: bool) -> None:
        """End a write: return once no reader relies on the version before it. settled: the store will not apply the
        write later.
        """
        change = _step() + (1 if not settled else 0) - (1 if begun else 0)
        try:
            number = self._add(name, change)
        except self._errors:
            self._sleep(self.lease_s * _MARGIN)
            return
        if number & _UNDER_WAY >= _LOST:
            self._memcache.delete(_key(name))

    def _add(self, name: str, change: int) -> int:
        return int(self._memcache.incr(_key(name), change, time=KEPT_S))


def name_of(parts: Sequence[str]) -> str:
    """Return the name of an object from its path: the empty part, the API version, account, ..."""
    return hashlib.sha256("/".join(parts[2:]).encode("latin-1")).hexdigest()


def _key(name: str) -> str:
    return f"zoe-cache/{name}"


def _step() -> int:
    return random.randrange(1, _STEP_MAX) << _UNDER_WAY_BITS
