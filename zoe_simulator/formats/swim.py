"""Traces of SWIM: MapReduce jobs with the bytes they read, shuffle and write, without run times.

Chen, Ganapathi, Griffith and Katz, "The case for evaluating MapReduce performance using workload suites", MASCOTS 2011;
https://github.com/SWIMProjectUCB/SWIM. Tab-separated columns: name, submission in seconds, gap, bytes of map input, of
shuffle, of output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from zoe_simulator.formats.lines import read_lines, trace_name
from zoe_simulator.jobs import Job, Trace, TraceError, pool_of, processors_of

_COLUMNS = 6
# The estimate for a job that reads nothing and takes no time, since an estimate of zero would count as none.
_LEAST_S = 1e-6


def read_swim(path: Path, load: float) -> Trace:
    """Return the jobs as work for one server, in order of submission: each runs for as long as it takes to read its
    input.

    The speed of the server follows from the load: run times add up to `load` times the time from the first submission
    to the last. This is the interpretation of Dell'Amico, Carra and Michiardi, "PSBS: practical size-based scheduling",
    IEEE Transactions on Computers 65(7), 2016. Jobs without input take no time.
    """
    jobs = sorted(_jobs(read_lines(path), path.name), key=lambda job: job.submit_s)
    read = sum(job.bytes_read for job in jobs)
    if not read:
        raise TraceError(f"{path.name} contains no job that reads anything")
    span_s = jobs[-1].submit_s - jobs[0].submit_s
    bytes_per_s = read / (load * span_s) if span_s > 0 else 1.0
    timed = (replace(job, run_s=job.bytes_read / bytes_per_s) for job in jobs)
    return Trace(
        trace_name(path),
        pool_of(1),
        tuple(replace(job, request_s=max(job.run_s, _LEAST_S)) for job in timed),
        pool=True,
    )


def _jobs(lines: list[str], name: str) -> Iterator[Job]:
    for number, line in enumerate(lines, 1):
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            raise TraceError(f"{name}, line {number}: {len(columns)} columns, a job of SWIM has {_COLUMNS}")
        try:
            submit_s, read, _shuffled, written = float(columns[1]), *map(int, columns[3:])
        except ValueError as error:
            raise TraceError(f"{name}, line {number}: {error}") from None
        yield Job(number, submit_s, 0.0, 0.0, "swim", processors_of(1), 1, (), read, written)
