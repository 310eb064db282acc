"""Use of jobs: the samples of memory and CPU time that Zoe stores for each service."""

from __future__ import annotations

from dataclasses import dataclass

from zoe_job.commands.api import Api
from zoe_job.commands.calling import path_of
from zoe_job.commands.records import JobRecord, group_of


@dataclass(frozen=True)
class JobUse:
    """Largest memory of a node in bytes with the node, mean over all nodes, and CPU seconds."""

    peak_bytes: int
    average_bytes: int
    node: str
    cpu_s: float


def use_of(api: Api, job: JobRecord) -> JobUse | None:
    """Return the use by the last attempt of a job, or of one group of it; None without samples."""
    if job.started_s is None:
        return None
    samples = api.get(f"{path_of(job.job_id)}/usage")["usage"]
    newest = max((_attempt(sample["service_id"]) for sample in samples), default=0)
    peaks: dict[str, tuple[int, str, float]] = {}
    for sample in samples:
        service = sample["service_id"]
        if _attempt(service) == newest and job.offset in (None, group_of(service)):
            before = peaks.get(service, (0, "", 0.0))
            memory = max(before[:2], (int(sample["memory_bytes"]), sample["node"]))
            peaks[service] = (*memory, max(before[2], sample["cpu_s"]))
    if not peaks:
        return None
    peak, node, _ = max(peaks.values())
    average = sum(memory for memory, _, _ in peaks.values()) // len(peaks)
    return JobUse(peak, average, node, sum(cpu_s for _, _, cpu_s in peaks.values()))


def _attempt(service_id: str) -> int:
    return int(service_id.rpartition(".")[2])
