"""Variables of a heterogeneous job: of its groups, each with separate nodes. The first one runs the script.

Source: the variables of Slurm 22.05.
"""

from __future__ import annotations

from collections.abc import Sequence

SIZE, NODES = "SLURM_HET_SIZE", "ZOE_SRUN_NAMES"
"""Number of groups of a heterogeneous job; names of all nodes of a job."""
_ENDING = "_HET_GROUP_"
# Variables of the first group that a group without its own value must not inherit.
_OF_A_GROUP = (
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_GPUS",
    "SLURM_GPUS_ON_NODE",
    "SLURM_MEM_PER_CPU",
    "SLURM_MEM_PER_NODE",
)


def group_environment(environment: dict[str, str], group: int) -> dict[str, str]:
    """Return the environment of a job that consists of this group alone."""
    if not group or SIZE not in environment:
        return environment
    ending = f"{_ENDING}{group}"
    own = {name.removesuffix(ending): text for name, text in environment.items() if name.endswith(ending)}
    found = {name: text for name, text in environment.items() if name not in _OF_A_GROUP} | own
    return {**found, "SLURM_NNODES": own["SLURM_JOB_NUM_NODES"], "SLURM_NODELIST": own["SLURM_JOB_NODELIST"]}


def group_variables(groups: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the variables of a job of several groups, from those of each group alone."""
    names = (
        *_OF_A_GROUP,
        "SLURM_JOB_ID",
        "SLURM_JOB_NAME",
        "SLURM_JOB_NODELIST",
        "SLURM_JOB_NUM_NODES",
        "SLURM_JOB_CPUS_PER_NODE",
        "SLURM_JOB_PARTITION",
        "SLURM_TASKS_PER_NODE",
    )
    found = {SIZE: str(len(groups))}
    for group, own in enumerate(groups):
        found |= {f"{name}{_ENDING}{group}": own[name] for name in names if name in own}
    return found
