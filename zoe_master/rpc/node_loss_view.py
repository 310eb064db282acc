"""The answer to a question about the loss of nodes, as JSON."""

from __future__ import annotations

from typing import Any

from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.store.documents.codec import encode
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.what_if.node_loss import NodeLoss

SHOWN_MAX = 100
"""Entries of each list."""


def node_loss_view(snapshot: Snapshot, loss: NodeLoss) -> dict[str, Any]:
    """Return the first entries of each list with names and owners, and the totals."""
    there = {execution.id: execution for execution in (*snapshot.queued, *snapshot.active)}
    return {
        "failed": [_who(there, one, count) for one, count in loss.failed[:SHOWN_MAX]],
        "failed_total": len(loss.failed),
        "restarts": [
            {
                **_who(there, restart.execution_id, restart.services),
                "starts_now": restart.starts_now,
                "wait_s": restart.wait_s,
                "reason": encode(restart.reason),
                "misses_promise": restart.misses_promise,
            }
            for restart in loss.restarts[:SHOWN_MAX]
        ],
        "restarts_total": len(loss.restarts),
        "shrunk": [_who(there, one, count) for one, count in loss.shrunk[:SHOWN_MAX]],
        "shrunk_total": len(loss.shrunk),
        "booked": list(loss.booked[:SHOWN_MAX]),
        "booked_total": len(loss.booked),
        "longer": [
            {**_owner(there, wait.execution_id), "before_s": wait.before_s, "after_s": wait.after_s}
            for wait in loss.longer
        ],
    }


def _owner(there: dict[ExecutionId, Execution], execution_id: ExecutionId) -> dict[str, str]:
    execution = there[execution_id]
    return {"id": execution.id, "name": execution.name, "tenant": execution.tenant, "user": execution.user}


def _who(there: dict[ExecutionId, Execution], execution_id: ExecutionId, services: int) -> dict[str, Any]:
    return {**_owner(there, execution_id), "services": services}
