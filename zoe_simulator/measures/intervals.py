"""Means of few runs, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist, fmean, stdev

_FLIPS_MAX = 16
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and the bounds of its 95 % confidence interval."""

    middle: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the arithmetic mean by Student's t; a single value has no known interval."""
    middle = fmean(values)
    if len(values) == 1:
        return Interval(middle, middle, middle)
    half = student_t(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Interval(middle, middle - half, middle + half)


def ratio_interval(pairs: Sequence[tuple[float, float]]) -> Interval:
    """Return the geometric mean of first over second, both positive; the interval is that of the logarithms."""
    logarithms = mean_interval([math.log(first / second) for first, second in pairs])
    return Interval(math.exp(logarithms.middle), math.exp(logarithms.low), math.exp(logarithms.high))


def sign_flip_p(differences: Sequence[float]) -> float:
    """Return the two-sided p of a mean of 0, by trying all signs of the differences.

    Exact and without an assumption on the distribution; 2^n sums, so for up to sixteen differences.
    """
    if len(differences) > _FLIPS_MAX:
        raise ValueError(f"{len(differences)} differences are too many to try all signs of")
    seen = abs(sum(differences)) * (1 - _ROUNDING)
    sums = (abs(sum(signed)) for signed in product(*((value, -value) for value in differences)))
    return sum(value >= seen for value in sums) / (1 << len(differences))


def holm(ps: Sequence[float]) -> list[float]:
    """Return the adjusted p of several comparisons, in order: Holm, Scandinavian Journal of Statistics 6, 1979.

    The chance that any value below 0.05 is accidental is at most 5 %.
    """
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min((len(ps) - rank) * ps[index], 1.0))
        adjusted[index] = largest
    return adjusted


def student_t(freedom: int, confidence: float = 0.95) -> float:
    """Return the two-sided quantile of Student's t: Abramowitz and Stegun, 26.7.5; within 1 % from three degrees on."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom**power) for power, term in enumerate(terms, 1))
