"""Workloads of the study: run times and arrivals of published logs, bytes of SWIM, loads of cores and of the store.

A log does not identify repetitions of a job, but learning needs kinds. So a seed draws some jobs of the log
as kinds, with their run times and processors, and bytes from SWIM; arrivals follow the gaps of a window of the log,
scaled to the load of the cores.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lab.promises.applications import StudyApplication
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources
from zoe_simulator.formats import read_trace
from zoe_simulator.jobs import Job

NODES = tuple(Node(f"n{number}", Resources(8000, 64 << 30)) for number in range(8))
CORES = 64
CAPACITY = 640_000_000
"""Bytes per second of the store: 10 MB/s for each core, the rate that costs as much as a core without a price list."""
LOGS = ("KTH-SP2-1996-2.1.sc15filtered.swf.gz", "SDSC-SP2-1998-4.2.sc15filtered.swf.gz")
BYTES = "FB-2009_samples_24_times_1hr_0.tsv.gz"
SIGMAS = (0.0, 0.25, 0.5, 1.0)
ASKING = (0.2, 0.5, 0.8)
SLACK = (1.2, 5.0)
KINDS, APPLICATIONS, EARLIER = 8, 40, 80
_TOTAL_MAX, _SHORTEST_S, _LONGEST_S = 16, 120.0, 20_000.0
_LEAST_BYTES = 1 << 20
_READS_SHARE = 0.75
_READS_MOST = 2.0
_DRIFT = 2.0
_GAP_MOST = 10.0
_EARLIER_LOAD = 0.7


@dataclass(frozen=True, slots=True)
class StudyCase:
    """Parameters of a workload. The loads are of cores and store; the rest follows from the seed."""

    seed: int
    cores_load: float
    store_load: float

    @property
    def log(self) -> str:
        """Return the log of the run times and arrivals."""
        return LOGS[self.seed % 2]

    @property
    def sigma(self) -> float:
        """Return the variation of sizes within a kind: the deviation of their logarithms."""
        return SIGMAS[self.seed // 2 % 4]

    @property
    def asking(self) -> float:
        """Return the share of applications with a deadline."""
        return ASKING[self.seed % 3]

    @property
    def drifts(self) -> bool:
        """Return whether sizes grow to twice their value."""
        return self.seed // 8 % 2 == 1

    @property
    def fails(self) -> bool:
        """Return whether nodes fail."""
        return self.seed // 4 % 2 == 1


@dataclass(frozen=True, slots=True)
class NodeFailure:
    """A node that is lost at a time, and comes back; seconds."""

    node: str
    at_s: float
    back_s: float


@dataclass(frozen=True, slots=True)
class StudyWorkload:
    """Coming applications, earlier ones for learning, and failures of nodes."""

    applications: tuple[StudyApplication, ...]
    earlier: tuple[StudyApplication, ...]
    failures: tuple[NodeFailure, ...]


@cache
def _jobs(folder: Path, log: str) -> Sequence[Job]:
    return [job for job in read_trace(folder / log).jobs if _SHORTEST_S <= job.run_s <= _LONGEST_S]


@cache
def _read(folder: Path) -> Sequence[float]:
    return [
        float(job.bytes_read or 0) for job in read_trace(folder / BYTES).jobs if (job.bytes_read or 0) >= _LEAST_BYTES
    ]


def workload(case: StudyCase, folder: Path, count: int = APPLICATIONS) -> StudyWorkload:
    """Return the workload of a case; folder: of the logs. The same seed draws the same applications at all loads."""
    chance = random.Random(f"promises {case.seed}")
    jobs = _jobs(folder, case.log)  # jobs of some minutes or hours; the others hardly matter to the loads
    kinds = [_kind(chance, number, jobs, _read(folder)) for number in range(KINDS)]
    first = chance.randrange(len(jobs) - count - 1)
    gaps = _gaps(
        [
            max(b.submit_s - a.submit_s, 1.0)
            for a, b in zip(jobs[first:], jobs[first + 1 : first + count + 1], strict=False)
        ]
    )
    drawn = [_draw_application(chance, case, kinds, number / count) for number in range(count)]
    before = [replace(_draw_application(chance, case, kinds, 0.0), number=10_000 + number) for number in range(EARLIER)]
    span_s = sum(application.core_s for application in drawn) / (CORES * case.cores_load)
    drawn, before = _with_bytes(drawn, before, case.store_load * CAPACITY * span_s)
    made, at_s = [], 0.0
    for number, (application, gap) in enumerate(zip(drawn, gaps, strict=True)):
        asks, slack = chance.random() < case.asking, chance.uniform(*SLACK)
        alone_s = application.takes_s(application.total, CAPACITY)
        deadline_s = at_s + alone_s * slack if asks else math.inf
        made.append(replace(application, number=number, submit_s=at_s, deadline_s=deadline_s))
        at_s += gap / sum(gaps) * span_s
    gap_s = span_s / count * max(case.cores_load, case.store_load) / _EARLIER_LOAD
    earlier = tuple(replace(application, submit_s=number * gap_s) for number, application in enumerate(before))
    return StudyWorkload(tuple(made), earlier, _failures(chance, case, span_s))


def _gaps(logged: Sequence[float]) -> list[float]:
    """Return the gaps, none longer than ten times their mean: otherwise a holiday would be most of so short a
    window.
    """
    most = _GAP_MOST * sum(logged) / len(logged)
    return [min(gap, most) for gap in logged]


def _kind(chance: random.Random, number: int, jobs: Sequence[Job], read: Sequence[float]) -> StudyApplication:
    job = chance.choice(jobs)
    total = min(max(int(job.processors), 1), _TOTAL_MAX)
    reads = chance.choice(read) if chance.random() < _READS_SHARE else 0.0
    core = math.ceil(total / 4)
    return StudyApplication(0, f"k{number}", 0.0, job.run_s, core, total, chance.uniform(0.0, 0.1), reads, job.run_s)


def _draw_application(
    chance: random.Random, case: StudyCase, kinds: Sequence[StudyApplication], part: float
) -> StudyApplication:
    """Return one application; its size, of work and of bytes alike, is its kind's, times an error and the drift."""
    kind = chance.choice(kinds)
    size = math.exp(case.sigma * chance.gauss(0.0, 1.0)) * (_DRIFT**part if case.drifts else 1.0)
    return replace(kind, run_s=kind.run_s * size, read_bytes=kind.read_bytes * size)


