"""Cleanup of a test's remaining executions."""

from __future__ import annotations

import contextlib

from tests.support.waiting import until
from zoe_client import Client, Conflict
from zoe_client.wire import ExecutionSummary
from zoe_lib.domain.executions.execution import ACTIVE_STATES, WAITING_STATES


def cancel_all(client: Client) -> None:
    """Cancel everything that waits or runs, of all tenants, and wait for the end: stopping executions keep their places
    until then.
    """
    for execution in _alive(client):
        with contextlib.suppress(Conflict):  # it has ended by itself
            client.cancel(execution.id)
    until(lambda: not _alive(client), lambda: [(summary.name, summary.state) for summary in _alive(client)])


def _alive(client: Client) -> list[ExecutionSummary]:
    alive = sorted(WAITING_STATES | ACTIVE_STATES)
    return client.executions(states=alive, limit=500, all_tenants=True).executions
