"""Assign tasks of a step to nodes, and values of each part from its environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zoe_job.common.groups import SIZE
from zoe_job.steps.heterogeneous import Part
from zoe_job.steps.step import Settings


@dataclass(frozen=True)
class Place:
    """One node of a step; `node`: its number in the job, `number`: in the step."""

    node: int
    number: int
    ranks: range


@dataclass(frozen=True)
class Share:
    """One part of a step on its nodes. Ranks count through all parts; `ntasks`: of the step."""

    settings: Settings
    environment: dict[str, str]
    places: tuple[Place, ...]
    ntasks: int

    @property
    def ranks(self) -> range:
        """Return the ranks of all its tasks."""
        return range(self.places[0].ranks.start, self.places[-1].ranks.stop)


def shares_of(
    parts: Sequence[Part], number: int, counts: Sequence[Sequence[int]], environment: dict[str, str]
) -> list[Share]:
    """Return the parts of a step with this number, and so many tasks on each node."""
    places: list[list[Place]] = []
    rank, nodes = 0, 0
    for of_part in counts:
        places.append([])
        for node, count in enumerate(of_part):
            if count:
                places[-1].append(Place(node, nodes, range(rank, rank + count)))
                rank, nodes = rank + count, nodes + 1
    names = (environment.get("ZOE_SRUN_NAMES") or environment.get("SLURM_JOB_NODELIST", "")).split(",")
    own = _variables([place for of_part in places for place in of_part], number, names)
    if SIZE in environment:
        own |= {"SLURM_JOB_NODELIST": own["SLURM_STEP_NODELIST"], "SLURM_NODELIST": own["SLURM_STEP_NODELIST"]}
        own["SLURM_JOB_NUM_NODES"] = own["SLURM_NNODES"]
    return [
        Share(part.settings, {**part.settings.variables, **own, **_cores(part.settings)}, tuple(of_part), rank)
        for part, of_part in zip(parts, places, strict=True)
    ]


def _cores(settings: Settings) -> dict[str, str]:
    return {"SLURM_CPUS_PER_TASK": str(settings.cores)} if settings.cores_given else {}


def _variables(places: Sequence[Place], number: int, names: Sequence[str]) -> dict[str, str]:
    tasks = sum(len(place.ranks) for place in places)
    chosen = ",".join(names[place.node] for place in places if place.node < len(names))
    of_each = ",".join(str(len(place.ranks)) for place in places)
    found: dict[str, object] = {
        "SLURM_STEP_ID": number,
        "SLURM_STEPID": number,
        "SLURM_NTASKS": tasks,
        "SLURM_NPROCS": tasks,
        "SLURM_NNODES": len(places),
        "SLURM_TASKS_PER_NODE": of_each,
        "SLURM_STEP_NUM_TASKS": tasks,
        "SLURM_STEP_NUM_NODES": len(places),
        "SLURM_STEP_NODELIST": chosen,
        "SLURM_STEP_TASKS_PER_NODE": of_each,
        "SLURM_SRUN_COMM_HOST": names[0],
    }
    return {name: str(value) for name, value in found.items()}
