"""What the options of one srun say. Binding, PMI and the like have no effect; nothing is said of them for each step."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from zoe_job.slurm_options import SRUN, BadOptionError, Given, read


@dataclass
class Settings:
    """What the options of one srun say."""

    ntasks: int
    cores: int
    nodes: int | None
    per_node: int | None
    command: list[str]
    overlap: bool = False
    label: bool = False
    output: str | None = None
    error: str | None = None
    input: str | None = None
    append: bool = False
    directory: str = ""
    kill_on_bad_exit: bool = False
    variables: dict[str, str] = field(default_factory=dict)


def settings_of(words: list[str], environment: dict[str, str]) -> Settings:
    """Return what the words say, with the job's values where they say nothing; BadOptionError."""
    given, command, unknown = read(words, SRUN)
    if unknown:
        raise BadOptionError(f"there is no option {unknown[0]}")
    if not command:
        raise BadOptionError("no program is given")
    last = {one.name: one for one in given}
    if "multi-prog" in last:
        raise BadOptionError("--multi-prog is not supported")
    nodes = _number(last, "nodes")
    per_node = _number(last, "ntasks-per-node") or _of(environment, "SLURM_NTASKS_PER_NODE")
    job_nodes = _of(environment, "SLURM_NNODES") or 1
    inherited = None if nodes or "ntasks-per-node" in last else _of(environment, "SLURM_NTASKS")
    ntasks = _number(last, "ntasks") or inherited or (nodes or job_nodes) * (per_node or 1)
    if nodes is None and per_node is not None and "ntasks-per-node" not in last:
        per_node = None  # the job's own limit, which its cores already say
    cores = _number(last, "cpus-per-task") or _of(environment, "SLURM_CPUS_PER_TASK") or 1
    settings = Settings(ntasks, cores, nodes, per_node, command, overlap=bool({"overlap", "overcommit"} & set(last)))
    settings.label = "label" in last
    settings.output, settings.error, settings.input = (_text(last, one) for one in ("output", "error", "input"))
    settings.append = _text(last, "open-mode") == "append"
    settings.directory = _text(last, "chdir") or str(Path.cwd())
    bad = last.get("kill-on-bad-exit")
    settings.kill_on_bad_exit = bad is not None and bad.value != "0"
    settings.variables = _exported(_text(last, "export"), environment)
    return settings


def _number(given: dict[str, Given], name: str) -> int | None:
    """Return a number, the lower one of a range; BadOptionError."""
    text = _text(given, name)
    if text is None:
        return None
    found = text.partition("-")[0]
    if not (found.isascii() and found.isdecimal() and 0 < int(found) < 1_000_000):
        raise BadOptionError(f"--{name}={text} is not a number above 0")
    return int(found)


def _text(given: dict[str, Given], name: str) -> str | None:
    return given[name].value if name in given else None


def _of(environment: dict[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and int(text) else None


def _exported(text: str | None, environment: dict[str, str]) -> dict[str, str]:
    """Return the environment of the tasks: of srun, or what `--export` names of it."""
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
