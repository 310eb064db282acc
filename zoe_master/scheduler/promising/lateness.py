"""When a run that takes longer than usual is expected to end. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

_LEAST = 0.8
"""No run is taken to end before this part of the median."""
_LONGER = 1.25
"""No run is expected to take more times what it has taken, once that is more than the median."""


def median_beyond(takes: Sequence[tuple[float, float]], ran_s: float) -> float:
    """Return the median of the run time of what has run for so long.

    takes: chances, and the times within which a run ends with them, in seconds, both rising. Run times spread in
    factors, so between these it goes by their logarithms. The rarest chances rest on few runs or on a rule of thumb,
    and what is told for them may be many times too long: so a run is not expected to take more than a quarter longer
    than it has, and one that began in time is not taken to be late before four fifths of its promised time have passed.
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
    """Return the value at a place, linear between points; those of the ends beyond them."""
    if at <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if at <= right:
            return low if right <= left else low + (high - low) * (at - left) / (right - left)
    return points[-1][1]
