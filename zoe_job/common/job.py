"""The job, as `zoe sbatch` wrote it, and the variables for scripts."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from zoe_job.common.groups import group_variables

NAME = "zoe-job.json"
_TITLE_MAX = 128
_NO_LIMIT_S = 365 * 24 * 3600
"""Seconds after which a job without a time limit ends in `SLURM_JOB_END_TIME`, as in Slurm."""


@dataclass(frozen=True)
class Job:
    """The allocation, and options of the script; sizes in cores and MiB."""

    name: str
    nodes: int = 1
    ntasks: int = 1
    ntasks_given: bool = False
    ntasks_per_node: int | None = None
    cpus_per_task: int = 1
    cpus_given: bool = False
    memory_mib: int = 0
    memory_per_cpu_mib: int | None = None
    gpus: int = 0
    output: str | None = None
    error: str | None = None
    append: bool = False
    directory: str | None = None
    input: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    host: str = ""
    module_lines: list[int] = field(default_factory=list)
    conda_lines: list[int] = field(default_factory=list)
    arithmetic_lines: list[int] = field(default_factory=list)
    signal: int | None = None
    signal_before_s: float = 60.0
    signal_to_shell: bool = False
    time_limit_s: float | None = None
    others: list[Job] = field(default_factory=list)
    """Further groups of a heterogeneous job, with their allocation only."""

    @property
    def groups(self) -> list[Job]:
        """Return all groups, first the one with the script."""
        return [self, *self.others]

    submit_directory: str | None = None
    image: str = ""

    @property
    def tasks_on_each(self) -> int:
        """Return the most tasks of one node."""
        return -(-self.ntasks // self.nodes)


def shown_name(name: str) -> str:
    """Return the name of a job in descriptions and lists."""
    return re.sub(r"[^A-Za-z0-9 ._@+-]+", "-", name)[:_TITLE_MAX].strip(" ._@+-") or "job"


def read_job(directory: Path) -> Job:
    """Return the job whose files are in a directory."""
    values = json.loads((directory / NAME).read_text())
    return Job(**{**values, "others": [Job(**other) for other in values.get("others", [])]})


def node_names(addresses: list[str], between_containers: bool) -> list[str]:
    """Return the names of all nodes. On one machine each gets a separate loopback address, so that programs can
    distinguish them.
    """
    if between_containers:
        return [address.rpartition(":")[0] for address in addresses]
    return [f"127.0.{1 + index // 250}.{1 + index % 250}" for index in range(len(addresses))]


def job_id(environment: dict[str, str]) -> str:
    """Return the id of the execution."""
    return environment.get("ZOE_EXECUTION_ID", "0")


def variables(job: Job, names: list[str], environment: dict[str, str]) -> dict[str, str]:
    """Return the variables of Slurm for the script; `names`: of the nodes of all groups."""
    own = job_id(environment)
    all_names, names = names, names[: job.nodes]
    here = environment.get("ZOE_JOB_WORKSPACE", str(Path.cwd()))
    each = job.tasks_on_each
    cores = each * job.cpus_per_task
    times = f"(x{job.nodes})" if job.nodes > 1 else ""
    found: dict[str, object] = {
        "SLURM_JOB_ID": own,
        "SLURM_JOBID": own,
        "SLURM_JOB_NAME": job.name,
        "SLURM_JOB_NODELIST": ",".join(names),
        "SLURM_NODELIST": ",".join(names),
        "SLURM_JOB_NUM_NODES": job.nodes,
        "SLURM_NNODES": job.nodes,
        "SLURM_NODEID": 0,
        "SLURM_PROCID": 0,
        "SLURM_LOCALID": 0,
        "SLURM_TASK_PID": os.getpid(),
        "SLURMD_NODENAME": names[0],
        "SLURM_TASKS_PER_NODE": f"{each}{times}",
        "SLURM_JOB_CPUS_PER_NODE": f"{cores}{times}",
        "SLURM_CPUS_ON_NODE": cores,
        "SLURM_SUBMIT_DIR": str(Path(here) / (job.submit_directory or "")),
        "SLURM_SUBMIT_HOST": job.host,
        "SLURM_JOB_USER": environment.get("ZOE_JOB_USER", ""),
        "SLURM_JOB_UID": os.getuid(),
        "SLURM_JOB_GID": os.getgid(),
        "SLURM_JOB_QOS": "normal",
        "SLURM_GTIDS": 0,
        "USER": environment.get("ZOE_JOB_USER", ""),
        "LOGNAME": environment.get("ZOE_JOB_USER", ""),
        "SLURM_CLUSTER_NAME": "zoe",
        "SLURM_JOB_PARTITION": "zoe",
        "ENVIRONMENT": "BATCH",
        "ZOE_IMAGE": job.image,
        "SLURM_JOB_START_TIME": int(time.time()),
        "SLURM_JOB_END_TIME": int(time.time() + (job.time_limit_s or _NO_LIMIT_S)),
    }
    found |= _optional_variables(job, environment) | _array(environment)
    return {name: str(value) for name, value in found.items()} | _groups(job, all_names, environment)


def _optional_variables(job: Job, environment: dict[str, str]) -> dict[str, object]:
    """Return variables that exist only for some jobs, as in Slurm."""
    found: dict[str, object] = {}
    if restarts := int(environment.get("ZOE_JOB_ATTEMPT", "1")) - 1:  # not in the first attempt
        found["SLURM_RESTART_COUNT"] = restarts
    if job.ntasks_given:
        found |= {"SLURM_NTASKS": job.ntasks, "SLURM_NPROCS": job.ntasks}
    if job.ntasks_per_node is not None:
        found["SLURM_NTASKS_PER_NODE"] = job.ntasks_per_node
    if job.cpus_given:
        found["SLURM_CPUS_PER_TASK"] = job.cpus_per_task
    if job.memory_per_cpu_mib is not None:
        found["SLURM_MEM_PER_CPU"] = job.memory_per_cpu_mib
    else:
        found["SLURM_MEM_PER_NODE"] = job.memory_mib
    if job.gpus:
        found |= {"SLURM_GPUS_ON_NODE": job.gpus, "SLURM_GPUS": job.gpus * job.nodes}
    return found


def _groups(job: Job, names: list[str], environment: dict[str, str]) -> dict[str, str]:
    """Return the additional variables of a heterogeneous job; `names` are those of all its nodes."""
    if not job.others:
        return {}
    alone = []
    for group in job.groups:
        own, names = names[: group.nodes], names[group.nodes :]
        alone.append(variables(replace(group, others=[]), own, environment))
    return group_variables(alone)


def _array(environment: dict[str, str]) -> dict[str, object]:
    if "ZOE_ARRAY_ID" not in environment:
        return {}
    names = {"JOB_ID": "ID", "TASK_ID": "INDEX", "TASK_COUNT": "SIZE", "TASK_MIN": "MIN", "TASK_MAX": "MAX"}
    found = {f"SLURM_ARRAY_{slurm}": environment[f"ZOE_ARRAY_{zoe}"] for slurm, zoe in names.items()}
    return {**found, "SLURM_ARRAY_TASK_STEP": environment.get("ZOE_ARRAY_STEP") or "1"}
