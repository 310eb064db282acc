"""Scores computed by hand from the formulas of the papers, and orders that follow them."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from tests.support.scheduling import component, node, queued
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_master.scheduler.ordering.published_orders import (
    WINDOW_S,
    ByArrival,
    arrival_in_window,
    f1,
    f2,
    f3,
    f4,
    learned_ratio,
    unicef,
    wfp3,
)
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot

DAY_S = 86_400.0
NODES = (node("n", cores=256, memory_gib=256),)


@pytest.mark.parametrize(
    ("score", "run_s", "cores", "at_s", "by_hand"),
    [
        (f1, 100.0, 4.0, 1000.0, 2 * 4 + 870 * 3),
        (f1, 10_000.0, 128.0, 10.0, 4 * 128 + 870),
        (f2, 100.0, 4.0, 1000.0, 10 * 4 + 25_600 * 3),
        (f2, 10_000.0, 128.0, 10.0, 100 * 128 + 25_600),
        (f3, 100.0, 4.0, 1000.0, 400 + 6_860_000 * 3),
        (f3, 10_000.0, 128.0, 1.0, 1_280_000),
        (f4, 100.0, 4.0, 1000.0, 200 + 530_000 * 3),
        (f4, 10_000.0, 64.0, 10.0, 80_000 + 530_000),
    ],
)
def test_learned_scores(score: ByArrival, run_s: float, cores: float, at_s: float, by_hand: float) -> None:
    assert score(run_s, cores, at_s) == pytest.approx(by_hand)


def test_scores_of_waiting() -> None:
    assert wfp3(200.0, 100.0, 4.0) == -8.0 * 4.0
    assert wfp3(0.0, 100.0, 4.0) == 0.0
    assert unicef(200.0, 100.0, 4.0) == (1.0, -1.0)
    assert unicef(200.0, 100.0, 16.0) == (1.0, -0.5)
    assert unicef(200.0, 100.0, 1.0) == (0.0, -2.0)
    assert unicef(0.0, 100.0, 0.5) == (0.0, 0.0)


def test_the_learned_ratio_lets_a_short_one_pass_until_one_has_waited_for_24_times_its_run() -> None:
    fresh = learned_ratio(0.0, 1.0)
    assert learned_ratio(23.9 * 5000.0, 5000.0) > fresh
    assert learned_ratio(24.1 * 5000.0, 5000.0) < fresh


def test_waiting_is_never_negative() -> None:
    """A start that is still unknown, taken for -1, would turn WFP3 and UNICEF around."""
    waits = [queued("early", component(cores=4), at_s=0.0), queued("future", component(cores=4), at_s=5_000.0)]
    for order in ("wfp3", "unicef"):
        assert [e.id for e in sequence(order, 1_000.0, waits)] == ["early", "future"]


def job(name: str, at_s: float, run_s: float, cores: float, memory_gib: float = 1) -> Execution:
    return queued(name, component(cores=cores, memory_gib=memory_gib), at_s=at_s, expected_run_s=run_s)


def sequence(order: str, now_s: float, waiting: list[Execution]) -> list[Execution]:
    return list(queue_sequence(Pass.from_snapshot(Snapshot(now_s, NODES, tuple(waiting)), Policy(order=order))))


# Arrivals of 1, 1000 and 10 s in a window of 15 days, by executions that wait this long until then.
NOW_S = 20 * DAY_S
FIRST_S = NOW_S - WINDOW_S


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # w / r: 6, 9 and 3; cubes times 64, 4, 16 cores: 13,824, 2,916, 432.
        ("wfp3", ["wide", "long", "short"]),
        # over log2(cores) = 6, 2, 4: 1, 4.5, 0.75.
        ("unicef", ["long", "wide", "short"]),
        # log10 of the run time times cores, + 870 times 3: 192, 16 and 32.
        ("f1", ["long", "short", "wide"]),
        # sqrt of it times cores: 2,023.9, 400, 505.9.
        ("f2", ["long", "short", "wide"]),
        # area: 64,000, 40,000, 16,000
        ("f3", ["short", "long", "wide"]),
        # times sqrt of the cores: 8,000, 20,000, 4,000
        ("f4", ["short", "wide", "long"]),
    ],
)
def test_the_sequence_is_that_of_the_scores(order: str, expected: list[str]) -> None:
    waited_s = {"wide": 6_000.0, "long": 90_000.0, "short": 3_000.0}
    shapes = {"wide": (1_000.0, 64), "long": (10_000.0, 4), "short": (1_000.0, 16)}
    if order not in ("wfp3", "unicef"):
        waited_s = dict.fromkeys(waited_s, WINDOW_S - 1_000.0)
    waiting = [job(name, NOW_S - waited_s[name], *shapes[name]) for name in shapes]
    assert [e.id for e in sequence(order, NOW_S, waiting)] == expected


def test_arrivals_count_from_the_beginning_of_the_window() -> None:
    assert arrival_in_window(0.0) == WINDOW_S
    assert arrival_in_window(WINDOW_S - 10.0) == 10.0
    assert arrival_in_window(WINDOW_S) == arrival_in_window(9 * WINDOW_S) == 1.0


@pytest.mark.parametrize("order", ["wfp3", "unicef", "f1", "f2", "f3", "f4"])
def test_of_two_that_are_alike_who_came_first_is_first_whatever_the_time(order: str) -> None:
    chance = random.Random(4)
    for _ in range(200):
        shape = (chance.choice([0.1, 1.0, 5e5]), chance.choice([0.25, 1, 3, 256]), chance.choice([0, 1, 200]))
        arrivals = sorted(chance.uniform(0, 60 * DAY_S) for _ in range(5))
        waiting = [job(f"j{i}", at_s, *shape) for i, at_s in enumerate(arrivals)]
        chance.shuffle(waiting)
        found = sequence(order, chance.uniform(0, 80 * DAY_S), waiting)
        assert all(execution.submitted_at_s <= other.submitted_at_s for execution, other in pairwise(found))


@pytest.mark.parametrize("order", ["wfp3", "unicef", "f1", "f3"])
def test_memory_counts_as_cores(order: str) -> None:
    """Half of the memory is half of the cores."""
    wide, hoarder = job("wide", 0.0, 100.0, 128), job("hoarder", 0.0, 100.0, 2, memory_gib=128)
    assert [e.id for e in sequence(order, 50.0, [wide, hoarder])] == ["hoarder", "wide"]  # equal: ties by name
