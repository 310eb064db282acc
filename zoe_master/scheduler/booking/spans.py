"""Amounts held over time: the maximum held at once. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable

Span = tuple[float, float, int]
"""Begin and end of a held amount; seconds since the epoch."""


def most_held(spans: Iterable[Span], begins_s: float, ends_s: float) -> int:
    """Return the maximum held at once between two times; an amount that ends when another begins does not overlap
    it.
    """
    changes: list[tuple[float, int]] = []
    for from_s, until_s, amount in spans:
        if max(from_s, begins_s) < min(until_s, ends_s):
            changes += [(max(from_s, begins_s), amount), (until_s, -amount)]
    held = most = 0
    for _, amount in sorted(changes):
        held += amount
        most = max(most, held)
    return most


class BookingSpans:
    """The same for many queries from one time on: one sweep, then each answer is looked up."""

    def __init__(self, spans: Iterable[Span], now_s: float) -> None:
        changes = sorted(
            change
            for from_s, until_s, amount in spans
            if until_s > max(from_s, now_s)
            for change in ((max(from_s, now_s), amount), (until_s, -amount))
        )
        self._times: list[float] = []
        self._most: list[int] = []
        held = most = 0
        for at_s, amount in changes:
            held += amount
            if held > most and at_s < math.inf:
                most = held
                self._times.append(at_s)
                self._most.append(most)

    def most_before(self, ends_s: float) -> int:
        """Return the maximum held at once before this time."""
        number = bisect_left(self._times, ends_s)
        return self._most[number - 1] if number else 0
