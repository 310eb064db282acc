"""Every file of tier 2 has its turn, by the number of commits alone."""

from __future__ import annotations

import random

import pytest

from scripts.testing.costs import Costs
from scripts.testing.slices import BINS, MINUTES, bins, reached, slice_of

CORES_BUSY = 1.3
"""How many cores a slice keeps busy, if nothing else runs."""
SLICE_S = 60 * MINUTES * CORES_BUSY


@pytest.fixture(scope="module")
def costs() -> dict[str, float]:
    return Costs.read().of_tier(2)


def test_bins_hold_every_file_once_and_cost_about_the_same(costs: dict[str, float]) -> None:
    cut = bins(costs)
    assert sorted(file for files in cut for file in files) == sorted(costs)
    sums = [sum(costs[file] for file in files) for files in cut]
    assert max(sums) - min(sums) <= 2 * max(costs.values())


@pytest.mark.parametrize("begin", [0, 1165, 7777])
def test_every_file_runs_within_sixteen_landings(costs: dict[str, float], begin: int) -> None:
    ran = {file for count in range(begin, begin + 16) for file in reached(slice_of(costs, count), costs, SLICE_S)}
    assert costs.keys() - ran == set()


def test_few_files_are_left_out_when_each_landing_has_many_commits(costs: dict[str, float]) -> None:
    print("seed 5")
    drawn, count, missed, rounds = random.Random(5), 1165, 0, 5
    for _ in range(rounds):
        ran = set[str]()
        for _ in range(4 * BINS):
            count += drawn.randint(1, 40)
            ran |= set(reached(slice_of(costs, count), costs, SLICE_S))
        missed += len(costs.keys() - ran)
    assert missed / (rounds * len(costs)) < 0.05


def test_what_was_cut_comes_first_when_the_bin_returns(costs: dict[str, float]) -> None:
    first, again = slice_of(costs, 8), slice_of(costs, 16)
    assert sorted(first) == sorted(again)
    assert first[0] != again[0]
