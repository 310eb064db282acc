"""Admission of all essential services or none: whether an execution can start now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zoe_client.words.amounts import cores, size
from zoe_lib.domain.cluster.cluster import Node, fits_when_empty
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, Service
from zoe_lib.domain.executions.gateway import core_groups, core_total
from zoe_lib.domain.values.reasons import NOT_SHOWN_TO_FIT, Reason, ReasonCode
from zoe_lib.domain.values.resources import NOTHING
from zoe_master.scheduler.placement.foreign_use import foreign_reason
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request
from zoe_master.scheduler.placement.window_ahead import window_ahead


def core_requests(execution: Execution, placer: ServicePlacer) -> list[Request]:
    """Return one request per group of identical essential instances, in start-up order."""
    begins_s, ends_s = placer.span(execution)
    tenant, storage, sure = execution.tenant, execution.application.storage, execution.promise is not None
    leaves_s = placer.leaves_s(execution)
    return [
        Request(component, count, tenant, storage, begins_s, ends_s, sure=sure, leaves_s=leaves_s)
        for component, count in core_groups(execution.application, placer.ledger.gateway)
    ]


def admit(execution: Execution, placer: ServicePlacer) -> tuple[Placement, ...] | Request:
    """Take room for every essential service, or return the request without room and leave the ledger unchanged.

    Where the policy's choice of nodes leaves a service without room, a tight packing is tried before giving up.
    """
    requests = core_requests(execution, placer)
    places = _place_by_policy(requests, placer)
    if isinstance(places, Request):
        # Services of one kind fill the room in any order; only a mixture can be packed better.
        packed = placer.pack(requests) if len(requests) > 1 else None
        if packed is None:
            return places
        places = packed
    return _placements(execution, requests, places, placer)


def places_in(placer: ServicePlacer, execution: Execution) -> tuple[Placement, ...] | None:
    """Return the places of its core, or None if it does not fit; the ledger stays unchanged."""
    answer = None if surely_refused(execution, placer) else admit(execution, placer)
    if not isinstance(answer, tuple):
        return None
    for node, amount in placer.ledger.holdings_at(execution, answer):
        placer.ledger.give_back(node, amount)
    return answer


def surely_refused(execution: Execution, placer: ServicePlacer) -> bool:
    """Return whether all nodes together have fewer free cores than its core needs: a quick check before `admit`."""
    return placer.ledger.lacks_cores(execution.application.core_resources().cores_milli)


def _place_by_policy(requests: Sequence[Request], placer: ServicePlacer) -> list[list[int]] | Request:
    """Return the indexes of nodes for each request, or the request without room."""
    found: list[list[int]] = []
    for request in requests:
        nodes = placer.place(request)
        found.append(nodes)
        if len(nodes) < request.count:
            for earlier, its_nodes in zip(requests, found, strict=False):
                placer.undo(earlier, its_nodes)
            return request
    return found


def _placements(
    execution: Execution, requests: Sequence[Request], found: Sequence[Sequence[int]], placer: ServicePlacer
) -> tuple[Placement, ...]:
    """Return the services of the requests, each with its node."""
    services: dict[str, list[Service]] = {}
    for service in reversed(execution.core_services()):
        services.setdefault(service.component, []).append(service)
    nodes = placer.ledger.nodes
    return tuple(
        Placement(service_id=services[request.component.name].pop().id, node=nodes[index].name)
        for request, indexes in zip(requests, found, strict=True)
        for index in indexes
    )


def refusal(execution: Execution, request: Request, placer: ServicePlacer) -> Reason:
    """Return why the core does not fit, forever or at present, with the number of nodes that each filter refused."""
    return lasting_refusal(execution, request, placer) or _no_room_now(execution, request, placer)


def lasting_refusal(execution: Execution, request: Request, placer: ServicePlacer) -> Reason | None:
    """Return why the core would not fit even if all Zoe services had ended; None if it would."""
    nodes = placer.ledger.nodes
    if not nodes:
        return Reason(ReasonCode.NO_NODES, "No node is known yet.", hint="see `zoe nodes` and `zoe status`")
    fits = fits_when_empty(execution.application, nodes, placer.steps)
    if isinstance(fits, Reason):
        return fits
    closed = no_usable_node(nodes, request.begins_s)
    if closed is not None:
        return replace(closed, counts=placer.refused_by(request))
    if not fits:
        return replace(_no_room_now(execution, request, placer), hint=NOT_SHOWN_TO_FIT)
    return _refused_by_nodes(execution, request, placer)


def _refused_by_nodes(execution: Execution, request: Request, placer: ServicePlacer) -> Reason | None:
    """Return the reason if absent nodes, or programs outside Zoe, take the room: no end of an execution returns it."""
    nodes = placer.ledger.nodes
    away = sum(not node.open_to(request.tenant, request.begins_s, request.leaves_s) for node in nodes)
    closed = placer.closed_by_plugins(request)
    if (away or closed) and not _fits_on(execution, placer.with_ledger(placer.ledger.without_services())):
        ahead = window_ahead(execution, request, placer, _fits_on)
        return ahead or _nodes_away(execution, request, placer, away, closed)
    used = any(node.foreign != NOTHING for node in nodes)
    if used and not _fits_on(execution, placer.with_ledger(placer.ledger.without_services(with_foreign=True))):
        return foreign_reason(request, nodes, _size(execution, placer), placer.refused_by(request))
    return None


def _fits_on(execution: Execution, placer: ServicePlacer) -> bool:
    return isinstance(admit(execution, placer), tuple)


def _nodes_away(execution: Execution, request: Request, placer: ServicePlacer, away: int, closed: int) -> Reason:
    """Return the reason for absent nodes. `away`: nodes that are down, drained or reserved; `closed`: nodes refused by
    plugins.
    """
    causes = ["down, drained or reserved"] * (away > 0) + ["refused by filters of plugins"] * (closed > 0)
    many = max(away, closed)
    return Reason(
        ReasonCode.NODES_AWAY,
        f"The nodes that it needs are {', or '.join(causes)}: without {_nodes(many)} its essential services "
        f"({_size(execution, placer)}) do not fit, even if nothing else runs.",
        placer.refused_by(request),
        "it keeps its turn until they are back, and blocks no other execution meanwhile",
    )


def no_usable_node(nodes: Sequence[Node], now_s: float) -> Reason | None:
    """Return the reason if all nodes are closed to all tenants; None if one is not."""
    if not all(_is_closed(node, now_s) for node in nodes):
        return None
    return Reason(
        ReasonCode.NO_NODES,
        f"No node can be used: {_nodes(len(nodes))} {'are' if len(nodes) > 1 else 'is'} down or drained.",
        hint="see `zoe nodes`; executions start when a node is back",
    )


def _is_closed(node: Node, now_s: float) -> bool:
    """Return whether a node is closed to all tenants: down or drained, and not only reserved, now or later."""
    return not node.ready or any(hold.tenant is None and hold.refuses("", now_s, now_s) for hold in node.holds)


def _no_room_now(execution: Execution, request: Request, placer: ServicePlacer) -> Reason:
    counts = placer.refused_by(request)
    refused = ", ".join(f"{count} by {name}" for name, count in sorted(counts.items()))
    return Reason(
        ReasonCode.NO_RESOURCES,
        f"The essential services need {_size(execution, placer)} at once; "
        f"component {request.component.name} found no room on {_nodes(len(placer.ledger.nodes))}"
        + (f" (refused: {refused})." if refused else " beside the other essential services."),
        counts,
        "it starts when enough running services have ended",
    )


def _size(execution: Execution, placer: ServicePlacer) -> str:
    core = core_total(execution.application, placer.ledger.gateway)
    return f"{cores(core.cores_milli)} and {size(core.memory_bytes)}"


def _nodes(count: int) -> str:
    return f"{count} node{'s' * (count > 1)}"
