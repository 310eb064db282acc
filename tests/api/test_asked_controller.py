"""The API as a client of a storage controller over HTTP: its requests, and its handling of any answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from storage_controller.rules.rule_store import RuleLedger
from tests.support.api import Api, problem
from tests.support.asked_controller import asks
from tests.support.serving import Served as ServedApp
from tests.support.storage_controller import Served, served_controller
from zoe_api.storage.client import StorageController

RULE = {"id": 1, "target": "TENANT:t", "rule": "FOR TENANT:t DO SET NOOP", "enforced": True}


@pytest.fixture
def controller(api: Api, postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url) as served:
        asks(api, served)
        yield served


def test_the_author_is_the_user_and_a_failure_has_the_requests_id(
    api: Api, controller: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    http = api.http(api.admin)
    made = http.post("/api/v1/storage/rules", json={"text": "FOR TENANT red DO SET NOOP"})
    assert made.json()["rules"][0]["author"] == "root"

    def fail(_: RuleLedger) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(RuleLedger, "rules", fail)
    with caplog.at_level(logging.ERROR):
        answer = http.get("/api/v1/storage/rules", headers={"X-Request-Id": "look-for-this"})
    told = problem(answer)
    assert (told["status"], told["code"]) == (503, "storage_rules_unavailable")
    assert told["detail"] == "the storage controller answers 503: the controller failed; see its log"
    assert "a request failed (request look-for-this)" in caplog.text


def test_a_controller_without_credentials_of_executions_keeps_no_history(api: Api, controller: Served) -> None:
    told = problem(api.http().get("/api/v1/storage/history", params={"from_s": 0}))
    assert (told["status"], "keeps no history of executions" in told["detail"]) == (503, True)


def test_a_missing_token_is_named(api: Api, controller: Served) -> None:
    without = api.settings.model_copy(update={"storage_url": controller.url})
    api.app.state.storage_controller = StorageController(without)
    told = problem(api.http(api.admin).get("/api/v1/storage/rules"))
    assert (told["status"], told["detail"]) == (503, "the storage controller does not accept the API's token")
    assert "storage_token_file (ZOE_STORAGE_TOKEN_FILE)" in told["hint"]


class Foreign:
    """A controller of another kind or version, with answers set by the test."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.may_answer = threading.Event()
        self.may_answer.set()

    def answer(self, request: Request) -> Response:
        assert self.may_answer.wait(60)
        if request.url.path not in self.answers:
            return JSONResponse({"error": "Not Found"}, 404)
        return JSONResponse(self.answers[request.url.path])


@pytest.fixture
def foreign(api: Api) -> Iterator[Foreign]:
    made = Foreign()
    served = ServedApp(Starlette(routes=[Route("/{path:path}", made.answer, methods=["GET", "POST", "PUT", "DELETE"])]))
    given = {"storage_url": served.url, "storage_timeout_s": 0.5}
    api.app.state.storage_controller = StorageController(api.settings.model_copy(update=given))
    yield made
    made.may_answer.set()
    served.close()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("rules", "this storage controller has no rules: use zoe-storage"),
        ("nodes", "this storage controller does not monitor nodes: use zoe-storage"),
        ("traffic", "this storage controller does not report requests: use zoe-storage"),
    ],
)
def test_a_controller_of_another_kind_has_a_sentence(api: Api, foreign: Foreign, path: str, sentence: str) -> None:
    told = problem(api.http(api.admin).get(f"/api/v1/storage/{path}"))
    assert (told["status"], told["code"], told["detail"]) == (503, "storage_rules_unavailable", sentence)


def test_controllers_of_other_versions_are_understood(api: Api, foreign: Foreign) -> None:
    http = api.http(api.admin)
    foreign.answers |= {"/v1/rules": [RULE | {"actions": [], "newer": 1}], "/v1/controllers": [], "/v1/modules": []}
    [rule] = http.get("/api/v1/storage/rules").json()["rules"]
    assert (rule["mode"], rule["modules"], "newer" in rule) == ("on", [], False)
    assert http.get("/api/v1/storage/controllers").json() == {"controllers": [], "proxies": []}
    assert http.get("/api/v1/storage/filters").json() == {"filters": [], "versions": []}


@pytest.mark.parametrize("answer", [None, {}, [1], [{**RULE, "id": "x"}], "text"])
def test_an_answer_that_makes_no_sense_is_none(api: Api, foreign: Foreign, answer: Any) -> None:
    foreign.answers["/v1/rules"] = answer
    told = problem(api.http(api.admin).get("/api/v1/storage/rules"))
    assert (told["status"], told["code"]) == (503, "storage_rules_unavailable")
    assert told["detail"].startswith("cannot parse the storage controller's answer: ")


def test_a_controller_that_hangs_is_left_in_time(api: Api, foreign: Foreign) -> None:
    foreign.may_answer.clear()
    began_s = time.monotonic()
    told = problem(api.http(api.admin).get("/api/v1/storage/slos"))
    assert (told["status"], told["code"]) == (503, "storage_rules_unavailable")
    assert "does not answer" in told["detail"]
    assert time.monotonic() - began_s < 30.0
