"""The reason of a core that fits only once foreign programs use less of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zoe_client.words.amounts import cores, size
from zoe_lib.domain.cluster.cluster import Node, lacks_labels
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.placement.request import Request

# Measured use changes in each pass. Reported in coarse steps, the reason changes, and is journalled, only rarely.
_STEPS = 16
_NODES_NAMED = 3


def foreign_reason(request: Request, nodes: tuple[Node, ...], size: str, counts: dict[str, int]) -> Reason:
    """Return the nodes on which foreign programs use most of the resources that the core needs, with their use."""
    usable = [node for node in nodes if _usable(request, node)]
    used = [(node, "; ".join(_blocking_uses(request, node))) for node in sorted(usable, key=_by_use)]
    named = [f"{text} on {node.name}" for node, text in used if text]
    more = len(named) - _NODES_NAMED
    rest = f", and some on {more} more node{'s' * (more > 1)}" if more > 0 else ""
    return Reason(
        ReasonCode.FOREIGN_USE,
        f"Its essential services ({size}) do not fit next to programs that Zoe does not run. "
        f"They use {', '.join(named[:_NODES_NAMED])}{rest}.",
        counts,
        "it starts when these programs use less; until then it keeps its turn and blocks no other execution",
    )


def _usable(request: Request, node: Node) -> bool:
    open_to_it = node.open_to(request.tenant, request.begins_s, request.leaves_s)
    return open_to_it and lacks_labels(request.component, node) is None


def _by_use(node: Node) -> tuple[float, str]:
    """Sort by share, largest first; ties by name."""
    shares = [
        node.foreign.cores_milli / max(node.total.cores_milli, 1),
        node.foreign.memory_bytes / max(node.total.memory_bytes, 1),
    ]
    return -round(max(shares) * _STEPS) / _STEPS, node.name


def _blocking_uses(request: Request, node: Node) -> Iterator[str]:
    """Return the blocking use; all of it if one instance fits next to it and only several do not."""
    texts = [text for text, matters in _each_use(request, node) if matters]
    yield from texts or [text for text, _ in _each_use(request, node)]


def _each_use(request: Request, node: Node) -> Iterator[tuple[str, bool]]:
    """Yield each use as text, and whether more instances would fit without it."""
    reservation, total, foreign = request.component.reservation, node.total, node.foreign
    if reservation.memory_bytes and foreign.memory_bytes > 0:
        used = _coarse(foreign.memory_bytes, total.memory_bytes, size)
        most = total.memory_bytes // reservation.memory_bytes
        if reservation.cores_milli:
            most = min(most, total.cores_milli // reservation.cores_milli)
        fewer = node.usable.memory_bytes // reservation.memory_bytes < most
        yield f"{used} of {size(total.memory_bytes)} of memory", fewer
    if reservation.cores_milli and foreign.cores_milli > 0:
        used = _coarse(foreign.cores_milli, total.cores_milli, lambda milli: cores(milli).partition(" ")[0])
        yield f"{used} of {cores(total.cores_milli)}", True
    for kind in reservation.devices:
        if foreign.devices.get(kind, 0) > 0:
            yield f"{foreign.devices[kind]} of {total.devices.get(kind, 0)} {kind}", True


def _coarse(used: int, total: int, words: Callable[[float], str]) -> str:
    steps = round(used * _STEPS / max(total, 1))
    return f"about {words(steps * total / _STEPS)}" if steps else f"less than {words(total / _STEPS)}"
