"""What containers that are not ours take of a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from zoe_lib.domain.resources import Resources

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ForeignContainer:
    """Its limits; 0 where it has none."""

    cores_milli: int
    memory_bytes: int


def foreign_container(inspected: Json) -> ForeignContainer:
    """What a foreign container may take, by its own settings."""
    host = inspected["HostConfig"]
    cores_milli = (host.get("NanoCpus") or 0) // 10**6
    if not cores_milli and host.get("CpuQuota", 0) > 0 and host.get("CpuPeriod", 0) > 0:
        cores_milli = host["CpuQuota"] * 1000 // host["CpuPeriod"]
    return ForeignContainer(cores_milli, max(host.get("Memory") or 0, host.get("MemoryReservation") or 0))


def taken(containers: Iterable[tuple[ForeignContainer, int]]) -> Resources:
    """All of them: limits where they are set, otherwise the memory they use now."""
    result = Resources()
    for container, used_bytes in containers:
        result = result + Resources(container.cores_milli, container.memory_bytes or used_bytes)
    return result


def memory_used(stats: Json) -> int:
    """Without the file cache that the kernel gives back, as `docker stats` counts."""
    memory = stats.get("memory_stats") or {}
    details = memory.get("stats") or {}
    cache = details.get("total_inactive_file", details.get("inactive_file", 0))
    return max(int(memory.get("usage", 0)) - int(cache), 0)


def cpu_seconds(stats: Json) -> float:
    """Since the container's start."""
    usage = (stats.get("cpu_stats") or {}).get("cpu_usage") or {}
    return int(usage.get("total_usage", 0)) / 1e9
