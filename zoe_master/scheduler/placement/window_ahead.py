"""Why an execution waits for a hold of nodes that has not begun: nothing says that it ends before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.clock import utc_text
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request

# Begins of holds that are tried, the latest first.
_BEGINS_MAX = 16
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60))

Fits = Callable[[Execution, ServicePlacer], bool]


def window_ahead(execution: Execution, request: Request, placer: ServicePlacer, fits: Fits) -> Reason | None:
    """Return the reason if the core would fit on empty nodes if it ended before a hold begins; None if not.

    The reason tells the longest time limit with which it would start now, if any.
    """
    ahead = [(hold, node) for node in placer.ledger.nodes for hold in node.holds if _is_ahead(hold, request)]
    begins = sorted({hold.since_s for hold, _ in ahead}, reverse=True)[:_BEGINS_MAX]
    empty = placer.ledger.without_services()
    latest_s = next((s for s in begins if fits(execution, placer.as_if_leaving(s, empty))), None)
    if latest_s is None:
        return None
    soonest = min((hold for hold, _ in ahead if hold.since_s >= latest_s), key=lambda hold: hold.since_s)
    nodes = [node for hold, node in ahead if hold.since_s == soonest.since_s]
    now = next((s for s in begins if fits(execution, placer.as_if_leaving(s, placer.ledger.copy()))), None)
    return Reason(
        ReasonCode.WINDOW_AHEAD,
        f"From {utc_text(soonest.since_s)}, {_what(soonest, nodes)}{_note(soonest)}, and {_why(execution)}.",
        placer.refused_by(request),
        _way_on(request.begins_s, latest_s, now),
    )


def _is_ahead(hold: NodeHold, request: Request) -> bool:
    return request.begins_s < hold.since_s and hold.refuses(request.tenant, request.begins_s, request.leaves_s)


def _what(hold: NodeHold, nodes: Sequence[Node]) -> str:
    which = f"node {nodes[0].name} is" if len(nodes) == 1 else f"{len(nodes)} nodes are"
    return f"{which} {'drained' if hold.tenant is None else 'reserved for another tenant'}"


def _note(hold: NodeHold) -> str:
    """Return the note; that of a reservation is for operators and for its tenant, which it does not refuse."""
    return f" ({hold.note})" if hold.note and hold.tenant is None else ""


def _why(execution: Execution) -> str:
    if execution.application.time_limit_s:
        return "the time limit of this execution reaches beyond"
    if execution.application.expected_run_s:
        return "the run time of this execution reaches beyond"
    return "this execution has no time limit, so it may not have ended by then"


def _way_on(now_s: float, latest_s: float, starts_s: float | None) -> str:
    if starts_s is not None:
        return f"with a time limit of at most {_rounded_down(starts_s - now_s)} it would start now"
    return f"with a time limit of at most {_rounded_down(latest_s - now_s)} it starts when there is room"


def _rounded_down(seconds: float) -> str:
    """Return a whole number of the largest unit of which there are two or more, so that the text seldom changes."""
    for unit, size in _UNITS:
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}s"
    return f"{int(seconds)} seconds"
