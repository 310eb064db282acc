"""The description of a batch job: one service for each node; the first one runs the script."""

from __future__ import annotations

import json
import posixpath
import re
import socket
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from zoe_job.common.job import NAME, Job, shown_name
from zoe_job.common.missing import API_PROGRAMS, PROGRAMS
from zoe_job.steps.script import SCRIPT
from zoe_job.submission.conflicts import MEMORY_LEAST_MIB, gpus_of, shape_of
from zoe_job.submission.packed import pack
from zoe_job.submission.request import JobRequest
from zoe_job.submission.script_lines import ScriptLines

IMAGE, MEMORY_MIB = "zoe/python", 1024
_RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from zoe_job.steps.script import main; main()"
# Scripts put other Pythons in front of PATH, by modules or conda; PYTHONHOME and PYTHONPATH then belong to those.
_PROGRAM = """\
#!/bin/sh
exec "${{ZOE_PYTHON:-python3}}" -EsB -c 'import pathlib, sys

sys.argv[0:2] = sys.argv[1:2]
sys.path[0] = str(pathlib.Path(sys.argv[0]).resolve().parent.parent)
from zoe_job.{0} import main

main()' "$0" "$@"
"""
STOP_GRACE_S = 30.0
"""From SIGTERM at the time limit to SIGKILL, the default of Slurm."""
_PORT = 6818  # of slurmd


def job_of(request: JobRequest, lines: ScriptLines, title: str, others: Sequence[JobRequest] = ()) -> Job:
    """Return the allocation; one node without a number. others: of further groups."""
    groups = [_allocation(other, ScriptLines(), title) for other in others]
    return replace(_allocation(request, lines, title), others=groups)


