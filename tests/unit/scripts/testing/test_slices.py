"""Every file of tier 2 has its turn, by the number of commits alone."""

from __future__ import annotations

import random

import pytest

from scripts.testing.costs import Costs
from scripts.testing.slices import MINUTES, SLICES, delays_of, pieces, rotate, slice_of

PIECE_S = 60 * MINUTES * 0.6
"""CPU seconds that a slice has for one of its two pieces, at least, where nothing else runs."""


@pytest.fixture(scope="module")
def costs() -> dict[str, float]:
    return Costs.read().of_tier(2)


def completed(costs: dict[str, float], count: int) -> set[str]:
    """The files that a slice completes."""
    done = set[str]()
    for files in slice_of(costs, count):
        left_s = PIECE_S
        for file in files:
            left_s -= costs[file]
            if left_s < 0:
                break
            done.add(file)
    return done


def test_pieces_hold_every_file_once_and_cost_about_the_same(costs: dict[str, float]) -> None:
    cut = pieces(costs)
    assert len(cut) == 2 * SLICES
    assert sorted(file for files in cut for file in files) == sorted(costs)
    sums = [sum(costs[file] for file in files) for files in cut]
    assert max(sums) - min(sums) <= 2 * max(costs.values())


@pytest.mark.parametrize("begin", [0, 1165, 7777])
def test_every_file_runs_within_sixteen_landings(costs: dict[str, float], begin: int) -> None:
    ran = {file for count in range(begin, begin + 16) for file in completed(costs, count)}
    assert costs.keys() - ran == set()


def test_few_files_are_left_out_when_each_landing_has_many_commits(costs: dict[str, float]) -> None:
    print("seed 5")
    drawn, count, missed, rounds = random.Random(5), 1165, 0, 10
    for _ in range(rounds):
        ran = set[str]()
        for _ in range(4 * SLICES):
            count += drawn.randint(1, 40)
            ran |= completed(costs, count)
        missed += len(costs.keys() - ran)
    assert missed / (rounds * len(costs)) < 0.05


@pytest.mark.parametrize(
    ("begin", "files"), [(0.0, "abcd"), (0.2, "bcda"), (0.49, "bcda"), (0.5, "cdab"), (0.99, "dabc")]
)
def test_a_piece_begins_at_a_share_of_its_cost(begin: float, files: str) -> None:
    assert "".join(rotate("abcd", {"a": 1.0, "b": 4.0, "c": 4.0, "d": 1.0}, begin)) == files


def test_every_slice_runs_with_delays_every_second_time() -> None:
    for slice_number in range(SLICES):
        seeds = [delays_of(count) for count in range(slice_number, 4 * SLICES, SLICES)]
        assert [seed is not None for seed in seeds] == [False, True, False, True]
