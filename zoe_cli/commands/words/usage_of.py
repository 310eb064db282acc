"""Resource use of an execution's services, from the samples that the master stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from zoe_cli.rows import Rows
from zoe_cli.units import size
from zoe_client.quick.plain import Execution, Service, Usage
from zoe_client.vocabulary import ServiceState

_OVER = (ServiceState.ENDED, ServiceState.LOST)


@dataclass(frozen=True, slots=True)
class ServiceUse:
    """Present use of a service (None after its end), its peaks among the stored samples, and its reservation.

    `cpu_s` is the CPU time until the last sample, `sampled_s` the wall time until then.
    """

    service_id: str
    name: str
    node: str
    cores: float | None
    cores_peak: float | None
    cores_reserved: float
    memory_bytes: int | None
    memory_peak_bytes: int
    memory_reserved_bytes: int
    cpu_s: float
    sampled_s: float


def uses_of(execution: Execution, samples: Sequence[Usage]) -> list[ServiceUse]:
    """Return the usage of each sampled service, in the order of the services."""
    by_service: dict[str, list[Usage]] = defaultdict(list)
    for sample in samples:
        by_service[sample["service_id"]].append(sample)
    reserved = {
        str(component["name"]): component.get("resources", {})
        for component in execution["description"].get("components", [])
    }
    return [
        _use_of(service, sorted(by_service[service["id"]], key=lambda usage: usage["at_s"]), reserved)
        for service in execution["services"]
        if service["id"] in by_service
    ]


def use_rows(uses: Sequence[ServiceUse]) -> Rows:
    """Return the usage of services as a table."""
    rows = [
        (
            use.name,
            use.node,
            _cores(use.cores),
            _cores(use.cores_peak),
            f"{use.cores_reserved:g}",
            "" if use.memory_bytes is None else size(use.memory_bytes),
            size(use.memory_peak_bytes),
            size(use.memory_reserved_bytes),
        )
        for use in uses
    ]
    return Rows(("service", "node", "cores", "peak", "reserved", "memory", "peak", "reserved"), rows)


def use_data(execution: Execution, uses: Sequence[ServiceUse]) -> dict[str, Any]:
    """Return the usage of services as plain data."""
    return {"execution_id": execution["id"], "services": [asdict(use) for use in uses]}


def efficiency(uses: Sequence[ServiceUse]) -> Iterator[tuple[str, str]]:
    """Return the used share of an execution's reservation: CPU time in total, and memory of the fullest service."""
    reserved_s = sum(use.cores_reserved * use.sampled_s for use in uses)
    if reserved_s > 0:
        cpu_s = sum(use.cpu_s for use in uses)
        yield "used CPU", f"{cpu_s:.1f} s, {cpu_s / reserved_s:.0%} of the reserved cores"
    fullest = max(uses, key=_fullness, default=None)
    if fullest is not None:
        share = f"{_fullness(fullest):.0%} of its reservation"
        yield "peak memory", f"{size(fullest.memory_peak_bytes)} in {fullest.name}, {share}"


def ended_before(execution: Execution, seconds: float) -> bool:
    """Return whether services started, and each ran for less than so many seconds."""
    spans = [
        service["ended_at_s"] - service["started_at_s"]
        for service in execution["services"]
        if service["started_at_s"] is not None and service["ended_at_s"] is not None
    ]
    return bool(spans) and max(spans) < seconds


def _use_of(service: Service, samples: Sequence[Usage], reserved: dict[str, dict[str, Any]]) -> ServiceUse:
    last, over = samples[-1], service["state"] in _OVER
    rates = [
        (later["cpu_s"] - earlier["cpu_s"]) / (later["at_s"] - earlier["at_s"])
        for earlier, later in pairwise(samples)
        if later["at_s"] > earlier["at_s"] and later["cpu_s"] >= earlier["cpu_s"]
    ]
    resources = reserved.get(service["component"], {})
    return ServiceUse(
        service_id=service["id"],
        name=service["name"],
        node=last["node"],
        cores=None if over or not rates else rates[-1],
        cores_peak=max(rates, default=None),
        cores_reserved=float(resources.get("cores", 0)),
        memory_bytes=None if over else last["memory_bytes"],
        memory_peak_bytes=max(sample["memory_bytes"] for sample in samples),
        memory_reserved_bytes=_bytes(resources.get("memory", 0)),
        cpu_s=last["cpu_s"],
        sampled_s=max(last["at_s"] - (service["started_at_s"] or last["at_s"]), 0.0),
    )


def _fullness(use: ServiceUse) -> float:
    return use.memory_peak_bytes / use.memory_reserved_bytes if use.memory_reserved_bytes else 0.0


def _bytes(memory: Any) -> int:
    from zoe_client.documents.quantities import bytes_of

    return memory if isinstance(memory, int) else bytes_of(str(memory))


def _cores(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"
