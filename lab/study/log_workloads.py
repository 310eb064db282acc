"""Applications made from published logs, by fixed rules and seeds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from zoe_lib.domain.values.resources import Resources
from zoe_simulator.formats import read_trace
from zoe_simulator.jobs import Job, Trace
from zoe_simulator.workload import Arrival

LOGS: Mapping[str, str] = {
    "kth-sp2": "KTH-SP2-1996-2.1.sc15filtered.swf.gz",
    "sdsc-sp2": "SDSC-SP2-1998-4.2.sc15filtered.swf.gz",
    "lublin-256": "lublin_256.swf.gz",
}
POPULATIONS = ("rigid", "malleable", "mixed")
AS_LOGGED = 0.0
# The number of windows of a log, evenly spread over it, which take the role of seeds.
WINDOWS = 4
# A job becomes at most this many components, so that none needs thousands of simulated services.
_COMPONENTS_MAX = 8
_CORE_SHARE = 4
_MALLEABLE_SHARE = 0.5


@cache
def trace_of(folder: Path, log: str) -> Trace:
    """Return a log from the folder of test data."""
    return read_trace(folder / LOGS[log])


def window_of(jobs: Sequence[Job], number: int, count: int) -> Sequence[Job]:
    """Return consecutive jobs; the windows are spread evenly over the log."""
    first = number * max(len(jobs) - count, 0) // (WINDOWS - 1)
    return jobs[first : first + count]


def log_workload(trace: Trace, window: int, count: int, load: float, population: str) -> tuple[Arrival, ...]:
    """Return the applications of a window, from time 0 on.

    `load`: gaps between arrivals are scaled by one factor so that the arriving work needs this share of the cores;
    `AS_LOGGED` scales nothing. `population`: rigid jobs are one component; of malleable ones a quarter of the
    components is core; mixed is a coin for each job, the same at every load and policy.
    """
    jobs = window_of(trace.jobs, window, count)
    first_s, span_s = jobs[0].submit_s, max(jobs[-1].submit_s - jobs[0].submit_s, 1.0)
    logged = sum(job.run_s * job.processors for job in jobs) / (span_s * trace.processors)
    scale = logged / load if load > AS_LOGGED else 1.0
    chance = random.Random(f"{trace.name} {window}")
    arrivals = []
    for number, job in enumerate(jobs):
        coin = chance.random() < _MALLEABLE_SHARE
        malleable = population == "malleable" or (population == "mixed" and coin)
        arrivals.append(_arrival(number, job, (job.submit_s - first_s) * scale, malleable))
    return tuple(arrivals)


def _arrival(number: int, job: Job, submit_s: float, malleable: bool) -> Arrival:
    processors = int(job.processors)
    parts = _parts(processors) if malleable else 1
    core = -(-parts // _CORE_SHARE)
    component = Resources(processors // parts * 1000)
    return Arrival(number, submit_s, job.run_s, job.request_s, core, parts, component, job.user, 0.0)


def _parts(processors: int) -> int:
    """Return the largest divisor up to eight, since components are alike."""
    return next(parts for parts in range(_COMPONENTS_MAX, 0, -1) if processors % parts == 0)
