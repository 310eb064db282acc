"""Use of a container or an account by clients: a count of its listing, and the uploads since that count.

A count takes a while, and uploads continue meanwhile. So each count begins a generation, and an upload is first in
flight and then done, in the generation that is current when it is stored:

    used = counted in generation g + done in g and later + in flight

Objects stored before a generation begins are in its listing; later ones are done in it, or in flight: none is left out,
whichever process counts. Objects stored while the listing is made may count twice until the next one.

Uploads in flight are recorded by half minute, and count in that one and the next: uploads renew their record while they
last, and records of a killed gateway expire.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

_COUNT_LIFE_S = 600
_LIFE_S = 3600
WINDOW_S = 30
_WINDOW_LIFE_S = 10 * WINDOW_S
"""Longer than windows are read, since memcached counts it from their first entry."""
_GENERATIONS_MAX = 8


@dataclass(frozen=True, slots=True)
class Amount:
    """Bytes and objects."""

    size: int
    objects: int

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.size + other.size, self.objects + other.objects)


NOTHING = Amount(0, 0)


@dataclass(frozen=True, slots=True)
class Count:
    """Result of a listing. at_s, cost_s: seconds since 1970 at its end, and its duration."""

    amount: Amount
    generation: int
    at_s: float
    cost_s: float


class Ledger:
    """Amounts of one place, `account` or `account/container`, in memcached, shared by all proxies."""

    def __init__(self, cache: Any, place: str) -> None:
        self._cache, self._name = cache, f"zoe-quota/{place}"

    def begin_count(self) -> int:
        """Return the generation of a count that begins now."""
        return self._increment("generation", 1)

    def keep(self, count: Count) -> None:
        """Store a finished count."""
        kept = [count.amount.size, count.amount.objects, count.generation, count.at_s, count.cost_s]
        self._cache.set(f"{self._name}/count", kept, time=_COUNT_LIFE_S)

    def newest_count(self) -> Count | None:
        """Return the newest count; None without one, or if many have begun since."""
        kept = self._cache.get(f"{self._name}/count")
        # A negative number: the generation was lost, and with it the uploads since.
        if kept is None or not 0 <= self._increment("generation", 0) - kept[2] <= _GENERATIONS_MAX:
            return None
        return Count(Amount(kept[0], kept[1]), kept[2], kept[3], kept[4])

    def use(self, count: Count, on_way: Amount) -> Amount:
        """Return the upper bound of the use, with the earlier uploads in flight. Objects stored since then count
        twice.
        """
        found = count.amount + on_way
        for generation in range(count.generation, self._increment("generation", 0) + 1):
            found += self._read(f"done/{generation}")
        return found

    def take(self, amount: Amount, window: int) -> Amount:
        """Record an upload in flight, and return the sum up to this one: later ones are not included."""
        found = self._add(_on_way(window), amount, _WINDOW_LIFE_S)
        for other in (window - 1, window + 1):  # the next one too: clocks of gateways differ
            found += self._add(_on_way(other), NOTHING, _WINDOW_LIFE_S)
        return found

    def give_back(self, amount: Amount, window: int) -> None:
        """Record that an upload of this window was not stored."""
        self._add(_on_way(window), Amount(-amount.size, -amount.objects), _WINDOW_LIFE_S)

    def move(self, amount: Amount, before: int, window: int) -> None:
        """Record that an upload of an earlier window is still in flight."""
        self._add(_on_way(window), amount, _WINDOW_LIFE_S)
        self.give_back(amount, before)

    def finish(self, amount: Amount, window: int) -> None:
        """Record that an upload of this window was stored."""
        self._add(f"done/{self._increment('generation', 0)}", amount)
        self.give_back(amount, window)

    def _add(self, name: str, amount: Amount, life_s: int = _LIFE_S) -> Amount:
        size, objects = amount.size, amount.objects
        return Amount(
            self._increment(f"{name}/bytes", size, life_s), self._increment(f"{name}/objects", objects, life_s)
        )

    def _read(self, name: str) -> Amount:
        return self._add(name, NOTHING)

    def _increment(self, name: str, number: int, life_s: int = _LIFE_S) -> int:
        return int(self._cache.incr(f"{self._name}/{name}", delta=number, time=life_s))


def window_at(now_s: float | None = None) -> int:
    """Return the window of a time."""
    return int((time.time() if now_s is None else now_s) // WINDOW_S)


def _on_way(window: int) -> str:
    return f"on-way/{window}"


def is_stale(count: Count, now_s: float | None = None) -> bool:
    """Return whether another count is affordable: it takes at most one twentieth of the time."""
    age_s = (time.time() if now_s is None else now_s) - count.at_s
    return age_s > 20 * count.cost_s
