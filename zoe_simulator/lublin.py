"""A workload of rigid jobs drawn from the model of Lublin and Feitelson.

Lublin and Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs", Journal of
Parallel and Distributed Computing 63(11), 2003. All numbers below are the model's published ones. In short: a job is
serial, or its size is two to the power of a two-stage uniform number, rounded to a power of two more often than not;
the logarithm of its run time is hyper-gamma, and large jobs tend to run longer; the logarithm of the gap to the next
arrival is gamma, stretched and squeezed by the time of day.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from random import Random

from zoe_simulator.jobs import Job, Trace, pool_of, processors_of

# The day in half hours; its cycle begins at the eleventh of them, when the fewest jobs arrive.
_BUCKETS = 48
_CYCLE_BEGINS = 11
_BUCKET_S = 86400 / _BUCKETS
# Logarithms of seconds beyond which a run time or a gap is drawn again.
_LOG_RUN_MAX = 12.0
_LOG_GAP_MAX = 13.0
# The first stage of sizes ends this many powers of two below the machine's size.
_MEDIUM_BELOW_MACHINE = 2.5


@dataclass(frozen=True, slots=True)
class Kind:
    """The model's parameters for one kind of jobs.

    Sizes: shares of serial jobs and of powers of two, the least logarithm, and how often the first stage is taken.
    Run times: two gammas (shape, scale) and how their mixture depends on the size. Arrivals: the gap's gamma, how much
    longer gaps are over the whole day than at rush hour, and the gamma of the daily cycle.
    """

    name: str
    serial: float
    power_of_two: float
    log_size_min: float
    first_stage: float
    run_short: tuple[float, float]
    run_long: tuple[float, float]
    short_share: tuple[float, float]
    gap: tuple[float, float]
    day_over_rush: float
    cycle: tuple[float, float]


ALL = Kind(
    "all", 0.244, 0.576, 0.8, 0.86, (4.2, 0.94), (312, 0.03), (-0.0054, 0.78),
    (10.2303, 0.4871), 1.0225, (8.1737, 3.9631),
)  # fmt: skip
BATCH = Kind(
    "batch", 0.2927, 0.6686, 1.2, 0.875, (6.57, 0.823), (639.1, 0.0156), (-0.003, 0.6986),
    (6.0415, 0.8531), 1.0519, (6.1271, 5.2740),
)  # fmt: skip
INTERACTIVE = Kind(
    "interactive", 0.1541, 0.625, 1.0, 0.705, (3.8351, 0.6605), (7.073, 0.6856), (-0.0118, 0.9156),
    (6.5510, 0.6621), 0.9797, (8.9186, 3.6680),
)  # fmt: skip


def generate(
    jobs: int, processors: int, seed: int, overestimate: float = 0.0, kinds: tuple[Kind, ...] = (ALL,)
) -> Trace:
    """Return this many jobs for a machine with this many processors; equal seeds give equal jobs. Whole seconds, as in
    logs.

    Users' estimates are the run time times a factor drawn uniformly from 1 to 1 + `overestimate` (the f-model of
    Mu'alem and Feitelson, IEEE TPDS 12(6), 2001); 0 makes them exact. Several kinds arrive independently.
    """
    streams = [_stream(kind, processors, Random(f"{seed} {kind.name}"), overestimate) for kind in kinds]
    made = islice(merge(*streams, key=lambda job: job.submit_s), jobs)
    numbered = tuple(
        Job(number, job.submit_s, job.run_s, job.request_s, job.user, job.reservation)
        for number, job in enumerate(made, 1)
    )
    return Trace(f"lublin_{processors}_{seed}", pool_of(processors), numbered, pool=True)


def _stream(kind: Kind, processors: int, chance: Random, overestimate: float) -> Iterator[Job]:
    for at_s in _arrivals(kind, chance):
        size = _size(kind, processors, chance)
        run_s = _run_s(kind, size, chance)
        request_s = math.ceil(run_s * (1 + overestimate * chance.random()))
        yield Job(0, int(at_s), run_s, request_s, kind.name, processors_of(size))


def _size(kind: Kind, processors: int, chance: Random) -> int:
    draw = chance.random()
    if draw <= kind.serial:
        return 1
    high = math.log2(processors)
    medium = max(high - _MEDIUM_BELOW_MACHINE, kind.log_size_min)
    first = chance.random() <= kind.first_stage
    logarithm = chance.uniform(kind.log_size_min, medium) if first else chance.uniform(medium, high)
    if draw <= kind.serial + kind.power_of_two:
        logarithm = math.floor(logarithm + 0.5)
    return min(math.floor(2**logarithm + 0.5), processors)


def _run_s(kind: Kind, size: int, chance: Random) -> int:
    slope, at_zero = kind.short_share
    short_share = min(max(slope * size + at_zero, 0.0), 1.0)
    logarithm = math.inf
    while logarithm > _LOG_RUN_MAX:
        shape, scale = kind.run_short if chance.random() <= short_share else kind.run_long
        logarithm = chance.gammavariate(shape, scale)
    return max(int(math.exp(logarithm)), 1)


def _arrivals(kind: Kind, chance: Random) -> Iterator[float]:
    """Yield seconds since the midnight of the first day. A gap passes faster in busy half hours than in idle ones."""
    weights = _daily_cycle(*kind.cycle)
    shape, scale = kind.gap
    bucket, spent = 0, 0.0  # the present half hour, and how much of its weight is used up
    while True:
        logarithm = math.inf
        while logarithm > _LOG_GAP_MAX:
            logarithm = chance.gammavariate(shape * kind.day_over_rush, scale)
        spent += math.exp(logarithm) / _BUCKET_S
        while spent > weights[bucket % _BUCKETS]:
            spent -= weights[bucket % _BUCKETS]
            bucket += 1
        yield (bucket + spent / weights[bucket % _BUCKETS]) * _BUCKET_S


def _daily_cycle(shape: float, scale: float) -> list[float]:
    """Return how busy each half hour from midnight on is; 1 on average."""
    weights = [0.0] * _BUCKETS
    for number in range(_CYCLE_BEGINS, _CYCLE_BEGINS + _BUCKETS):
        share = _gamma_cdf(number + 0.5, shape, scale) - _gamma_cdf(number - 0.5, shape, scale)
        weights[(number - 1) % _BUCKETS] = share
    mean = sum(weights) / _BUCKETS
    return [weight / mean for weight in weights]


def _gamma_cdf(value: float, shape: float, scale: float) -> float:
    """Return the regularised lower incomplete gamma function by its power series, which suffices for these
    arguments.
    """
    x = value / scale
    term = total = 1 / shape
    denominator = shape
    while term > total * 1e-12:
        denominator += 1
        term *= x / denominator
        total += term
    return total * math.exp(shape * math.log(x) - x - math.lgamma(shape))
