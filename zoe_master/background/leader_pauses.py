"""Pauses of a master after unexpected errors, before it tries to lead again."""

from __future__ import annotations

_FIRST_S = 1.0
_LONGEST_S = 60.0
_QUIET_S = 600.0


class LeaderPauses:
    """1 s after a first error, twice as long after each further one up to 60 s; 1 s again after 10 minutes without."""

    def __init__(self) -> None:
        self._last_s = float("-inf")
        self._pause_s = 0.0

    def next_s(self, now_s: float) -> float:
        """Return the pause after an error at this time of a monotonic clock, in seconds."""
        if now_s - self._last_s > _QUIET_S:
            self._pause_s = 0.0
        self._last_s = now_s
        self._pause_s = min(max(2 * self._pause_s, _FIRST_S), _LONGEST_S)
        return self._pause_s
