"""A leak is found, and fluctuations are not."""

from __future__ import annotations

import math

import pytest

from tests.soak.growth import DESCRIPTORS, MEMORY, ROWS, THREADS, Kind, Series, verdicts

SECONDS = 1800.0
EVERY_S = 5


def grew(kind: Kind, first: float, per_minute: float = 0.0, wave: float = 0.0) -> bool:
    points = [
        (float(at_s), first + per_minute * at_s / 60 + wave * math.sin(at_s))
        for at_s in range(0, int(SECONDS), EVERY_S)
    ]
    [verdict] = verdicts([Series(kind, "it", points)], SECONDS)
    return verdict.grew


@pytest.mark.parametrize(
    ("kind", "first", "per_minute"),
    [(MEMORY, 120.0, 1.5), (DESCRIPTORS, 40.0, 2.0), (THREADS, 20.0, 0.5), (ROWS, 2000.0, 60.0)],
)
def test_a_leak_is_found(kind: Kind, first: float, per_minute: float) -> None:
    assert grew(kind, first, per_minute)


@pytest.mark.parametrize(("kind", "first", "wave"), [(MEMORY, 120, 20), (DESCRIPTORS, 40, 15), (ROWS, 2000, 500)])
def test_fluctuation_is_no_growth(kind: Kind, first: float, wave: float) -> None:
    assert not grew(kind, first, wave=wave)


def test_growth_at_the_start_only_is_no_growth() -> None:
    points = [(float(at_s), min(100 + at_s, 400.0)) for at_s in range(0, int(SECONDS), EVERY_S)]
    [verdict] = verdicts([Series(MEMORY, "it", points)], SECONDS)
    assert not verdict.grew


def test_too_few_samples_are_no_proof() -> None:
    with pytest.raises(ValueError, match="only 2 samples"):
        verdicts([Series(MEMORY, "it", [(0.0, 1.0), (900.0, 1.0)])], SECONDS)