def _allocation(request: JobRequest, lines: ScriptLines, title: str) -> Job:
    each = request.ntasks_per_node
    nodes, ntasks = shape_of(request)
    cores = -(-ntasks // nodes) * (request.cpus_per_task or 1)
    gpus = next(iter(gpus_of(request).values()), 0)
    memory = request.mem or (request.mem_per_cpu or 0) * cores or (request.mem_per_gpu or 0) * gpus or MEMORY_MIB
    number, before_s, to_shell = request.signal or (None, 60.0, False)
    return Job(
        name=request.job_name or title,
        nodes=nodes,
        ntasks=ntasks,
        ntasks_given=request.ntasks is not None or each is not None,
        ntasks_per_node=each,
        cpus_per_task=request.cpus_per_task or 1,
        cpus_given=request.cpus_per_task is not None,
        memory_mib=memory,
        memory_per_cpu_mib=request.mem_per_cpu if request.mem is None else None,
        gpus=gpus,
        output=request.output,
        error=request.error,
        append=request.append,
        directory=request.chdir,
        input=request.input,
        variables=request.export,
        host=socket.gethostname(),
        module_lines=lines.module_lines[:100],
        conda_lines=lines.conda_lines[:100],
        arithmetic_lines=lines.arithmetic_lines[:100],
        signal=number,
        signal_before_s=before_s,
        signal_to_shell=to_shell,
        time_limit_s=request.time,
    )


def job_draft(
    script: str, arguments: Sequence[str], job: Job, request: JobRequest, image: str | None = None
) -> dict[str, Any]:
    """Return the description."""
    shared = {"image": image or IMAGE, "work_dir": "{workspace}"}
    first: dict[str, Any] = {
        "name": "main",
        **shared,
        "resources": _resources(job),
        "command": ["python3", "-B", "-c", _RUN, "{files}", "run", *(_literal(word) for word in arguments)],
        "environment": {
            "ZOE_JOB_HOST": "{host:self}",
            "ZOE_JOB_ATTEMPT": "{attempt}",
            "ZOE_JOB_USER": "{user}",
            "ZOE_JOB_WORKSPACE": "{workspace}",
        },
        "files": {SCRIPT: script, NAME: json.dumps({**asdict(job), "image": shared["image"]}), **programs()},
        "api": "jobs",
        "startup_order": 1,
        "ends_application": True,
        "stop_grace_s": STOP_GRACE_S,
    }
    further = list(_further_nodes(shared, job))
    if further:
        first["environment"]["ZOE_JOB_NODES"] = ",".join(f"{{addresses:{entry['name']}.srun}}" for entry in further)
    components = [first, *further]
    document: dict[str, Any] = {"version": 4, "name": shown_name(job.name), "components": components}
    if request.time is not None:
        document["time_limit_s"] = request.time
    if request.comment:
        document["description"] = request.comment
    if request.notify:
        document["notify"] = list(request.notify)
    if results := _results(request):
        document["results"] = results
    return document


def _resources(job: Job) -> dict[str, Any]:
    """Return the resources of each node of a group."""
    memory = max(job.memory_mib, MEMORY_LEAST_MIB)
    found: dict[str, Any] = {"memory": f"{memory}MiB", "cores": job.tasks_on_each * job.cpus_per_task}
    return {**found, "devices": {"gpu": job.gpus}} if job.gpus else found


def _further_nodes(shared: dict[str, Any], job: Job) -> Iterator[dict[str, Any]]:
    """Yield a component for the nodes beside the first one, and one for each further group."""
    number = 1
    for group, entry in enumerate(job.groups):
        count = entry.nodes if group else entry.nodes - 1
        if not count:
            continue
        yield {
            "name": f"group-{group}" if group else "node",
            **shared,
            "resources": _resources(entry),
            "command": [
                *("python3", "-B", "-c", _RUN, "{files}", "node"),
                *(str(number), "{instance}", "{host:self}", "{port:srun}"),
            ],
            "environment": {"ZOE_JOB_ATTEMPT": "{attempt}"},
            "files": pack(programs(further=True)),
            "essential_count": count,
            "total_count": count,
            "ports": [{"name": "srun", "number": _PORT}],
            "readiness": {"tcp": "srun", "interval_s": 0.2},
        }
        number += count


def programs(*, further: bool = False) -> dict[str, str]:
    """Return the texts of the included programs, by name; for further nodes without the ones that call the API."""
    root = Path(__file__).parents[1]
    modules = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.py"))}
    found = {
        f"zoe_job/{name}": module.read_text(encoding="utf-8")
        for name, module in modules.items()
        # A description has few files. Folders need no `__init__`: Python takes them as namespaces.
        if not name.endswith("/__init__.py") and not (further and _of_first_node(name))
    }
    own = {"srun": "steps.srun", **{name: f"commands.{name}" for name in ("scontrol", *API_PROGRAMS)}}
    lacking = dict.fromkeys((*PROGRAMS, *(API_PROGRAMS if further else ())), "common.missing")
    return {**found, **{f"bin/{name}": _PROGRAM.format(module) for name, module in {**own, **lacking}.items()}}


def _of_first_node(name: str) -> bool:
    """Return whether only programs of the first node need a module."""
    return name.startswith(("commands/", "submission/")) and name != "commands/scontrol.py"


def _results(request: JobRequest) -> list[str]:
    """Return the paths of the output files in the workspace, for `zoe fetch`."""
    below = posixpath.normpath(request.chdir or ".")
    patterns = [request.output or ("slurm-%A_%a.out" if request.array else "slurm-%j.out"), request.error or ""]
    found = [re.sub(r"%a", "{index}", pattern) if request.array else pattern for pattern in patterns]
    found = [re.sub(r"%\d{0,2}[A-Za-z]", "*", text) for text in found]
    found = [posixpath.normpath(posixpath.join(below, text)) if text else "" for text in found]
    return [
        fromkey
        for fromkey in dict.fromkeys(found)
        if re.fullmatch(r"(?!\*)[A-Za-z0-9._@*{}/-]+", fromkey) and _inside(fromkey)
    ]


def _inside(path: str) -> bool:
    return not path.startswith("/") and not any(part.startswith(".") or not part for part in path.split("/"))


def _literal(word: str) -> str:
    return word.replace("{", "{{").replace("}", "}}")
