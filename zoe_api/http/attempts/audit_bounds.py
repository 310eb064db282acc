"""Limit the audit entries that strangers can cause in a minute, so that a flood does not fill the database."""

from __future__ import annotations

from zoe_lib.clock import SYSTEM_CLOCK, Clock

_MINUTE_S = 60.0


class PerMinute:
    """Places for entries: the first entry of each key, for a number of keys, and a number of shared places.

    Each API process has its own. Not thread-safe.
    """

    def __init__(self, keys_max: int, shared_max: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._keys_max = keys_max
        self._shared_max = shared_max
        self._until_s = 0.0
        self._seen: set[str] = set()
        self._left = 0

    def take(self, key: str) -> bool:
        """Return whether one more entry may be written."""
        now_s = self._clock.monotonic_s()
        if now_s >= self._until_s:
            self._until_s = now_s + _MINUTE_S
            self._seen, self._left = set(), self._shared_max
        if key not in self._seen and len(self._seen) < self._keys_max:
            self._seen.add(key)
            return True
        self._left -= 1
        return self._left >= 0


def plain(text: str, letters_max: int) -> str:
    """Return a stranger's text, shortened and limited to characters that can be stored."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:letters_max])
