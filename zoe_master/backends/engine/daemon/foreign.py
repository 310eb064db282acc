"""Resources of a node used by foreign containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.engine.daemon.container_facts import seconds

Json = Mapping[str, Any]
_SHORTEST_S = 2.0
_STEP_MILLI = 100


@dataclass(frozen=True, slots=True)
class ForeignContainer:
    """The limits of a foreign container; 0 where it has none."""

    cores_milli: int
    memory_bytes: int


def foreign_container(inspected: Json) -> ForeignContainer:
    """Return the limits of a foreign container, from its own settings."""
    host = inspected["HostConfig"]
    cores_milli = (host.get("NanoCpus") or 0) // 10**6
    if not cores_milli and host.get("CpuQuota", 0) > 0 and host.get("CpuPeriod", 0) > 0:
        cores_milli = host["CpuQuota"] * 1000 // host["CpuPeriod"]
    return ForeignContainer(cores_milli, max(host.get("Memory") or 0, host.get("MemoryReservation") or 0))


def foreign_use(containers: Iterable[tuple[ForeignContainer, Resources]]) -> Resources:
    """Return the sum of foreign containers: limits where set, otherwise the cores and memory in use now."""
    result = Resources()
    for container, used in containers:
        cores_milli = container.cores_milli or used.cores_milli
        result = result + Resources(cores_milli, container.memory_bytes or used.memory_bytes)
    return result


class CpuUsage:
    """Averages the cores that containers use since the previous call. Not thread-safe."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, float, int]] = {}

    def look(self, stats: Mapping[str, Json]) -> Mapping[str, int]:
        """Return thousandths of a core by container, rounded to tenths of a core so that they change seldom; 0 at
        first.

        A call soon after another changes nothing: an average over a moment is meaningless.
        """
        self._seen = {
            container: self._next_sample(self._seen.get(container), container_stats)
            for container, container_stats in stats.items()
            if container_stats.get("read")
        }
        return {text: milli for text, (_, _, milli) in self._seen.items()}

    @staticmethod
    def _next_sample(before: tuple[float, float, int] | None, stats: Json) -> tuple[float, float, int]:
        at_s, used_s = seconds(stats["read"]) or 0.0, cpu_seconds(stats)
        if before is None or used_s < before[1]:
            return at_s, used_s, 0
        if at_s < before[0] + _SHORTEST_S:
            return before
        cores = (used_s - before[1]) / (at_s - before[0])
        return at_s, used_s, round(cores * 1000 / _STEP_MILLI) * _STEP_MILLI


def memory_used(stats: Json) -> int:
    """Return the memory in use, without the file cache that the kernel can free, like `docker stats`."""
    memory = stats.get("memory_stats") or {}
    details = memory.get("stats") or {}
    cache = details.get("total_inactive_file", details.get("inactive_file", 0))
    return max(int(memory.get("usage", 0)) - int(cache), 0)


def cpu_seconds(stats: Json) -> float:
    """Return CPU seconds since the container's start."""
    usage = (stats.get("cpu_stats") or {}).get("cpu_usage") or {}
    return int(usage.get("total_usage", 0)) / 1e9
