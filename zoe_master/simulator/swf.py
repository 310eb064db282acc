"""The Standard Workload Format of the Parallel Workloads Archive: 18 columns a job, header lines begin with `;`.

Feitelson, "The Standard Workload Format", https://www.cs.huji.ac.il/labs/parallel/workload/swf.html
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_JOB, _SUBMIT, _RUN, _ALLOCATED, _REQUESTED, _REQUEST, _USER = 0, 1, 3, 4, 7, 8, 11
_COLUMNS_MIN = 12


class TraceError(Exception):
    """A file is no trace; the message says where it goes wrong."""


@dataclass(frozen=True, slots=True)
class Job:
    """A rigid job: seconds and processors as in the log."""

    id: int
    submit_s: float
    run_s: float
    processors: int
    request_s: float
    user: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs in order of submission, on a machine of so many processors."""

    name: str
    processors: int
    jobs: tuple[Job, ...]


def read_swf(path: Path) -> Trace:
    """The jobs of a log that could have run: requests within the machine, positive run times, run at most request.

    A missing number of processors is the requested one, a missing request the run time.
    """
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        lines = file.read().splitlines()
    processors = _machine(lines)
    jobs = tuple(_jobs(lines, path.name))
    processors = processors or max((job.processors for job in jobs), default=0)
    kept = [job for job in jobs if 0 < job.processors <= processors and job.run_s > 0 and job.request_s > 0]
    return Trace(path.name.split(".")[0], processors, tuple(sorted(kept, key=lambda job: job.submit_s)))


def _machine(lines: Iterable[str]) -> int:
    for line in lines:
        found = re.match(r";\s*MaxProcs:\s*(\d+)", line)
        if found:
            return int(found.group(1))
    return 0


def _jobs(lines: Iterable[str], name: str) -> Iterator[Job]:
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        columns = text.split()
        if len(columns) < _COLUMNS_MIN:
            raise TraceError(f"{name}, line {number}: {len(columns)} columns, a job has 18")
        try:
            yield _job(columns)
        except ValueError as error:
            raise TraceError(f"{name}, line {number}: {error}") from None


def _job(columns: list[str]) -> Job:
    run_s, request_s = float(columns[_RUN]), float(columns[_REQUEST])
    requested, allocated = int(columns[_REQUESTED]), int(columns[_ALLOCATED])
    request_s = request_s if request_s > 0 else run_s
    return Job(
        id=int(columns[_JOB]),
        submit_s=float(columns[_SUBMIT]),
        run_s=min(run_s, request_s),
        processors=requested if requested > 0 else allocated,
        request_s=request_s,
        user=columns[_USER],
    )
