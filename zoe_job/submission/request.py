"""Request of a batch job, from its options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from zoe_job.common.slurm_options import Given
from zoe_job.submission import values
from zoe_job.submission.losses import lost_part
from zoe_job.submission.values import BadValueError

_COMMENT_MAX = 4096


@dataclass(slots=True)
class JobRequest:
    """Values of options, None if not given; memory in MiB."""

    job_name: str | None = None
    nodes: int | None = None
    ntasks: int | None = None
    ntasks_per_node: int | None = None
    cpus_per_task: int | None = None
    mem: int | None = None
    mem_per_cpu: int | None = None
    mem_per_gpu: int | None = None
    gres: int | None = None
    gpus: int | None = None
    gpus_per_node: int | None = None
    gpus_per_task: int | None = None
    time: float | None = None
    array: str | None = None
    dependency: tuple[str, ...] = ()
    keep: bool = False
    begin: str | None = None
    deadline: str | None = None
    hold: bool = False
    output: str | None = None
    error: str | None = None
    input: str | None = None
    append: bool = False
    chdir: str | None = None
    notify: tuple[str, ...] = ()
    priority: int | None = None
    nice: int | None = None
    """Priority of `--nice`; `--priority` takes precedence."""
    export: dict[str, str] = field(default_factory=dict)
    export_all: bool = True
    comment: str | None = None
    signal: tuple[int, float, bool] | None = None
    parsable: bool = False
    quiet: bool = False
    wait: bool = False
    wrap: str | None = None
    test_only: bool = False

    @property
    def wanted_priority(self) -> int | None:
        """Return the priority of `--priority`, or otherwise of `--nice`."""
        return self.nice if self.priority is None else self.priority


@dataclass(frozen=True, slots=True)
class Finding:
    """An option without effect here (`harmless`), with another effect than in Slurm (`partly`), or not understood."""

    given: Given
    why: str
    harmless: bool = False
    partly: bool = False


def _text(text: str) -> str:
    if "\0" in text or "\n" in text:
        raise BadValueError("a control character")
    return text


def _comment(text: str) -> str:
    if len(text) > _COMMENT_MAX:
        raise BadValueError(f"it has {len(text)} characters; the maximum is {_COMMENT_MAX}")
    return _text(text)


def _export(text: str) -> dict[str, str]:
    """Return variables: NAME=VALUE, or NAME of this environment; the complete environment is not exported."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if name in ("ALL", "NONE", "NIL", ""):
            continue
        if not name.isidentifier() or not name.isascii():
            raise BadValueError(f"{name[:40]!r} is not the name of a variable")
        if equals or name in os.environ:
            found[name] = value if equals else os.environ[name]
    return found


def _memory(text: str) -> int | None:
    """Return MiB; 0, all memory of a node, is not possible."""
    mib = values.size_mib(text)
    if mib == 0:
        raise BadValueError("0 would be all memory of a node; give an amount")
    return mib


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "job-name": ("job_name", _text),
    "nodes": ("nodes", values.node_count),
    "ntasks": ("ntasks", values.count),
    "ntasks-per-node": ("ntasks_per_node", values.count),
    "cpus-per-task": ("cpus_per_task", values.count),
    "mem": ("mem", _memory),
    "mem-per-cpu": ("mem_per_cpu", _memory),
    "mem-per-gpu": ("mem_per_gpu", _memory),
    "gres": ("gres", values.generic),
    "gpus": ("gpus", values.gpus),
    "gpus-per-node": ("gpus_per_node", values.gpus),
    "gpus-per-task": ("gpus_per_task", values.gpus),
    "time": ("time", values.time_s),
    "array": ("array", _text),
    "dependency": ("dependency", values.dependencies),
    "kill-on-invalid-dep": ("keep", values.keep_unsatisfiable),
    "begin": ("begin", values.begin),
    "deadline": ("deadline", values.deadline),
    "output": ("output", _text),
    "error": ("error", _text),
    "input": ("input", _text),
    "open-mode": ("append", values.appends),
    "chdir": ("chdir", _text),
    "mail-type": ("notify", values.mail),
    "priority": ("priority", values.priority),
    "export": ("export", _export),
    "comment": ("comment", _comment),
    "signal": ("signal", values.warning),
    "wrap": ("wrap", str),
    "nice": ("nice", values.nice),
}
_SWITCHES = {
    "hold": "hold",
    "parsable": "parsable",
    "quiet": "quiet",
    "wait": "wait",
    "test-only": "test_only",
}
_HARMLESS = {
    **dict.fromkeys(("partition", "account", "qos", "clusters", "wckey"), "there are no partitions, accounts and QOS"),
    **dict.fromkeys(
        ("requeue", "no-requeue"), "after the loss of a node Zoe always runs it again; use retries for other failures"
    ),
    "mail-user": "mail goes to your own targets (`zoe notify`)",
    "exclusive": "a service has exclusive cores for its tasks, not the whole node; use -c for more",
    "get-user-env": "jobs begin with the environment of the image",
    **dict.fromkeys(
        [
            "verbose",
            "time-min",
            "acctg-freq",
            "profile",
            "propagate",
            "hint",
            "distribution",
            "cpu-freq",
            "mem-bind",
            "gpu-bind",
            "threads-per-core",
            "ntasks-per-core",
            "ntasks-per-socket",
            "oversubscribe",
            "no-kill",
            "overcommit",
            "gres-flags",
            "wait-all-nodes",
            "switches",
            "contiguous",
            "spread-job",
            "delay-boot",
            "use-min-nodes",
            "ignore-pbs",
        ],
        "placement and accounting are Zoe's",
    ),
}


def request_of(given: Iterable[Given]) -> tuple[JobRequest, list[Finding]]:
    """Return the request of options, the last of each name, and a finding for each without effect."""
    request, found = JobRequest(), []
    last = {entry.name: entry for entry in given}
    for entry in last.values():
        try:
            if finding := _take(request, entry):
                found.append(finding)
        except BadValueError as error:
            found.append(Finding(entry, str(error)))
    return request, found


def _take(request: JobRequest, given: Given) -> Finding | None:
    if given.name in _READERS:
        field_name, reader = _READERS[given.name]
        setattr(request, field_name, reader(given.value or ""))
        if given.name == "export":
            request.export_all = "ALL" in [part.strip() for part in (given.value or "").split(",")]
        if lost := lost_part(given.name, given.value or ""):
            return Finding(given, lost, harmless=True, partly=True)
    elif given.name in _SWITCHES:
        setattr(request, _SWITCHES[given.name], True)
    elif given.name in _HARMLESS:
        return Finding(given, _HARMLESS[given.name], harmless=True)
    else:
        return Finding(given, "Zoe has no equivalent")
    return None
