"""Texts of jobs: times, and the output of `scontrol show job`. Source: Slurm 22.05."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from zoe_job.commands.records import SHORT, JobRecord
from zoe_job.common.patterns import fill
from zoe_job.common.slurm_options import BadOptionError

_DAY_S = 86_400
_UNITS = "KMGT"


def moment(at_s: float | None, unknown: str = "Unknown") -> str:
    """Return a time as Slurm prints it, in the zone of this machine."""
    return unknown if at_s is None else time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at_s))


def span(seconds: float) -> str:
    """Return a duration as `days-hours:minutes:seconds`, with two digits each, as sacct and scontrol print it."""
    days, rest = divmod(int(seconds), _DAY_S)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def short_span(seconds: float) -> str:
    """Return a duration as squeue prints it: `5:00`, `1:05:00`, `1-00:00:00`."""
    if seconds >= _DAY_S:
        return span(seconds)
    hours, minutes, rest = int(seconds) // 3600, int(seconds) // 60 % 60, int(seconds) % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def memory(kib: int, unit: str | None = None) -> str:
    """Return a size as Slurm prints it, in the largest unit with a whole number, or in K, M, G or T."""
    if unit is not None:
        return f"{kib / 1024 ** _UNITS.index(unit):.2f}{unit}"
    place = 0
    while kib and kib % 1024 == 0 and place < len(_UNITS) - 1:
        kib, place = kib // 1024, place + 1
    return f"{kib}{_UNITS[place] if kib else ''}"


def memory_of(job: JobRecord, nodes: int = 1) -> str:
    """Return the memory of so many nodes of a job."""
    return memory(job.memory_mib * nodes * 1024)


def output_of(job: JobRecord) -> str:
    """Return the output file of a job."""
    pattern = job.output or ("slurm-%A_%a.out" if job.array_id else "slurm-%j.out")
    environment = {"SLURM_JOB_ID": job.job_id, "SLURM_JOB_NAME": job.name, "SLURM_JOB_USER": job.user}
    if job.array_id:
        environment |= {"SLURM_ARRAY_JOB_ID": job.array_id, "SLURM_ARRAY_TASK_ID": job.task}
    return os.path.join(directory_of(job), fill(pattern, environment))  # noqa: PTH118 - absolute ones stay


def directory_of(job: JobRecord) -> str:
    """Return the directory of a job's script."""
    return os.path.normpath(os.path.join(os.environ.get("HOME", "/"), job.directory))  # noqa: PTH118


def show_job(job: JobRecord, now_s: float | None = None) -> str:
    """Return the lines of `scontrol show job`, also for one group of a heterogeneous job, without fields that Zoe
    lacks.
    """
    limit = "UNLIMITED" if job.limit_s is None else span(job.limit_s)
    end_s = job.ended_s
    if end_s is None and job.started_s is not None and job.limit_s is not None:
        end_s = job.started_s + job.limit_s
    array = f" ArrayJobId={job.array_id} ArrayTaskId={job.task}" if job.array_id else ""
    if job.offset is not None:
        array = f" HetJobId={job.job_id} HetJobOffset={job.offset}"
    names = job.nodes_named or "(null)"
    nodes = job.groups[0].nodes if job.groups else 1
    lines = [
        f"JobId={job.job_id}{array} JobName={job.name}",
        *([] if job.offset is None else [f"HetJobIdSet={job.job_id}"]),
        f"UserId={job.user}({os.getuid()}) GroupId={job.user}({os.getgid()}) MCS_label=N/A",
        f"Priority={job.priority} Nice=0 Account=(null) QOS=normal",
        f"JobState={job.state} Reason={job.reason} Dependency={job.dependency or '(null)'}",
        f"Requeue=1 Restarts={job.restarts} BatchFlag=1 Reboot=0 ExitCode={job.exit_code}:{job.signal}",
        f"RunTime={span(job.ran_s(now_s))} TimeLimit={limit} TimeMin=N/A",
        f"SubmitTime={moment(job.submitted_s)} EligibleTime={moment(job.submitted_s)}",
        f"StartTime={moment(job.started_s)} EndTime={moment(end_s)} Deadline=N/A",
        "Partition=zoe AllocNode:Sid=zoe:0",
        f"NodeList={names} BatchHost={names.partition(',')[0]}",
        f"NumNodes={job.nodes} NumCPUs={job.cores} NumTasks={job.cores} CPUs/Task=1",
        f"TRES=cpu={job.cores},mem={memory_of(job, nodes)},node={job.nodes}",
        f"MinMemoryNode={memory_of(job)}",
        f"WorkDir={directory_of(job)}",
        f"StdErr={output_of(job)}",
        "StdIn=/dev/null",
        f"StdOut={output_of(job)}",
    ]
    return "\n   ".join(lines)


def states_of(words: Sequence[str]) -> frozenset[str]:
    """Return the states of long or short names. Raises BadOptionError for others, as in Slurm."""
    by_short = {short: name for name, short in SHORT.items()}
    found = [by_short.get(word.upper(), word.upper()) for word in words]
    if strange := next((text for text in found if text not in SHORT), None):
        raise BadOptionError(f"Invalid job state specified: {strange}\nValid job states include: {','.join(SHORT)}")
    return frozenset(found)


def short_state(job: JobRecord) -> str:
    """Return the short name of a job's state."""
    return SHORT[job.state]
