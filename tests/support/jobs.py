"""Running jobs that call the API by their token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.support.api import Api
from tests.support.documents import job as described
from tests.support.people import SECRETS
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionState
from zoe_lib.tokens.job_tokens import JOBS, JobToken, JobTokens

BODY = {"application": described()}


def token_of(api: Api, execution_id: str, attempt: int = 1, grant: str = JOBS) -> str:
    """Return the token of an attempt of an execution of Ada's."""
    tokens = JobTokens(Path(api.settings.keys_dir))
    return SECRETS.note_token(tokens.text(JobToken(execution_id, attempt, "red", "ada", grant)))


class Job:
    """A running execution of Ada's in `red`, and calls with its token."""

    def __init__(self, api: Api, http: httpx.Client, execution_id: str = "") -> None:
        self._api = api
        self.id = execution_id or str(http.post("/api/v1/executions", json=BODY).json()["id"])
        start(api, self.id)
        self.token = token_of(api, self.id)
        self.http = api.http(self.token)

    def submit(self, **more: Any) -> httpx.Response:
        return self.http.post("/api/v1/executions", json={**BODY, **more})

    def child(self, **more: Any) -> str:
        made = self.submit(**more)
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def change(self, verb: str, target: str) -> httpx.Response:
        return self.http.post(f"/api/v1/executions/{target}/{verb}")


def start(api: Api, execution_id: str) -> None:
    found = api.store.execution(execution_id)
    placed = tuple(ev.Placement(service_id=service.id, node="n1") for service in found.current())
    queued = [ev.Queued(at_s=2.0)] if found.state is ExecutionState.SUBMITTED else []
    api.store.append(execution_id, [*queued, ev.StartPlanned(at_s=2.0, placements=placed)], found.version, None)


def finish(api: Api, execution_id: str) -> None:
    """End an attempt that was being stopped."""
    found = api.store.execution(execution_id)
    stopped = [
        ev.ServiceEnded(at_s=5.0, service_id=service.id, cause=Cause.STOPPED)
        for service in found.services
        if service.alive
    ]
    last = ev.Requeued(at_s=5.0, not_before_s=5.0) if found.cause is Cause.REQUEUED else ev.Ended(at_s=5.0)
    api.store.append(execution_id, [*stopped, last], found.version, None)
