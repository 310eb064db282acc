"""The emulation behind PSBS, on one server that can be shared at will: mean sojourns as published.

SWIM FB-2009-0 at a load of 0.9, sizes in bytes handled; figures of Dell'Amico, Carra and Michiardi (PSBS).
"""

from __future__ import annotations

import gzip
import math
import random
import statistics
from collections.abc import Callable, Iterator

import pytest

from tests.support.needs import test_data
from zoe_master.scheduler.ordering.virtual_time import ExecutionArrival, VirtualTime

TRACE = "FB-2009_samples_24_times_1hr_0.tsv.gz"
LOAD = 0.9
# The shuffle goes over disks, and over a network a quarter as fast, as in the authors' experiments.
SHUFFLED = 5
SEEDS = 5
Job = tuple[float, float, float]  # submission, true size, expected size, in seconds of the server
Serve = Callable[[dict[str, float], VirtualTime], list[str]]


@pytest.fixture(scope="module")
def jobs() -> list[tuple[float, float]]:
    with gzip.open(test_data() / "traces" / TRACE, "rt") as file:
        rows = [line.split() for line in file]
    sizes = [(float(row[1]), float(row[3]) + SHUFFLED * float(row[4]) + float(row[5])) for row in rows]
    speed = sum(size for _, size in sizes) / sizes[-1][0] / LOAD
    return [(at_s, size / speed) for at_s, size in sizes]


def fifo(left: dict[str, float], _virtual: VirtualTime) -> list[str]:
    return [next(iter(left))]


def processor_sharing(left: dict[str, float], _virtual: VirtualTime) -> list[str]:
    return list(left)


def psbs(left: dict[str, float], virtual: VirtualTime) -> list[str]:
    return [name for name in left if virtual.late(name)] or [min(left, key=virtual.end_lag_s)]


def sojourns(jobs: list[Job], serve: Serve) -> Iterator[float]:
    """From one change of the served jobs to the next: an arrival, a real end, or an end of the emulation."""
    left: dict[str, float] = {}
    virtual, now_s = VirtualTime(1000), 0.0
    arrived: dict[str, float] = {}
    upcoming = [(at_s, str(number), size_s, expected_s) for number, (at_s, size_s, expected_s) in enumerate(jobs)]
    upcoming.reverse()
    while upcoming or left:
        served = serve(left, virtual) if left else []
        ends_s = now_s + min(left[name] for name in served) * len(served) if served else math.inf
        next_s = min(ends_s, virtual.next_end_s(), upcoming[-1][0] if upcoming else math.inf)
        for name in served:
            left[name] -= (next_s - now_s) / len(served)
        now_s = next_s
        virtual.advance(now_s)
        for name in [name for name in served if left[name] < 1e-9]:
            del left[name]
            yield now_s - arrived[name]
        while upcoming and upcoming[-1][0] <= now_s:
            at_s, name, size_s, expected_s = upcoming.pop()
            arrived[name], left[name] = at_s, size_s
            virtual.arrive(ExecutionArrival(name, now_s, expected_s, 1000))


def mean_sojourn_s(jobs: list[tuple[float, float]], serve: Serve, sigma: float = 0.0, seed: int = 0) -> float:
    chance = random.Random(seed)
    return statistics.mean(sojourns([(at_s, s, s * chance.lognormvariate(0, sigma)) for at_s, s in jobs], serve))


@pytest.mark.parametrize(("serve", "published_s"), [(fifo, 11_135), (processor_sharing, 75), (psbs, 32.8)])
def test_exact_sizes(jobs: list[tuple[float, float]], serve: Serve, published_s: float) -> None:
    assert mean_sojourn_s(jobs, serve) == pytest.approx(published_s, rel=0.01)


def test_wrong_sizes_hardly_matter(jobs: list[tuple[float, float]]) -> None:
    found = [mean_sojourn_s(jobs, psbs, sigma=0.5, seed=seed) for seed in range(SEEDS)]
    assert statistics.median(found) == pytest.approx(36, rel=0.1), found
