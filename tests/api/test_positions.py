"""A change names its position, and a read that asks to be no older than that is answered by a tick that has seen it."""

from __future__ import annotations

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.documents import job, sized
from zoe_client import Client

WANTED = "Zoe-No-Older-Than"


def changed(http: httpx.Client, method: str, path: str, **more: object) -> tuple[httpx.Response, int]:
    response = http.request(method, f"/api/v1{path}", **more)  # type: ignore[arg-type]
    assert response.is_success, response.text
    return response, int(response.headers["Zoe-Position"])


def test_changes_name_their_positions_and_reads_wait_for_them(api: Api, http: httpx.Client) -> None:
    api.start_master()
    answer, first = changed(http, "POST", "/executions", json={"application": job()}, headers={"Idempotency-Key": "a"})
    execution = answer.json()["id"]
    shown = http.get(f"/api/v1/executions/{execution}/explain", headers={WANTED: str(first)})
    assert (shown.status_code, "Zoe-Position" in shown.headers) == (200, False)
    again, later = changed(http, "POST", "/executions", json={"application": job()}, headers={"Idempotency-Key": "a"})
    assert (again.json()["id"], later >= first) == (execution, True)
    _, cancelled = changed(http, "POST", f"/executions/{execution}/cancel")
    seen = http.get(f"/api/v1/executions/{execution}", headers={WANTED: str(cancelled)}).json()
    assert seen["state"] in ("stopping", "cancelled")
    beyond = http.get("/api/v1/executions", headers={WANTED: str(10**15)})
    assert problem(beyond)["code"] == "position_unknown"


@pytest.mark.parametrize("wanted", ["x", "-1", str(2**63)])
def test_invalid_position_is_refused(shared_api: Api, wanted: str) -> None:
    found = problem(shared_api.http().get("/api/v1/executions", headers={WANTED: wanted}))
    assert (found["status"], found["code"]) == (422, "invalid_request")


def test_position_without_a_token_is_refused(shared_api: Api) -> None:
    found = problem(shared_api.http(token=None).get("/api/v1/executions", headers={WANTED: "1"}))
    assert found["status"] == 401


def test_without_a_master_it_is_refused_and_the_sdk_shows_what_is_stored(shared_api: Api) -> None:
    http, client = shared_api.http(), shared_api.client()
    made = client.submit(job())
    found = http.get(f"/api/v1/executions/{made.id}", headers={WANTED: str(shared_api.store.last_journal_id())})
    assert (problem(found)["code"], "Retry-After" in found.headers) == ("master_unreachable", True)
    assert not client.explain(made.id).detailed
    client.cancel(made.id)


def test_the_sdk_asks_for_its_own_writes(api: Api, client: Client) -> None:
    """The explanation follows the submission at once, of a tick that has seen it; the one before may wait, too."""
    api.start_master()
    filler = client.submit(sized(4))
    other = client.submit(sized(4))
    last = client.submit(sized(4))
    answer = client.explain(last.id)
    assert (answer.detailed, answer.ahead in (0, 1)) == (True, True)
    for execution in (last, other, filler):
        client.cancel(execution.id)
