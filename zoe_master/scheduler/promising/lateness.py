"""The expected end of a run that takes longer than usual. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

_LEAST = 0.8
"""No run is expected to end before this fraction of the median."""
_LONGER = 1.25
"""Maximum factor of the elapsed time, once that exceeds the median."""


def median_beyond(takes: Sequence[tuple[float, float]], ran_s: float) -> float:
    """Return the median total run time of a run, given its elapsed time.

    takes: chances, and the run times in seconds that hold with them, both rising. Run times spread in factors, so the
    interpolation uses their logarithms. The rarest chances rest on few runs or on a rule of thumb, and their run times
    may be far too long: so a run is expected to take at most a quarter longer than it has, and one that began in time
    is not late before four fifths of its promised time have passed.
    """
    typical_s = takes[0][1]
    if ran_s <= 0 or typical_s <= 0:
        return max(typical_s, 0.0)
    points = [(0.0, math.log(_LEAST * typical_s)), *((chance, math.log(seconds)) for chance, seconds in takes)]
    ran, longest_s = math.log(ran_s), _LONGER * ran_s
    wanted = (1 + _between(ran, [(seconds, chance) for chance, seconds in points])) / 2
    if ran < points[-1][1] and wanted <= points[-1][0]:
        longest_s = min(math.exp(_between(wanted, points)), longest_s)
    return max(longest_s, typical_s, ran_s)


def _between(at: float, points: Sequence[tuple[float, float]]) -> float:
    """Return the value at a position, linear between points, constant beyond them."""
    if at <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if at <= right:
            return low if right <= left else low + (high - low) * (at - left) / (right - left)
    return points[-1][1]
