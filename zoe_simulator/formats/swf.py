"""The Standard Workload Format of the Parallel Workloads Archive: 18 columns per job; header lines begin with `;`.

Feitelson, "The Standard Workload Format", https://www.cs.huji.ac.il/labs/parallel/workload/swf.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from zoe_simulator.formats.lines import read_lines, trace_name
from zoe_simulator.jobs import Job, Trace, TraceError, pool_of, processors_of

_JOB, _SUBMIT, _RUN, _ALLOCATED, _REQUESTED, _REQUEST, _USER = 0, 1, 3, 4, 7, 8, 11
_APPLICATION = 13
_COLUMNS_MIN = 12


def read_swf(path: Path) -> Trace:
    """Return the jobs of a log that could have run: requests within the machine, positive run times, run at most
    request.

    A missing number of processors defaults to the requested one, a missing request to the run time. The machine is the
    header's MaxProcs, else its MaxNodes, else as large as the largest job.
    """
    lines = read_lines(path)
    jobs = tuple(_jobs(lines, path.name))
    processors = _header(lines, "MaxProcs") or _header(lines, "MaxNodes")
    processors = processors or int(max((job.processors for job in jobs), default=0))
    kept = [job for job in jobs if 0 < job.processors <= processors and job.run_s > 0 and job.request_s > 0]
    jobs = tuple(sorted(kept, key=lambda job: job.submit_s))
    return Trace(trace_name(path), pool_of(processors), jobs, pool=True)


def _header(lines: Iterable[str], name: str) -> int:
    for line in lines:
        found = re.match(rf";\s*{name}:\s*(\d+)", line)
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
    application = columns[_APPLICATION] if len(columns) > _APPLICATION else "-1"
    return Job(
        id=int(columns[_JOB]),
        submit_s=float(columns[_SUBMIT]),
        run_s=min(run_s, request_s),
        request_s=request_s,
        user=columns[_USER],
        reservation=processors_of(allocated if allocated > 0 else requested),
        application="" if application.startswith("-") else application,
    )


def swf_lines(trace: Trace, note: str) -> Iterator[str]:
    """Yield the log as text: header and one line per job, unknown columns -1; users are numbered in order of
    appearance.
    """
    yield "; Version: 2.2"
    yield f"; MaxJobs: {len(trace.jobs)}"
    yield f"; MaxProcs: {trace.processors:g}"
    yield f"; Note: {note}"
    users: dict[str, int] = {}
    for job in trace.jobs:
        user = users.setdefault(job.user, len(users) + 1)
        used = f"{job.submit_s:.0f} -1 {job.run_s:.0f} {job.processors:.0f} -1 -1"
        yield f"{job.id} {used} {job.processors:.0f} {job.request_s:.0f} -1 1 {user} -1 -1 -1 -1 -1 -1"
