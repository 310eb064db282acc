"""Whether an object may have changed since it was last looked at, as all proxies know by one memcached.

A number for each object, changed by every write through any proxy, before it begins and after it ended:

    | generation (48 bits) | writes that have begun and not ended (16 bits) |

A reader takes the number, then asks the store for the newest version, and notes both. As long as the number is the same
and no write is under way, no write has ended since, so the version is still the newest that was acknowledged. Each
change adds a random number, and a new number begins at random: one that was lost never comes back. What a write leaves
behind whose proxy died, or whose outcome is not known, counts as under way: its object is looked at each time.

A proxy that cannot reach memcached after a write answers only when all notes of others have expired. So what is noted
holds for `lease_s` at most, by the clock of whoever noted it.
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
_LOST = 1 << (_UNDER_WAY_BITS - 1)  # it was subtracted from a number that began anew
_STEP_MAX = 1 << 40
_REST_S = 2.0
_MARGIN = 1.5


class Memcache(Protocol):
    """Swift's client of memcached, for one server: with several, two proxies may use different ones for a key."""

    def get(self, key: str, raise_on_error: bool = False) -> Any:
        """Return the value; None without one."""

    def incr(self, key: str, delta: int = 1, time: int = 0) -> int:
        """Add to a number, or let it begin with that."""

    def delete(self, key: str) -> None:
        """Remove a key."""


class Fence:
    """The numbers of objects. lease_s: how long a reader may rely on what it noted. errors: which the client raises."""

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
        """Return the present number; None if it says nothing, since a write is under way or memcached is away."""
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
        """Let all readers look at the store from now on; return whether they know."""
        try:
            self._add(name, _step() + 1)
        except self._errors:
            return False
        return True

    def end(self, name: str, begun: bool, settled: bool) -> None:
        """Return when nobody relies on what was before the write. settled: the store will not carry it out later."""
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
    """Return the name of an object, of the parts of its path: the empty one, the version of the API, account, ..."""
    return hashlib.sha256("/".join(parts[2:]).encode("latin-1")).hexdigest()


def _key(name: str) -> str:
    return f"zoe-cache/{name}"


def _step() -> int:
    return random.randrange(1, _STEP_MAX) << _UNDER_WAY_BITS
