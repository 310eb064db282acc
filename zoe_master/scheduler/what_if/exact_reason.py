"""The reason of one execution that the user asks about, node by node; a pass says less of thousands."""

from __future__ import annotations

from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.placement.admission import core_requests, lasting_refusal
from zoe_master.scheduler.placement.placement import ServicePlacer

_ABOUT_NODES = (
    ReasonCode.BEHIND_IN_QUEUE,
    ReasonCode.SCAN_LIMIT,
    ReasonCode.NEVER_FITS,
    ReasonCode.NODES_AWAY,
    ReasonCode.WINDOW_AHEAD,
    ReasonCode.FOREIGN_USE,
)


def exact_reason(execution: Execution, reason: Reason | None, placer: ServicePlacer) -> Reason | None:
    """Return the reason; for an execution behind others, the one that no end of others would remove, if any."""
    requests = core_requests(execution, placer)
    if reason is None or reason.code not in _ABOUT_NODES or not requests:
        return reason
    return lasting_refusal(execution, requests[0], placer) or reason
