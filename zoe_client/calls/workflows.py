"""Workflows: executions that depend on each other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from zoe_client import wire
from zoe_client.http.flow import answer_to
from zoe_client.http.transport import Transport, path_part
from zoe_client.words.promises import as_text
from zoe_client.words.times import sent_deadline

# The server cancels a thousand steps one by one, each in its own transaction.
_CANCEL_TIMEOUT_S = 120.0


class Workflows:
    """The calls of `Client.workflows`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def run(
        self,
        document: dict[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
        finish_by: str | None = None,
        confidence: float | None = None,
        budget: float | None = None,
    ) -> wire.WorkflowView:
        """Submit all steps of a workflow; the same idempotency key returns the same workflow.

        `finish_by`: run it if Zoe promises that all of it ends by then (`+3h`, `08:00 Europe/Paris`); see `promise` of
        the workflow. `confidence`: of the promise, 0.9 by default; `budget`: maximum cost.
        """
        body = _request(document, parameters, finish_by, confidence, budget)
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        return self._transport.call(wire.WorkflowView, "POST", "/workflows", body=body, headers=headers, again=True)

    def validate(self, document: dict[str, Any], parameters: Mapping[str, Any] | None = None) -> wire.WorkflowPlan:
        """Check a workflow, and return the executions that it compiles to; nothing is stored."""
        body = wire.WorkflowRequest(document=document, parameters=dict(parameters or {}))
        return self._transport.call(wire.WorkflowPlan, "POST", "/workflows:validate", body=body, again=True)

    def plan(
        self,
        document: dict[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        finish_by: str,
        confidence: float | None = None,
        budget: float | None = None,
    ) -> wire.PromisePlan:
        """Return the promise, or the offers, that a workflow would get if it were run now; nothing is stored."""
        body = _request(document, parameters, finish_by, confidence, budget)
        return self._transport.call(wire.PromisePlan, "POST", "/workflows:plan", body=body, again=True)

    def one(self, workflow_id: str) -> wire.WorkflowView:
        """Return a workflow with its steps."""
        return self._transport.call(wire.WorkflowView, "GET", f"/workflows/{path_part(workflow_id)}")

    def page(self, *, all_tenants: bool = False, limit: int = 50, cursor: str | None = None) -> wire.WorkflowList:
        """Return one page of workflows, newest first."""
        parameters = {"all_tenants": all_tenants or None, "limit": limit, "cursor": cursor}
        return self._transport.call(wire.WorkflowList, "GET", "/workflows", parameters=parameters)

    def of_execution(self, execution_id: str) -> str | None:
        """Return the workflow of an execution; None if it has none."""
        return self._transport.flow.perform(_workflow_of(self._transport, execution_id))

    def accept(self, workflow_id: str, offer: int = 1) -> wire.WorkflowView:
        """Accept an offer for a workflow that cannot be promised as requested."""
        path, body = f"/workflows/{path_part(workflow_id)}/accept", wire.AcceptRequest(offer=offer)
        return self._transport.call(wire.WorkflowView, "POST", path, body=body, again=True)

    def cancel(self, workflow_id: str) -> wire.WorkflowView:
        """Cancel all unfinished steps."""
        path = f"/workflows/{path_part(workflow_id)}/cancel"
        return self._transport.call(wire.WorkflowView, "POST", path, again=True, timeout_s=_CANCEL_TIMEOUT_S)

    def resume(self, workflow_id: str, *, idempotency_key: str | None = None) -> wire.WorkflowView:
        """Run unsuccessful steps again, and the steps that depend on them."""
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        path = f"/workflows/{path_part(workflow_id)}/resume"
        return self._transport.call(wire.WorkflowView, "POST", path, headers=headers, again=True)


async def _workflow_of(transport: Transport, execution_id: str) -> str | None:
    path = f"/workflows/of/{path_part(execution_id)}"
    return (await answer_to(transport.call(wire.WorkflowOf, "GET", path))).workflow_id


def _request(
    document: dict[str, Any],
    parameters: Mapping[str, Any] | None,
    finish_by: str | None,
    confidence: float | None,
    budget: float | None,
) -> wire.WorkflowRequest:
    as_text("finish_by", finish_by)
    return wire.WorkflowRequest(
        document=document,
        parameters=dict(parameters or {}),
        finish_by=None if finish_by is None else sent_deadline(finish_by, time.time()),
        confidence=confidence,
        budget=budget,
    )
