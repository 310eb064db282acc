"""Promises in simulation, through the production loop: how often they are kept, and what they are worth.

`python -m benchmarks.promises [SEEDS]`. Applications of 12 kinds, whose run times are learned from their own runs; half
of the work has a deadline of 1.2 to 5 times its time alone. Kept: the share of promises that were met, with its 95 %
interval (Wilson), at each confidence. Goodput: core-hours that ended by their deadline, of all that had one; what is
refused counts as missed. Beside it, the mean bounded slowdown of work without a deadline. Ratios are paired over seeds.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median

from benchmarks.support import machine
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.finish_times import PromiseWish
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.resources import Resources
from zoe_simulator.elastic_run import Finished
from zoe_simulator.promised_run import PromisedRun
from zoe_simulator.workload import Arrival

NODES = tuple(Node(f"n{number:02}", Resources(16_000, 64 << 30)) for number in range(8))
CORES = 16 * len(NODES)
JOBS, KINDS, WARM_UP = 240, 12, 60
LOADS = (0.6, 0.9, 1.2)
CONFIDENCES = (0.5, 0.8, 0.9, 0.95)
SIGMA = 0.25
BASELINES = {
    "FCFS + EASY": Policy(order="fifo", backfill="easy"),
    "EDF": Policy(order="edf", backfill="none"),
    "EDF + EASY": Policy(order="edf", backfill="easy"),
    "size + EASY-SJBF (default)": Policy(),
}

STRATEGIES = (
    (0.5, False, "promises, 50 %"),
    (0.9, False, "promises, 90 %"),
    (0.9, True, "promises, 90 %, or less sure if that is offered"),
)


def workload(seed: int, load: float) -> tuple[list[Arrival], dict[int, str]]:
    """Return arrivals and their kinds; the first of them have no deadline, so that something can be learned."""
    chance = random.Random(seed)
    kinds = [
        (math.exp(chance.gauss(math.log(600), 0.8)), chance.choice([1, 2, 4]), chance.choice([0, 2, 4, 8]))
        for _ in range(KINDS)
    ]
    arrivals: list[Arrival] = []
    names: dict[int, str] = {}
    at_s = 0.0
    work = fmean(run_s * (core + elastic) for run_s, core, elastic in kinds)
    gap_s = work / (CORES * load)
    for number in range(JOBS):
        kind = chance.randrange(KINDS)
        run_s, core, elastic = kinds[kind]
        took_s = run_s * math.exp(chance.gauss(0.0, SIGMA))
        at_s += chance.expovariate(1 / gap_s)
        asks = number >= WARM_UP and chance.random() < 0.5
        deadline_s = at_s + took_s * chance.uniform(1.2, 5.0) if asks else math.inf
        names[number] = f"k{kind}"
        arrivals.append(
            Arrival(
                number=number,
                submit_s=at_s,
                run_s=took_s,
                estimate_s=run_s,
                core=core,
                total=core + elastic,
                component=Resources(1000, 1 << 30),
                tenant="study",
                deadline_s=deadline_s,
            )
        )
    return arrivals, names


def main() -> int:
    """Print the tables."""
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    print(machine())
    print(f"\n{len(seeds)} seeds, {JOBS} applications each; kept of what was promised")
    for load in LOADS:
        for confidence in CONFIDENCES:
            _calibration(seeds, load, confidence)
    print("\ngoodput, and slowdown of the work without a deadline")
    for load in LOADS:
        _use(seeds, load)
    return 0


def _run(
    seed: int, load: float, policy: Policy, confidence: float | None, *, accept: bool = False
) -> tuple[PromisedRun, list[Arrival]]:
    arrivals, kinds = workload(seed, load)
    wish = None if confidence is None else PromiseWish(confidence)
    run = PromisedRun(
        arrivals, NODES, replace(policy, promise_share=1.0, promise_offer_s=1.0), kinds, wish, accept=accept
    )
    run.run()
    return run, arrivals


def _calibration(seeds: Sequence[int], load: float, confidence: float) -> None:
    kept = broken = refused = noticed = 0
    for seed in seeds:
        run, _ = _run(seed, load, Policy(), confidence)
        refused += len(run.refused)
        for one in run.finished:
            if one.arrival.deadline_s < math.inf:
                in_time = one.end_s <= one.arrival.deadline_s + 1e-6
                kept, broken = kept + in_time, broken + (not in_time)
                noticed += not in_time and one.arrival.number in run.noticed
    share, low, high = wilson(kept, kept + broken)
    print(
        f"load {load}: confidence {confidence:.0%}: {kept + broken} promised, {refused} refused, "
        f"kept {share:.1%} (95 % interval {low:.1%} to {high:.1%}); {noticed} of {broken} broken ones announced",
        flush=True,
    )


def _use(seeds: Sequence[int], load: float) -> None:
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in seeds:
        for name, policy in BASELINES.items():
            found.setdefault(name, []).append(_worth(*_run(seed, load, policy, None)))
        for confidence, accept, name in STRATEGIES:
            found.setdefault(name, []).append(_worth(*_run(seed, load, Policy(), confidence, accept=accept)))
    best = [max(found[name][number][0] for name in BASELINES) for number in range(len(seeds))]
    for name, each in found.items():
        ratios = [one[0] / most for one, most in zip(each, best, strict=True)]
        slower = [one[1] / plain[1] for one, plain in zip(each, found["size + EASY-SJBF (default)"], strict=True)]
        worth, slowdown = median(one[0] for one in each), median(one[1] for one in each)
        print(
            f"load {load}: {name}: goodput {worth:.3f}, of the best other {median(ratios):.3f} "
            f"({min(ratios):.3f} to {max(ratios):.3f}); slowdown {slowdown:.2f}, of the default's {median(slower):.2f}",
            flush=True,
        )


def _worth(run: PromisedRun, arrivals: Sequence[Arrival]) -> tuple[float, float]:
    """Return the goodput, and the mean bounded slowdown of what had no deadline."""
    asked = sum(_core_s(one) for one in arrivals if one.deadline_s < math.inf)
    in_time = sum(_core_s(one.arrival) for one in run.finished if _met(one))
    plain = [one.bounded_slowdown for one in run.finished if one.arrival.deadline_s == math.inf]
    return in_time / asked, fmean(plain)


def _met(one: Finished) -> bool:
    return one.arrival.deadline_s < math.inf and one.end_s <= one.arrival.deadline_s + 1e-6


def _core_s(arrival: Arrival) -> float:
    return arrival.run_s * arrival.total


def wilson(good: int, of: int) -> tuple[float, float, float]:
    """Return a share with its 95 % interval."""
    if not of:
        return 0.0, 0.0, 1.0
    z, share = 1.96, good / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return share, middle - half, middle + half


if __name__ == "__main__":
    sys.exit(main())