def _with_bytes(
    drawn: Sequence[StudyApplication], before: Sequence[StudyApplication], wanted: float
) -> tuple[list[StudyApplication], list[StudyApplication]]:
    """Scale the bytes so that `wanted` are read in total, but none reads alone for more than twice its computing time.

    Without this bound a single job of SWIM would read more than all others together.
    """
    factor = 1.0
    for _ in range(40):
        scaled = [_scale_bytes(application, factor) for application in drawn]
        factor *= wanted / max(sum(entry.read_bytes for entry in scaled), 1.0)
    return [_scale_bytes(entry, factor) for entry in drawn], [_scale_bytes(entry, factor) for entry in before]


def _scale_bytes(one: StudyApplication, factor: float) -> StudyApplication:
    return replace(one, read_bytes=min(one.read_bytes * factor, _READS_MOST * one.run_s * CAPACITY))


def _failures(chance: random.Random, case: StudyCase, span_s: float) -> tuple[NodeFailure, ...]:
    """Return a failure of one node in each quarter of the time; it is away for a fiftieth of the time."""
    found = []
    for quarter in range(4):
        at_s, node = (quarter + chance.random()) * span_s / 4, chance.choice(NODES).name
        found.append(NodeFailure(node, at_s, at_s + span_s / 50))
    return tuple(found) if case.fails else ()
