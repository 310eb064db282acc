"""Weighted max-min fairness over a network: a claim can only get more if one with less gets even less."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from storage_bridge.bandwidth.network import BandwidthNetwork


def raise_fairly(
    network: BandwidthNetwork, base: Sequence[int], most: Sequence[int], weights: Sequence[Fraction]
) -> list[int]:
    """Return how much each claim gets on top of `base`, at most `most`, in proportion to its weight while capacity is
    free.

    Progressive filling: the common level is raised until some claims are stuck behind a cut; these keep their amounts
    and the others continue. The largest level is found from above: a cut that the amounts exceed says how far the level
    must come down (Radunovic and Le Boudec, "A unified framework for max-min and min-max fairness", IEEE/ACM ToN 15(5),
    2007; the search is the discrete Newton method). Whole bytes per second: a round leaves less than one byte per claim
    unused.
    """
    extra = [0] * len(base)
    open_ones = {i for i, limit in enumerate(most) if limit > 0 and weights[i] > 0}
    while open_ones:
        stuck: Collection[int] = open_ones
        raised = [most[i] if i in open_ones else extra[i] for i in range(len(base))]
        while (cut := network.tightest([b + w for b, w in zip(base, raised, strict=True)])) is not None:
            stuck = cut.claims & open_ones
            room = cut.room - sum(base[i] for i in cut.claims) - sum(extra[i] for i in cut.claims - open_ones)
            level = _level(room, [(most[i], weights[i]) for i in sorted(stuck)])
            raised = [min(most[i], int(level * weights[i])) if i in open_ones else extra[i] for i in range(len(base))]
        for i in stuck:
            extra[i] = raised[i]
        open_ones = open_ones.difference(stuck)
    return extra


def _level(room: int, claims: Sequence[tuple[int, Fraction]]) -> Fraction:
    """Return the level at which claims of (most, weight) fill the room exactly: sum of min(most, level x weight)."""
    left, weight_left = Fraction(room), sum((weight for _, weight in claims), Fraction(0))
    for most, weight in sorted(claims, key=lambda claim: claim[0] / claim[1]):
        if most / weight * weight_left >= left:
            break
        left -= most
        weight_left -= weight
    return max(left, Fraction(0)) / weight_left
