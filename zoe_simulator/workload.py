"""Seeded random workloads of elastic and rigid analytic applications.

The composition is that of the authors of "Flexible Scheduling of Distributed Analytic Applications" (Pace, Venzano,
Carra, Michiardi, CCGRID 2017) as far as known: 80 % elastic batch with ten times the tasks and a core of 0 to 4, 20 %
rigid, durations times 30, machines of 32 cores and 128 GB, log-normal errors of sizes. They drew tasks, durations and
gaps from the Google cluster traces, which are not part of this project: the shapes here are our own choice,
heavy-tailed and bursty as those traces were found to be (Reiss, Tumanov, Ganger, Katz, Kozuch, "Heterogeneity and
dynamicity of clouds at scale", SoCC 2012).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources

GIB = 2**30
MACHINES_PER_FACTOR = 5
MACHINE = Resources(32_000, 128 * 10**9)

_ELASTIC_SHARE = 0.8
_TASKS_MAX = 10
_TASKS_TIMES = 10
_CORE_MAX = 4
_DURATION_TIMES = 30
_DURATION_MEDIAN_S, _DURATION_SIGMA, _DURATION_MAX_S = 20.0, 1.6, 1200.0
_CORES_MILLI, _CORES_WEIGHTS = (500, 1000, 2000, 4000), (3, 4, 2, 1)
_MEMORY_MEDIAN_GIB, _MEMORY_SIGMA, _MEMORY_MAX_GIB = 1.5, 1.0, 16.0
# No application may need more than this share of the cluster, so that its rigid variant can run, too.
_LARGEST_SHARE = 0.5
# Seven of ten arrive in bursts, with gaps of a tenth of the mean.
_BURST_SHARE, _BURST_GAP = 0.7, 0.1
_TENANTS = 10
# Reading, in bytes per second and core at full speed; half of the readers can push down rows and columns.
_READER_SHARE, _PUSHDOWN_SHARE, _WISH_SHARE = 0.6, 0.5, 0.6
_RATE_MEDIAN, _RATE_SIGMA = 3e6, 1.0
_KEPT = (0.01, 0.1, 0.5)
# Preferred bandwidth: half of the usable one, within a bound: large enough that the sum over all readers exceeds the
# supply.
_WISH, _WISH_MAX = 0.5, 100_000_000
_DEADLINE_TIMES = (2.0, 20.0)


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads of an application from the object store while it runs.

    `read_bytes` in total, evenly over its work; `kept` is the share that projection and selection leave. `promised` is
    the bandwidth in bytes per second that it would request as a guarantee; None: none.
    """

    read_bytes: float
    kept: float = 1.0
    promised: int | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A future application. `run_s` is its run time with all `total` components, `estimate_s` the stated estimate."""

    number: int
    submit_s: float
    run_s: float
    estimate_s: float
    core: int
    total: int
    component: Resources
    tenant: str
    deadline_s: float
    reading: Reading | None = None
    interactive: bool = False
    preferred: int | None = None
    """Components that are enough for it; None: all."""
    scaling: float = 1.0
    """How its speed grows with its components: 1 in proportion, 0 not at all."""

    @property
    def area(self) -> float:
        """Return the core-seconds of all its work."""
        return self.run_s * self.total * self.component.cores_milli / 1000


def machines(factor: int = 1) -> tuple[Node, ...]:
    """Return the cluster of a scale factor."""
    return tuple(Node(f"machine{i:03}", MACHINE) for i in range(MACHINES_PER_FACTOR * factor))


def arrivals(seed: int, count: int, load: float, factor: int = 1) -> tuple[Arrival, ...]:
    """Return applications that arrive fast enough to need `load` times the cores of the cluster on average."""
    chance = random.Random(f"workload {seed}")
    made = [_application(chance, number, factor) for number in range(count)]
    cores = MACHINE.cores_milli / 1000 * MACHINES_PER_FACTOR * factor
    span_s = sum(arrival.area for arrival in made) / (cores * load)
    gaps = [chance.expovariate(1.0) * _gap(chance) for _ in made]
    now_s, result = 0.0, []
    for arrival, gap in zip(made, gaps, strict=True):
        now_s += gap / sum(gaps) * span_s
        deadline_s = now_s + arrival.run_s * chance.uniform(*_DEADLINE_TIMES)
        result.append(replace(arrival, submit_s=now_s, deadline_s=deadline_s))
    return tuple(result)


def with_errors(workload: Sequence[Arrival], seed: int, sigma: float) -> tuple[Arrival, ...]:
    """Return the same with estimates wrong by log-normal factors; the same draws for every sigma, scaled."""
    chance = random.Random(f"errors {seed}")
    return tuple(
        replace(arrival, estimate_s=arrival.run_s * math.exp(sigma * chance.gauss(0.0, 1.0))) for arrival in workload
    )


def with_reading(workload: Sequence[Arrival], seed: int) -> tuple[Arrival, ...]:
    """Return the same applications, some of which read from an object store."""
    chance = random.Random(f"reading {seed}")
    return tuple(replace(arrival, reading=_reading(chance, arrival)) for arrival in workload)


def rigid(workload: Sequence[Arrival]) -> tuple[Arrival, ...]:
    """Return the same with every component in the core: all or nothing."""
    return tuple(replace(arrival, core=arrival.total) for arrival in workload)


def _application(chance: random.Random, number: int, factor: int) -> Arrival:
    component = Resources(
        chance.choices(_CORES_MILLI, _CORES_WEIGHTS)[0],
        int(min(chance.lognormvariate(math.log(_MEMORY_MEDIAN_GIB), _MEMORY_SIGMA), _MEMORY_MAX_GIB) * GIB),
    )
    tasks = chance.choices(range(1, _TASKS_MAX + 1), [1 / t for t in range(1, _TASKS_MAX + 1)])[0]
    elastic = chance.random() < _ELASTIC_SHARE
    total = min(tasks * _TASKS_TIMES if elastic else tasks, _most(component, factor))
    # an empty core could not start: it becomes one component
    core = min(max(chance.randint(0, _CORE_MAX), 1), total) if elastic else total
    base_s = min(chance.lognormvariate(math.log(_DURATION_MEDIAN_S), _DURATION_SIGMA), _DURATION_MAX_S)
    run_s = max(base_s, 1.0) * _DURATION_TIMES
    tenant = f"tenant{chance.randrange(_TENANTS)}"
    return Arrival(number, 0.0, run_s, run_s, core, total, component, tenant, 0.0)


def _reading(chance: random.Random, one: Arrival) -> Reading | None:
    reads, knows, wishes = (chance.random() < share for share in (_READER_SHARE, _PUSHDOWN_SHARE, _WISH_SHARE))
    rate = chance.lognormvariate(math.log(_RATE_MEDIAN), _RATE_SIGMA) * one.total * one.component.cores_milli / 1000
    kept = chance.choice(_KEPT)
    if not reads:
        return None
    promised = max(int(min(rate * _WISH, _WISH_MAX)), 1)
    return Reading(rate * one.run_s, kept if knows else 1.0, promised if wishes else None)


def _most(component: Resources, factor: int) -> int:
    """Return as many components as fit on the share of the machines that one application may use."""
    on_one = min(MACHINE.cores_milli // component.cores_milli, MACHINE.memory_bytes // component.memory_bytes)
    return max(int(on_one * MACHINES_PER_FACTOR * factor * _LARGEST_SHARE), 1)


def _gap(chance: random.Random) -> float:
    if chance.random() < _BURST_SHARE:
        return _BURST_GAP
    return (1 - _BURST_SHARE * _BURST_GAP) / (1 - _BURST_SHARE)
