"""What the loss of nodes would do: a question, which changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zoe_api.access.access import AsOperator
from zoe_api.access.wire_forms import reason_view
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.questions.bounded import Bound, question
from zoe_api.services.dependencies import MasterDep, StoreDep, ask
from zoe_client.wire import Diagnostic, NodeLossRequest, NodeLossView
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.store.documents.codec import decode

router = api_router(tag="cluster")


@router.post("/nodes/loss", response_model=NodeLossView)
@question(Bound.STEPS_OF_MASTER)
def try_loss(body: NodeLossRequest, caller: AsOperator, store: StoreDep, master: MasterDep) -> NodeLossView:
    """Return what would end, start again and wait longer if these nodes were lost now; nothing changes."""
    nodes = sorted(chosen_nodes(body, store.platform()))
    answer = ask(master, "node_loss", {"nodes": nodes}, caller.request, caller.user)
    return NodeLossView(nodes=nodes, **{**answer, "restarts": [_restart(row) for row in answer["restarts"]]})


def chosen_nodes(wanted: NodeLossRequest, there: Iterable[Node]) -> set[str]:
    """Return the names of the chosen nodes. ApiProblem if nothing, or something unknown, is named."""
    if not wanted.nodes and not wanted.labels:
        raise _wrong("/nodes", "name nodes, or labels that they have")
    nodes = list(there)
    known = {node.name for node in nodes}
    if unknown := sorted(set(wanted.nodes) - known):
        raise _wrong("/nodes", f"node {unknown[0][:100]} does not exist")
    labelled = {node.name for node in nodes if wanted.labels and wanted.labels.items() <= node.labels.items()}
    if wanted.labels and not labelled:
        shown = ", ".join(f"{key}={value}" for key, value in sorted(wanted.labels.items()))
        raise _wrong("/labels", f"no node has {shown[:200]}")
    return labelled | set(wanted.nodes)


def _wrong(pointer: str, message: str) -> ApiProblem:
    error = Diagnostic(pointer=pointer, code="invalid_value", message=message)
    return ApiProblem(Code.INVALID_REQUEST, message, errors=[error])


def _restart(row: dict[str, Any]) -> dict[str, Any]:
    reason = row["reason"]
    return {**row, "reason": None if reason is None else reason_view(decode(Reason, reason), row["id"])}
