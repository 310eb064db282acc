"""Reserve for all waiting executions, on the cores and memory of all nodes together, like conservative backfill.

The spread of free room over nodes is unknown; calibration learns the error.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable

from zoe_lib.domain.values.resources import Resources

# The expected end in seconds since the epoch, and the released resources.
End = tuple[float, Resources]


class Reservations:
    """Free cores (thousandths) and memory (bytes) in each span of time, less reservations."""

    def __init__(self, free: Resources, ends: Iterable[End], now_s: float) -> None:
        self._times = [now_s]
        self._cores = [free.cores_milli]
        self._memory = [free.memory_bytes]
        for at_s, amount in sorted(ends, key=lambda end: end[0]):
            if at_s == math.inf:
                break
            if at_s > self._times[-1]:
                self._times.append(at_s)
                self._cores.append(self._cores[-1])
                self._memory.append(self._memory[-1])
            self._cores[-1] += amount.cores_milli
            self._memory[-1] += amount.memory_bytes

    def reserve(self, wanted: Resources, run_s: float) -> float:
        """Reserve this much for this duration, as early as possible; return the begin, infinite if there is never
        room.
        """
        first = 0
        while first < len(self._times):
            end_s = self._times[first] + run_s
            after = max(bisect_left(self._times, end_s), first + 1)
            full = self._last_full(first, after, wanted)
            if full is None:
                self._take(first, after, end_s, wanted)
                return self._times[first]
            first = full + 1  # every begin up to there would overlap it
        return math.inf

    def _last_full(self, first: int, after: int, wanted: Resources) -> int | None:
        cores, memory = wanted.cores_milli, wanted.memory_bytes
        for span in range(after - 1, first - 1, -1):
            if self._cores[span] < cores or self._memory[span] < memory:
                return span
        return None

    def _take(self, first: int, after: int, end_s: float, wanted: Resources) -> None:
        if end_s < math.inf and (after == len(self._times) or self._times[after] > end_s):
            self._times.insert(after, end_s)
            self._cores.insert(after, self._cores[after - 1])
            self._memory.insert(after, self._memory[after - 1])
        for span in range(first, after):
            self._cores[span] -= wanted.cores_milli
            self._memory[span] -= wanted.memory_bytes
