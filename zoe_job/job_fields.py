"""Texts of jobs: times, and what `scontrol show job` prints. Source: Slurm 22.05."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from zoe_job.job_records import SHORT, JobRecord
from zoe_job.patterns import fill
from zoe_job.slurm_options import BadOptionError

_DAY_S = 86_400


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


def output_of(job: JobRecord) -> str:
    """Return the file of a job's output."""
    pattern = job.output or ("slurm-%A_%a.out" if job.array_id else "slurm-%j.out")
    environment = {"SLURM_JOB_ID": job.id, "SLURM_JOB_NAME": job.name, "SLURM_JOB_USER": job.user}
    if job.array_id:
        environment |= {"SLURM_ARRAY_JOB_ID": job.array_id, "SLURM_ARRAY_TASK_ID": job.task}
    return os.path.join(directory_of(job), fill(pattern, environment))  # noqa: PTH118 - absolute ones stay


def directory_of(job: JobRecord) -> str:
    """Return the directory in which a job's script runs."""
    return os.path.normpath(os.path.join(os.environ.get("HOME", "/"), job.directory))  # noqa: PTH118


def show_job(job: JobRecord, now_s: float | None = None) -> str:
    """Return the lines of `scontrol show job`; what Zoe does not have is left out."""
    limit = "UNLIMITED" if job.limit_s is None else span(job.limit_s)
    end_s = job.ended_s
    if end_s is None and job.started_s is not None and job.limit_s is not None:
        end_s = job.started_s + job.limit_s
    array = f" ArrayJobId={job.array_id} ArrayTaskId={job.task}" if job.array_id else ""
    names = job.nodes_named or "(null)"
    lines = [
        f"JobId={job.id}{array} JobName={job.name}",
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
        f"TRES=cpu={job.cores},mem={sum(nodes * mib for nodes, mib in job.groups)}M,node={job.nodes}",
        *_memories(job),
        f"WorkDir={directory_of(job)}",
        f"StdErr={output_of(job)}",
        "StdIn=/dev/null",
        f"StdOut={output_of(job)}",
    ]
    return "\n   ".join(lines)


def _memories(job: JobRecord) -> list[str]:
    """Return the memory of a node, for each group of a heterogeneous job."""
    if len(job.groups) < 2:
        return [f"MinMemoryNode={job.memory_mib}M"]
    return [f"HetJobOffset={n} NumNodes={nodes} MinMemoryNode={mib}M" for n, (nodes, mib) in enumerate(job.groups)]


def states_of(words: Sequence[str]) -> frozenset[str]:
    """Return the states that long or short names mean; BadOptionError for others, as in Slurm."""
    by_short = {short: name for name, short in SHORT.items()}
    found = [by_short.get(one.upper(), one.upper()) for one in words]
    if strange := next((one for one in found if one not in SHORT), None):
        raise BadOptionError(f"Invalid job state specified: {strange}\nValid job states include: {','.join(SHORT)}")
    return frozenset(found)


def short_state(job: JobRecord) -> str:
    """Return the short name of a job's state."""
    return SHORT[job.state]
