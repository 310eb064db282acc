"""Options of one srun. Binding, PMI and the like have no effect, without a message for each step."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from zoe_job.common.node_lists import BadNodesError, expand
from zoe_job.common.slurm_options import SRUN, BadOptionError, Given, MissingOptionError, missing_of, read
from zoe_job.common.times import seconds
from zoe_job.steps.programs import programs_of

_GPUS = frozenset(("gpus", "gpus-per-node", "gpus-per-task"))


@dataclass
class Settings:
    """Parsed options of one srun."""

    ntasks: int
    cores: int
    nodes: int | None
    per_node: int | None
    command: list[str]
    cores_given: bool = False
    overlap: bool = False
    label: bool = False
    output: str | None = None
    error: str | None = None
    input: str | None = None
    append: bool = False
    directory: str = ""
    kill_on_bad_exit: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    named: list[int] = field(default_factory=list)
    excluded: list[int] = field(default_factory=list)
    time_limit_s: float | None = None
    programs: dict[str, list[str]] = field(default_factory=dict)
    """Of `--multi-prog`: rank -> program and its arguments."""


def settings_of(words: list[str], environment: dict[str, str]) -> Settings:
    """Parse the words, with the job's values as defaults. Raises BadOptionError."""
    given, command, unknown = read(words, SRUN)
    if missing := missing_of(given):
        raise MissingOptionError(missing)
    if unknown:
        raise BadOptionError(f"there is no option {unknown[0]}")
    if not command:
        raise BadOptionError("no program is given")
    last = {entry.name: entry for entry in given}
    if "jobid" in last and not last["jobid"].value:
        raise BadOptionError("--jobid needs the id of a job")
    if "jobid" in last and last["jobid"].value != environment.get("SLURM_JOB_ID"):
        raise MissingOptionError(
            "--jobid is supported for the own job only; `zoe exec ID` runs a command in another one"
        )
    if (gpus := _GPUS & last.keys()) and "SLURM_GPUS_ON_NODE" not in environment:
        raise BadOptionError(
            f"--{min(gpus)}: the job has no GPUs; ask for them in the script with #SBATCH --gres=gpu:1"
        )
    nodes = _number(last, "nodes")
    per_node = _number(last, "ntasks-per-node") or _number_from(environment, "SLURM_NTASKS_PER_NODE")
    job_nodes = _number_from(environment, "SLURM_NNODES") or 1
    inherited = None if nodes or "ntasks-per-node" in last else _number_from(environment, "SLURM_NTASKS")
    ntasks = _number(last, "ntasks") or inherited or (nodes or job_nodes) * (per_node or 1)
    if nodes is None and per_node is not None and "ntasks-per-node" not in last:
        per_node = None  # the job's own limit, which its cores imply
    cores = _number(last, "cpus-per-task") or _number_from(environment, "SLURM_CPUS_PER_TASK") or 1
    settings = Settings(ntasks, cores, nodes, per_node, command, overlap=bool({"overlap", "overcommit"} & set(last)))
    settings.cores_given = "cpus-per-task" in last or "SLURM_CPUS_PER_TASK" in environment
    settings.label = "label" in last
    settings.output, settings.error, settings.input = (_text(last, entry) for entry in ("output", "error", "input"))
    settings.append = _appends(_text(last, "open-mode"))
    settings.directory = _text(last, "chdir") or str(Path.cwd())
    bad = last.get("kill-on-bad-exit")
    settings.kill_on_bad_exit = bad is not None and bad.value != "0"
    settings.variables = _task_environment(_text(last, "export"), environment)
    if "multi-prog" in last:
        settings.programs = programs_of(command[0], settings.ntasks)
    _choose_nodes(settings, last, environment.get("SLURM_JOB_NODELIST", "").split(","))
    try:
        settings.time_limit_s = seconds(_text(last, "time") or "0")
    except ValueError as error:
        raise BadOptionError(f"--time: {error}") from None
    return settings


def _choose_nodes(settings: Settings, given: dict[str, Given], nodes: list[str]) -> None:
    """Apply `--nodelist`, `--nodefile`, `--exclude` and `--relative`. Raises BadOptionError for a node outside of the
    job.
    """
    settings.named = _numbers(_text(given, "nodelist"), nodes)
    if path := _text(given, "nodefile"):
        try:
            settings.named += _numbers(",".join(Path(path).read_text().split()), nodes)
        except (OSError, UnicodeDecodeError) as error:
            raise BadOptionError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None
    settings.excluded = _numbers(_text(given, "exclude"), nodes)
    if first := _text(given, "relative"):
        if not (first.isascii() and first.isdecimal() and int(first) < len(nodes)):
            raise BadOptionError(f"--relative={first} is not a number of a node of this job")
        settings.excluded += range(int(first))


def _numbers(text: str | None, nodes: list[str]) -> list[int]:
    """Return the numbers of nodes, each once."""
    try:
        names = dict.fromkeys(expand(text or ""))
    except BadNodesError as error:
        raise BadOptionError(str(error)) from None
    if strange := next((name for name in names if name not in nodes), None):
        raise BadOptionError(f"this job has no node {strange}")
    return [nodes.index(name) for name in names]


def _number(given: dict[str, Given], name: str) -> int | None:
    """Return a number, for nodes the lower one of a range. Raises BadOptionError."""
    text = _text(given, name)
    if text is None:
        return None
    found = text.partition("-")[0] if name == "nodes" else text
    if not (found.isascii() and found.isdecimal() and 0 < int(found) < 1_000_000):
        raise BadOptionError(f"--{name}={text} is not a number above 0")
    return int(found)


def _appends(text: str | None) -> bool:
    if text not in (None, "append", "a", "truncate", "t"):
        raise BadOptionError(f"--open-mode={text}: use append or truncate")
    return text in ("append", "a")


def _text(given: dict[str, Given], name: str) -> str | None:
    return given[name].value if name in given else None


def _number_from(environment: dict[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and int(text) else None


def _task_environment(text: str | None, environment: dict[str, str]) -> dict[str, str]:
    """Return the environment of the tasks: of srun, or the part that `--export` selects."""
    if text is None:
        return environment
    parts = [part for part in text.split(",") if part]
    kept = {name: value for name, value in environment.items() if name.startswith(("SLURM_", "ZOE_"))}
    found = dict(environment) if "ALL" in parts else {**kept, "PATH": environment.get("PATH", os.defpath)}
    for part in parts:
        name, equals, value = part.partition("=")
        if equals:
            found[name] = value
        elif name in environment:
            found[name] = environment[name]
    return found
