"""How much is in a container or an account by what clients put: a count, and what was put since it was taken.

A count takes a while, and uploads go on meanwhile. So each count begins a generation, and an upload is first on its way
and then done, in the generation that is current when it is stored:

    used = counted in generation g + done in g and later + on their way

What is stored before a generation begins is in its listing, what is stored later is done in it or on its way: nothing
is left out, whoever counts. What is stored while the listing is made may count twice until the next one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

_COUNT_LIFE_S = 600
_LIFE_S = 3600
"""Of what is on its way, if the gateway that had it in hand was killed."""
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
    """What was listed; at_s, cost_s: seconds since 1970 at which it ended, and how long it took."""

    amount: Amount
    generation: int
    at_s: float
    cost_s: float


class Ledger:
    """Amounts of one place, `account` or `account/container`, in memcached, which all proxies share."""

    def __init__(self, cache: Any, place: str) -> None:
        self._cache, self._name = cache, f"zoe-quota/{place}"

    def begin_count(self) -> int:
        """Return the generation of a count that begins now."""
        return self._added("generation", 1)

    def keep(self, count: Count) -> None:
        """Keep a count that has ended."""
        kept = [count.amount.size, count.amount.objects, count.generation, count.at_s, count.cost_s]
        self._cache.set(f"{self._name}/count", kept, time=_COUNT_LIFE_S)

    def counted(self) -> Count | None:
        """Return the newest count; None if there is none, or if many have begun since."""
        kept = self._cache.get(f"{self._name}/count")
        if kept is None or self._added("generation", 0) - kept[2] > _GENERATIONS_MAX:
            return None
        return Count(Amount(kept[0], kept[1]), kept[2], kept[3], kept[4])

    def used(self, count: Count, on_way: Amount) -> Amount:
        """Return what there is at most, with what was on its way before. What was stored since then counts twice."""
        found = count.amount + on_way
        for generation in range(count.generation, self._added("generation", 0) + 1):
            found += self._read(f"done/{generation}")
        return found

    def take(self, amount: Amount) -> Amount:
        """Note what is on its way, and return all that is, up to this: those who take later are not in it."""
        return self._add("on-way", amount)

    def give_back(self, amount: Amount) -> None:
        """Note that what was on its way is not stored."""
        self._add("on-way", Amount(-amount.size, -amount.objects))

    def done(self, amount: Amount) -> None:
        """Note that what was on its way is stored."""
        self._add(f"done/{self._added('generation', 0)}", amount)
        self.give_back(amount)

    def _add(self, name: str, amount: Amount) -> Amount:
        return Amount(self._added(f"{name}/bytes", amount.size), self._added(f"{name}/objects", amount.objects))

    def _read(self, name: str) -> Amount:
        return self._add(name, NOTHING)

    def _added(self, name: str, number: int) -> int:
        return int(self._cache.incr(f"{self._name}/{name}", delta=number, time=_LIFE_S))


def is_stale(count: Count, now_s: float | None = None) -> bool:
    """Return whether counting again may pay: it takes at most one twentieth of the time."""
    age_s = (time.time() if now_s is None else now_s) - count.at_s
    return age_s > 20 * count.cost_s
