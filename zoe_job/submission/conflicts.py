"""Options that contradict each other, or have another effect together than alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from zoe_job.common.slurm_options import Given
from zoe_job.submission.request import Finding, JobRequest, request_of

MEMORY_LEAST_MIB = 64
"""Memory of the program that runs the script, and a shell beside it, in MiB; in Slurm, they do not count."""
_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")
_GPUS = ("gpus", "gpus-per-node", "gpus-per-task", "gres")


def whole_request(given: Iterable[Given]) -> tuple[JobRequest, list[Finding]]:
    """Return the request of all options of a group, and a finding for each option without effect, or in contradiction
    to others.
    """
    last = {entry.name: entry for entry in given}
    request, found = request_of(last.values())
    bad = {finding.given.name for finding in found if not finding.harmless}
    last = {name: given for name, given in last.items() if name not in bad}
    return request, [
        *found,
        *_memory(request, last),
        *_tasks(request, last),
        *_gpus(request, last),
        *_other_findings(last),
    ]


def _memory(request: JobRequest, last: Mapping[str, Given]) -> Iterator[Finding]:
    given = [last[name] for name in _MEMORY if name in last]
    if len(given) > 1:
        yield Finding(given[1], f"give only one of {', '.join(f'--{entry.name}' for entry in given)}")
        return
    if "mem-per-gpu" in last and not any(name in last for name in _GPUS):
        yield Finding(last["mem-per-gpu"], "the job asks for no GPU; use --mem")
    if request.mem is not None and request.mem < MEMORY_LEAST_MIB:
        why = f"the job gets {MEMORY_LEAST_MIB}M, which the program around the script needs"
        yield Finding(last["mem"], why, harmless=True, partly=True)


def shape_of(request: JobRequest) -> tuple[int, int]:
    """Return the nodes and tasks of a group; one node without a number."""
    each, nodes = request.ntasks_per_node, request.nodes
    if nodes is None:
        nodes = -(-request.ntasks // each) if request.ntasks and each else 1
    ntasks = request.ntasks or nodes * (each or 1)
    return min(nodes, ntasks), ntasks


def gpus_of(request: JobRequest) -> dict[str, int]:
    """Return the GPUs of each node, by each option for them."""
    nodes, ntasks = shape_of(request)
    found = {
        "gpus-per-task": None if request.gpus_per_task is None else request.gpus_per_task * -(-ntasks // nodes),
        "gres": request.gres,
        "gpus-per-node": request.gpus_per_node,
        "gpus": None if request.gpus is None else -(-request.gpus // nodes),
    }
    return {name: number for name, number in found.items() if number is not None}


def _tasks(request: JobRequest, last: Mapping[str, Given]) -> Iterator[Finding]:
    nodes, tasks = request.nodes, request.ntasks
    if nodes is None or tasks is None:
        return
    if nodes > tasks:
        yield Finding(last["nodes"], f"the job gets {tasks}, one for each task", harmless=True, partly=True)
    elif tasks % nodes:
        why = f"each of the {nodes} nodes gets the cores of {-(-tasks // nodes)} tasks"
        yield Finding(last["ntasks"], why, harmless=True, partly=True)


def _gpus(request: JobRequest, last: Mapping[str, Given]) -> Iterator[Finding]:
    (nodes, _), ways = shape_of(request), gpus_of(request)
    if len(set(ways.values())) > 1:
        which = " and ".join(f"{number} by --{name}" for name, number in ways.items())
        yield Finding(last[next(iter(ways))], f"the GPUs of each node would be {which}; give one of them")
    elif request.gpus and request.gpus % nodes:
        why = f"each of the {nodes} nodes gets {-(-request.gpus // nodes)}"
        yield Finding(last["gpus"], why, harmless=True, partly=True)


def _other_findings(last: Mapping[str, Given]) -> Iterator[Finding]:
    if "nice" in last and "priority" in last:
        yield Finding(last["nice"], "--priority says the priority", harmless=True)
    if "signal" in last and "time" not in last:
        yield Finding(last["signal"], "without --time the job has no end before which to send it", harmless=True)
