"""The log of CERIT-SC (MetaCentrum, WAGAP, 2013) as the Alea simulator has it: SWF with requested nodes, and two types.

Klusáček, Tóth and Podolníková, "Real-life experience with major reconfiguration of job scheduling system", JSSPP 2015.
After the 18 columns of SWF come the processors used, the queue, and the request in the notation of PBS, such as
`4:ppn=12:cl_zegox`: four nodes, twelve cores on each, of the cluster zegox. Column 10 is memory in bytes on each node.
"""

from __future__ import annotations

import re
from pathlib import Path

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources
from zoe_simulator.formats.lines import read_lines, trace_name
from zoe_simulator.jobs import Job, Trace, TraceError

_GB = 2**30
_SUBMIT, _RUN, _PROCESSORS, _REQUEST, _MEMORY, _USER, _WANTED = 1, 3, 7, 8, 9, 11, 20
_CLUSTER = "cluster"
# Cluster -> nodes, and cores and memory of each.
_CLUSTERS = {"zewura": (20, 80, 529 * _GB), "zegox": (48, 12, 94 * _GB)}
# The properties in a request that name a cluster; all others hold on both, or name single nodes, and are ignored.
_PROPERTIES = {"cl_zewura": "zewura", "nodecpus80": "zewura", "cl_zegox": "zegox", "nodecpus12": "zegox"}


def read_metacentrum(path: Path) -> Trace:
    """Return the jobs as services on 68 nodes, one service on each requested node, in order of submission.

    Jobs that request more than the nodes have could not have run here, and are left out.
    """
    jobs = []
    for number, line in enumerate(read_lines(path), 1):
        if line.startswith(";") or not line.strip():
            continue
        try:
            job = _job(line.split())
        except (ValueError, IndexError) as error:
            raise TraceError(f"{path.name}, line {number}: {error}") from None
        if job.run_s > 0 and _could_run(job):
            jobs.append(job)
    return Trace(trace_name(path), _nodes(), tuple(sorted(jobs, key=lambda job: job.submit_s)))


def _nodes() -> tuple[Node, ...]:
    return tuple(
        Node(f"{name}{number}", Resources(cores * 1000, memory), labels={_CLUSTER: name})
        for name, (count, cores, memory) in _CLUSTERS.items()
        for number in range(1, count + 1)
    )


def _job(columns: list[str]) -> Job:
    request = columns[_WANTED]
    chunk = re.match(r"(\d+)(?::ppn=(\d+))?", request)
    count = int(chunk.group(1)) if chunk else 1
    processors = int(columns[_PROCESSORS])
    cores = int(chunk.group(2)) if chunk and chunk.group(2) else max(processors // count, 1)
    clusters = {_PROPERTIES[name] for part in request.split(":") if (name := part.split("#")[0]) in _PROPERTIES}
    run_s, request_s = float(columns[_RUN]), float(columns[_REQUEST])
    return Job(
        id=int(columns[0]),
        submit_s=float(columns[_SUBMIT]),
        run_s=min(run_s, request_s) if request_s > 0 else run_s,
        request_s=request_s if request_s > 0 else run_s,
        user=columns[_USER],
        reservation=Resources(cores * 1000, int(columns[_MEMORY])),
        services=count,
        labels=tuple((_CLUSTER, name) for name in sorted(clusters)),
    )


def _could_run(job: Job) -> bool:
    clusters = [name for _, name in job.labels] or list(_CLUSTERS)
    if len(clusters) > 1 and job.labels:
        return False
    wanted = job.reservation
    room = sum(
        min(cores * 1000 // wanted.cores_milli, memory // max(wanted.memory_bytes, 1)) * count
        for count, cores, memory in (_CLUSTERS[name] for name in clusters)
    )
    return room >= job.services
