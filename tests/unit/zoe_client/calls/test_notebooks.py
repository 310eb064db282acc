"""Which execution is the user's notebook."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from zoe_client import Client
from zoe_client.calls.notebooks import why_closed
from zoe_client.errors import Conflict, NotFound
from zoe_client.wire import ExecutionView

TEXTS = {"tenant": "red", "user": "ada", "message": "", "kind": "interactive", "application": "python-notebook"}
NUMBERS = dict.fromkeys(("version", "priority", "core_total", "core_ready", "elastic_total", "elastic_ready"), 0)
DETAILS = ("services", "description", "conditions", "notes")
NOTHING = dict.fromkeys(("deadline_s", "outcome", "exit_code", "cause", "reason", "forecast"))
ENTRIES = [("python-notebook", "interactive"), ("spark-notebook", "interactive"), ("batch", "batch")]


def execution(number: int, state: str = "running", proxied: bool = True, services: bool = False) -> dict[str, Any]:
    """Return an execution as the API does; its notebook is ready if it has services."""
    notebook = {"name": "notebook", "ports": [{"name": "lab", "number": 8888, "proxied": proxied}]}
    service = {
        "id": f"x{number}.notebook-0", "name": "notebook-0", "component": "notebook", "index": 0, "state": "ready",
        "core": True, "attempt": 1, "message": "",
        **dict.fromkeys(("node", "started_at_s", "ready_at_s", "ended_at_s", "exit_code", "cause")),
    }  # fmt: skip
    return {
        **TEXTS, **NUMBERS, **NOTHING, "id": f"x{number}", "name": f"notebook {number}", "state": state,
        "submitted_at_s": float(number), "marks": {}, "attempt": 1, "ran_s": None,
        "services": [service] if services else [], "description": {"components": [notebook]},
        "conditions": None, "notes": [],
    }  # fmt: skip


class Api:
    """Answers as the API does, with pages of one execution."""

    def __init__(self, *live: dict[str, Any]) -> None:
        self.live = list(live)
        self.submitted: list[str] = []
        self.asked: list[httpx.QueryParams] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        return httpx.Response(200, json=self._answer(request, path))

    def _answer(self, request: httpx.Request, path: str) -> Any:
        if path == "/me":
            return {"user": "ada", "tenant": "red", "role": "user", "scopes": [], "admin": False}
        if path == "/catalogue":
            return {"entries": [entry(name, kind) for name, kind in ENTRIES]}
        if path == "/executions" and request.method == "POST":
            self.submitted.append(json.loads(request.content)["application"]["name"])
            return execution(99, "submitted")
        if path == "/executions":
            self.asked.append(request.url.params)
            at = int(request.url.params.get("cursor", "0"))
            more = str(at + 1) if at + 1 < len(self.live) else None
            page = [{key: one[key] for key in one if key not in DETAILS} for one in self.live[at : at + 1]]
            return {"executions": page, "next_cursor": more, "searched_to_s": None}
        if path.endswith("/open"):
            return {"url": "http://there"}
        return next(one for one in self.live if path == f"/executions/{one['id']}")


def entry(name: str, kind: str) -> dict[str, Any]:
    document = {"version": 4, "name": name, "kind": kind, "components": []}
    texts = {"title": name, "summary": "", "category": "", "id": name}
    return {**texts, "document": document}


def client_of(api: Api) -> Client:
    return Client("http://127.0.0.1:1", "token", transport=httpx.MockTransport(api))


def test_the_newest_with_a_page_is_taken_from_all_pages() -> None:
    api = Api(execution(3, proxied=False), execution(2), execution(1))
    with client_of(api) as client:
        assert client.notebook().id == "x2"
    assert api.submitted == []
    assert len(api.asked) == 2
    first = api.asked[0]
    assert (first["kind"], first["user"], "application" in first) == ("interactive", "ada", False)
    assert "stopping" not in first.get_list("state")


def test_with_an_entry_only_its_own_are_taken_and_one_is_started_else() -> None:
    api, told = Api(), list[str]()
    with client_of(api) as client:
        assert client.notebook("spark-notebook", started=lambda one: told.append(one.id)).id == "x99"
        assert client.notebook().id == "x99"
        with pytest.raises(NotFound, match="batch is not a notebook"):
            client.notebook("batch")
        with pytest.raises(NotFound, match="nothing is not in the catalogue"):
            client.notebook("nothing")
    assert (api.submitted, told) == (["spark-notebook", "python-notebook"], ["x99"])
    assert api.asked[0]["application"] == "spark-notebook"


def test_it_is_opened_once_it_is_ready() -> None:
    api, looks = Api(execution(1, "starting")), list[str]()

    def ready(one: Any) -> None:
        looks.append(one.state)
        api.live[0] = execution(1, services=True)

    with client_of(api) as client:
        assert client.open_when_ready("x1", 9.0, waits=ready).url == "http://there"
        api.live[0] = execution(1, "failed")
        with pytest.raises(Conflict, match="notebook 1 is failed"):
            client.open_when_ready("x1")
    assert looks == ["starting"]


@pytest.mark.parametrize(
    ("one", "asked", "why"),
    [
        (execution(1, "queued"), (), "x1 waits, so it has no page yet"),
        (execution(1, "starting"), (), "x1 is starting, and notebook is not ready yet"),
        (execution(1, proxied=False), (), "x1 has no service with a page: none of its ports is `proxied`"),
        (execution(1, "failed"), (), "x1 cannot be opened, as it has ended, failed"),
        (execution(1, "stopping"), (), "x1 cannot be opened, as it is stopping"),
        (execution(1), (None, "ui"), "x1 has no port ui that can be opened"),
        (execution(1, services=True), ("worker-0", "ui"), "x1 has no port ui and service worker-0 that can be opened"),
    ],
)
def test_each_reason_why_it_cannot_be_opened_has_its_sentence(
    one: dict[str, Any], asked: tuple[str | None, ...], why: str
) -> None:
    sentence, hint = why_closed(ExecutionView.model_validate(one), *asked)
    assert (sentence.split(": it")[0], bool(hint)) == (why, True)


def test_an_execution_without_a_page_is_refused_and_not_waited_for() -> None:
    with client_of(Api(execution(1, proxied=False))) as client, pytest.raises(NotFound, match="no service with a page"):
        client.open_when_ready("x1")
