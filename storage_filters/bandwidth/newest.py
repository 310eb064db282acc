"""Order of a sender's messages: by the epoch in which it started, then by number.

An epoch is the time at which a sender started. After a clock went backwards, a restarted sender has a lower epoch than
before, so any message is accepted after a period of silence.
"""

from __future__ import annotations

Order = tuple[int, int]
"""Epoch and number."""


class NewestMessage:
    """The newest message so far. Times are of the monotonic clock, in seconds."""

    def __init__(self, silence_s: float) -> None:
        self._silence_s = silence_s
        self._order: Order = (0, 0)
        self._heard_s = float("-inf")

    def is_outdated(self, order: Order, now_s: float) -> bool:
        """Return whether the message is not newer than the newest one, and that one was recent."""
        return order <= self._order and now_s < self._heard_s + self._silence_s

    def record(self, order: Order, now_s: float) -> None:
        """Record the newest message."""
        self._order, self._heard_s = order, now_s
