"""Steps of several programs, or over several groups of a heterogeneous job: `srun A : B`, `--het-group`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zoe_job.common.groups import NODES, SIZE, group_environment
from zoe_job.common.slurm_options import SRUN, BadOptionError, read
from zoe_job.steps.held_cores import Requirements
from zoe_job.steps.step import Settings, settings_of

_INHERITED = ("label", "kill-on-bad-exit", "chdir", "output", "error", "input", "open-mode", "export", "time")
_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


@dataclass(frozen=True)
class Part:
    """One program of a step; `nodes`: numbers of the nodes of its group."""

    settings: Settings
    nodes: Sequence[int]

    def requirements(self, of_the_job: int) -> Requirements:
        """Return its requirements, for a job with so many nodes."""
        own = self.settings
        others = [node for node in range(of_the_job) if node not in self.nodes]
        return Requirements(
            own.ntasks,
            own.cores,
            own.nodes,
            own.per_node,
            own.overlap,
            [self.nodes[node] for node in own.named],
            [*others, *(self.nodes[node] for node in own.excluded)],
        )


def parts_of(words: Sequence[str], environment: dict[str, str]) -> list[Part]:
    """Return the parts of a step in the order of their groups. Raises BadOptionError and MissingOptionError."""
    programs = _with_inherited_options(split(words))
    chosen: dict[int, list[str]] = {}
    for place, program in enumerate(programs):
        # In a job of one group, each program of a step is a separate part.
        named = _groups(program) if SIZE in environment or len(programs) == 1 else None
        for group in named or [place]:
            if group in chosen:
                raise BadOptionError(f"two programs of the step are for group {group}")
            chosen[group] = program
    if SIZE in environment or len(programs) == 1:
        _check(max(chosen), environment)
    all_nodes = (environment.get(NODES) or environment.get("SLURM_JOB_NODELIST", "")).split(",")
    found = []
    for group in sorted(chosen):
        own = group_environment(environment, group)
        names = own.get("SLURM_JOB_NODELIST", "").split(",")
        numbers = [all_nodes.index(name) for name in names if name in all_nodes]
        found.append(Part(settings_of(chosen[group], own), numbers))
    if any(part.settings.input != found[0].settings.input for part in found[1:]):
        raise BadOptionError("give one --input for all programs of a step")
    return found


def _with_inherited_options(programs: Sequence[list[str]]) -> list[list[str]]:
    """Return the words of all programs, with the options that they inherit from the previous one, as in Slurm."""
    found: list[list[str]] = []
    taken: list[str] = []
    for program in programs:
        found.append([*taken, *program])
        given, _, _ = read(found[-1], SRUN)
        taken = [
            f"--{entry.name}" if entry.value is None else f"--{entry.name}={entry.value}"
            for entry in given
            if entry.name in _INHERITED
        ]
    return found


def split(words: Sequence[str]) -> list[list[str]]:
    """Return the words of each program of a step."""
    found: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            found.append([])
        else:
            found[-1].append(word)
    return found


def _groups(words: Sequence[str]) -> list[int] | None:
    """Return the groups of a program: `0,2-3`."""
    given, _, _ = read(words, SRUN)
    text = next((entry.value for entry in reversed(given) if entry.name == "het-group"), None)
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise BadOptionError(f"--het-group={text} is not a list of groups; use 0,1 or 0-1")
        found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return found


def _check(group: int, environment: dict[str, str]) -> None:
    size = int(environment.get(SIZE, "1"))
    if group >= size:
        raise BadOptionError(f"the job has no group {group}: its groups are 0 to {size - 1}")
