"""All of the core or nothing: whether an execution can start now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from zoe_lib.domain.cluster import never_fits
from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, Service
from zoe_lib.domain.gateway import core_groups
from zoe_lib.domain.reasons import Reason, ReasonCode
from zoe_lib.domain.resources import total
from zoe_master.scheduler.placement import Placer
from zoe_master.scheduler.request import Request


def core_requests(execution: Execution, placer: Placer) -> Iterator[tuple[Request, list[Service]]]:
    """One request per group of identical core instances, with the services it stands for."""
    begins_s, ends_s = placer.span(execution)
    services: dict[str, list[Service]] = {}
    for service in execution.core_services():
        services.setdefault(service.component, []).append(service)
    for component, count in core_groups(execution.application, placer.ledger.gateway):
        group, services[component.name] = services[component.name][:count], services[component.name][count:]
        storage = execution.application.storage
        yield Request(component, count, execution.tenant, storage, begins_s, ends_s), group


def admit(execution: Execution, placer: Placer) -> tuple[Placement, ...] | Request:
    """Room for every core service, or the request that found none; then the ledger is as it was.

    Where the policy's choice of nodes leaves a service without room, a tight packing is tried before giving up.
    """
    refused = _admit_by_policy(execution, placer)
    if isinstance(refused, tuple):
        return refused
    requests = list(core_requests(execution, placer))
    # Services of one kind fill whatever has room in any order; only a mixture can be packed better.
    packed = placer.pack([request for request, _ in requests]) if len(requests) > 1 else None
    if packed is None:
        return refused
    return tuple(
        Placement(service_id=service.id, node=node)
        for (_, services), nodes in zip(requests, packed, strict=True)
        for service, node in zip(services, nodes, strict=True)
    )


def _admit_by_policy(execution: Execution, placer: Placer) -> tuple[Placement, ...] | Request:
    taken: list[tuple[Request, list[int]]] = []
    placements: list[Placement] = []
    for request, services in core_requests(execution, placer):
        nodes = placer.place(request)
        taken.append((request, nodes))
        if len(nodes) < request.count:
            for earlier, its_nodes in taken:
                placer.undo(earlier, its_nodes)
            return request
        placements.extend(
            Placement(service_id=service.id, node=placer.ledger.nodes[node].name)
            for service, node in zip(services, nodes, strict=True)
        )
    return tuple(placements)


def refusal(execution: Execution, request: Request, placer: Placer) -> Reason:
    """Why the core found no room: never, or not now; with how many nodes each filter refused."""
    nodes = placer.ledger.nodes
    if not nodes:
        return Reason(ReasonCode.NO_NODES, "No node is known yet.", hint="look at `zoe nodes` and `zoe status`")
    never = never_fits(execution.application, nodes)
    if never is not None:
        return never
    counts = Counter(name for name, _ in placer.refusals(request).values())
    core = total(c.reservation * count for c, count in core_groups(execution.application, placer.ledger.gateway))
    refused = ", ".join(f"{count} by {name}" for name, count in sorted(counts.items()))
    return Reason(
        ReasonCode.NO_RESOURCES,
        f"The core needs {core.cores_milli / 1000:g} cores and {core.memory_bytes / 2**20:.0f} MiB at once; "
        f"component {request.component.name} found no room on {len(nodes)} nodes"
        + (f" (refused: {refused})." if refused else " beside the rest of the core."),
        dict(counts),
        "it starts when enough of what runs now has ended",
    )
