"""Another user of the tenant meets an execution at every route, stream and socket as if it did not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from tests.support.api import Api, problem
from tests.support.documents import document, job, part
from tests.support.opened import PORTS, Opened
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_api.apps import access, sockets
from zoe_api.http.request_context import PREFIX
from zoe_api.services import looks
from zoe_client import NotAllowed, NotFound
from zoe_client.http.sse import parse_events
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.execution import ExecutionState

NAME, SECRET = "hidden-name", "hidden-value"
BODIES: dict[tuple[str, str], Any] = {
    ("put", "/executions/{execution_id}/shares"): {"level": "look", "user": "eve"},
    ("patch", "/executions/{execution_id}"): {"priority": 0},
    ("post", "/executions/{execution_id}/accept"): {"offer": 1},
    ("post", "/executions/{execution_id}/scale"): {"total_counts": {"main": 1}},
}
LOOKS = {
    ("get", "/executions/{execution_id}"),
    ("get", "/executions/{execution_id}/eta"),
    ("get", "/executions/{execution_id}/events"),
    ("get", "/executions/{execution_id}/explain"),
    ("get", "/executions/{execution_id}/services/{service_id}/logs"),
    ("get", "/executions/{execution_id}/services/{service_id}/logs/stream"),
    ("get", "/executions/{execution_id}/services/{service_id}/ports/{port}"),
    ("get", "/executions/{execution_id}/usage"),
    ("get", "/executions/{execution_id}/waits"),
    ("get", "/workflows/of/{execution_id}"),
    ("get", "/executions/{execution_id}/diff"),
    ("get", "/executions/{execution_id}/storage"),
}
_NOT_NOW = ("no_logs", "master_unreachable", "illegal_state", "storage_rule_refused")
OPENS = {("post", "/executions/{execution_id}/services/{service_id}/ports/{port}/open")}
CONTROLS = {
    ("post", "/executions/{execution_id}/cancel"),
    ("post", "/executions/{execution_id}/hold"),
    ("post", "/executions/{execution_id}/release"),
    ("post", "/executions/{execution_id}/requeue"),
    ("post", "/executions/{execution_id}/accept"),
    ("post", "/executions/{execution_id}/scale"),
    ("patch", "/executions/{execution_id}"),
}
FILES = {("get", "/executions/{execution_id}/results")}
OWNERS = {
    ("post", "/executions/{execution_id}/cancel-descendants"),
    ("get", "/executions/{execution_id}/shares"),
    ("put", "/executions/{execution_id}/shares"),
    ("delete", "/executions/{execution_id}/shares"),
}


class Lab:
    """Ada has a running execution with a secret in its environment; Bob is another user of her tenant."""

    def __init__(self, api: Api) -> None:
        self.api = api
        api.start_master()
        self.ada = api.client()
        application = document(part("main", ports=PORTS, environment={"KEY": SECRET}, files={"key": SECRET}), name=NAME)
        submitted = self.ada.submit(application)
        self.execution = until(lambda: (e := self.ada.execution(submitted.id)).state is ExecutionState.RUNNING and e)
        self.id = submitted.id
        self.bob_token = make_token(api.store, "bob")
        self.bob, self.bob_http = api.client(self.bob_token), api.http(self.bob_token)
        self.fields = {"execution_id": self.id, "service_id": self.execution.services[0].id, "port": "web"}

    def routes(self) -> Iterator[tuple[str, str]]:
        """Every operation whose path names an execution."""
        for path, methods in self.api.app.openapi()["paths"].items():
            for method in methods:
                if "{execution_id}" in path:
                    yield method, path.removeprefix(PREFIX)

    def asked(self, http: httpx.Client, method: str, path: str, **fields: str) -> tuple[int, str]:
        url = PREFIX + path.format(**{**self.fields, **fields})
        with http.stream(method, url, json=BODIES.get((method, path))) as answer:
            if "text/event-stream" in answer.headers.get("content-type", ""):
                return answer.status_code, ""
            answer.read()
            return answer.status_code, "" if answer.is_success else str(problem(answer)["code"])


@pytest.fixture
def lab(api: Api) -> Lab:
    return Lab(api)


def test_every_route_answers_as_for_an_execution_that_does_not_exist(lab: Lab) -> None:
    routes = set(lab.routes())
    assert routes == LOOKS | OPENS | CONTROLS | OWNERS | FILES
    for method, path in sorted(routes):
        theirs = lab.asked(lab.bob_http, method, path)
        missing = lab.asked(lab.bob_http, method, path, execution_id="x0", service_id="x0.main.0.1")
        assert theirs == missing == (404, "not_found"), (method, path)


def test_no_answer_without_an_id_tells_of_it(lab: Lab) -> None:
    hidden, met = (lab.id, NAME, SECRET), set()
    until(lambda: lab.id in lab.api.http().get(f"{PREFIX}/usage").text)
    for path, methods in lab.api.app.openapi()["paths"].items():
        parameters = methods.get("get", {}).get("parameters", [])
        required = {parameter["name"] for parameter in parameters if parameter.get("required")}
        if "get" not in methods or required - {"from_s"} or path == f"{PREFIX}/events":
            continue
        answer = lab.bob_http.get(path, params={"from_s": 0} if required else None)
        assert not [word for word in hidden if word in answer.text], path
        met.add(path.removeprefix(PREFIX))
    assert met >= {"/executions", "/usage", "/usage/daily", "/storage", "/quota", "/status", "/nodes", "/metrics"}
    for query in ({"id": lab.id}, {"user": "ada"}, {"name": NAME}, {"state": "running"}):
        assert lab.bob_http.get(f"{PREFIX}/executions", params=query).json()["executions"] == []
    with pytest.raises(NotFound):
        next(lab.bob.follow(lab.id))


def first_events(http: httpx.Client, headers: dict[str, str], act: Any) -> list[dict[str, Any]]:
    """Events of the stream up to the submission that `act` makes the second time: at first, a stream reads the journal
    itself.
    """
    told, waited = [], 0
    with http.stream("GET", f"{PREFIX}/events", headers=headers) as stream:
        own = act()
        for event in parse_events(stream.iter_lines()):
            if event is None:
                continue
            told.append(json.loads(event.data))
            if told[-1]["execution_id"] == own:
                waited += 1
                if waited == 2:
                    break
                own = act()
    return told


@pytest.mark.parametrize("headers", [{}, {"Last-Event-ID": "0"}])
def test_the_stream_of_events_leaves_it_out(lab: Lab, headers: dict[str, str]) -> None:
    def act() -> str:
        lab.ada.submit(job("ada's"))
        return lab.bob.submit(job("bob's")).id

    told = first_events(lab.bob_http, headers, act)
    mine = {execution.id for execution in lab.bob.executions().executions}
    assert {event["execution_id"] for event in told} - {None} == mine
    shared = lab.ada.submit(job("shared"))
    lab.ada.share(shared.id, ShareLevel.LOOK, "bob")
    told = first_events(lab.bob_http, {"Last-Event-ID": "0"}, lambda: lab.bob.submit(job("bob's")).id)
    assert shared.id in {event["execution_id"] for event in told}
    assert lab.id not in {event["execution_id"] for event in told}


@pytest.mark.parametrize(
    ("level", "with_tenant"), [(ShareLevel.LOOK, False), (ShareLevel.OPEN, True), (ShareLevel.CONTROL, False)]
)
def test_a_share_gives_what_its_level_says(lab: Lab, level: ShareLevel, with_tenant: bool) -> None:
    stored = lab.ada.share(lab.id, level, None if with_tenant else "bob")
    assert ("files and secrets" in stored.warning) is (level is not ShareLevel.LOOK)
    allowed = set(LOOKS)
    allowed |= OPENS if level.includes(ShareLevel.OPEN) else set()
    allowed |= CONTROLS if level.includes(ShareLevel.CONTROL) else set()
    for method, path in sorted(set(lab.routes()), key=lambda route: route in CONTROLS):
        status, code = lab.asked(lab.bob_http, method, path)
        if (method, path) in allowed:
            assert status < 400 or code in _NOT_NOW, (method, path, code)
        else:
            refusal = "file_denied" if (method, path) in FILES else "share_too_low"
            assert (status, code) == (403, refusal), (method, path)
    assert [execution.id for execution in lab.bob.executions().executions] == [lab.id]
    lab.ada.end_share(lab.id, None if with_tenant else "bob")
    assert {lab.asked(lab.bob_http, method, path)[0] for method, path in lab.routes()} == {404}


def test_only_the_owner_and_operators_read_environment_and_files(lab: Lab) -> None:
    lab.ada.share(lab.id, ShareLevel.CONTROL, "bob")
    operator = lab.api.client(make_token(lab.api.store, "olga", role="operator", scopes=ALL_SCOPES))
    for client, value in ((lab.ada, SECRET), (operator, SECRET), (lab.bob, "")):
        [component] = client.execution(lab.id).description["components"]
        assert component["environment"] == {"KEY": value}
        assert component["files"] == {"key": value}
    assert SECRET not in lab.bob_http.post(f"{PREFIX}/executions/{lab.id}/cancel").text


def test_the_share_of_one_who_left_is_over_when_they_return(lab: Lab) -> None:
    lab.ada.share(lab.id, ShareLevel.OPEN, "bob")
    lab.api.store.accounts.remove_member("bob", "red")
    assert lab.ada.shares(lab.id).shares == []
    again = lab.api.client(make_token(lab.api.store, "bob"))
    with pytest.raises(NotFound):
        again.execution(lab.id)
    with pytest.raises(NotFound, match="not a member"):
        lab.ada.share(lab.id, ShareLevel.LOOK, "nobody")
    with pytest.raises(NotAllowed):
        lab.api.client(lab.api.admin).share(lab.id, ShareLevel.LOOK, "bob")


def test_one_user_s_idempotency_key_does_not_give_another_the_execution(lab: Lab) -> None:
    mine = lab.ada.submit(job(), idempotency_key="same")
    answer = lab.bob_http.post(
        f"{PREFIX}/executions",
        json={"application": job(), "name": None, "priority": None, "deadline_s": None},
        headers={"Idempotency-Key": "same"},
    )
    assert (answer.status_code, problem(answer)["code"]) == (409, "idempotency_conflict")
    assert mine.id not in answer.text
    [entry] = [entry for entry in lab.api.store.accounts.audit(None, 10, "bob") if entry.action == "submit_execution"]
    assert entry.status == 409


def test_foreign_executions_ahead_are_counted_but_not_named(lab: Lab) -> None:
    large = document(part("main", "true", ends_application=True, resources={"memory": "1GiB", "cores": 4}))
    runs = lab.ada.submit(large)
    until(lambda: lab.ada.execution(runs.id).state is ExecutionState.RUNNING)
    waiting = [client.submit(large) for client in (lab.ada, lab.bob, lab.bob)]
    last = waiting[-1].id
    told = until(lambda: (e := lab.bob.explain(last)).detailed and e.ahead == 2 and e)
    assert (told.ahead_of_tenant, told.ahead_ids) == (2, [waiting[1].id])
    admin = lab.api.client(lab.api.admin).explain(last)
    assert admin.ahead_ids == [waiting[0].id, waiting[1].id]


def test_an_operator_s_looks_are_in_the_audit_log(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = lab.api.client(make_token(lab.api.store, "olga", "blue", "operator", ALL_SCOPES))

    def targets() -> list[str]:
        entries = lab.api.store.accounts.audit(None, 1000, "olga")
        return [entry.target for entry in reversed(entries) if entry.action == "look"]

    own = operator.submit(job())
    operator.execution(own.id)
    assert targets() == []
    for _ in range(3):
        operator.execution(lab.id)
        operator.explain(lab.id)
    assert targets() == [f"{PREFIX}/executions/{lab.id}"]
    operator.executions(all_tenants=True)
    operator.executions(all_tenants=True)
    assert targets()[1:] == [f"{PREFIX}/executions"]
    monkeypatch.setattr(looks, "AGAIN_S", 0.0)
    operator.execution(lab.id)
    assert targets()[2:] == [f"{PREFIX}/executions/{lab.id}"]
    lab.ada.execution(lab.id)
    assert [e for e in lab.api.store.accounts.audit(None, 1000, "ada") if e.action == "look"] == []


def closed(socket: ClientConnection) -> bool:
    try:
        socket.recv(timeout=0.05)
    except TimeoutError:
        return False
    except ConnectionClosed:
        return True
    return False


def test_an_opened_application_closes_with_its_share(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_REMEMBERED_S", 0.0)
    monkeypatch.setattr(sockets, "_CHECK_S", 0.05)
    bob, ada = alone.api.http(make_token(alone.api.store, "bob")), alone.api.client()
    ada.share(alone.execution.id, ShareLevel.OPEN, "bob")
    inside = alone.enter(http=bob)
    assert inside.get("/").status_code == 200
    with alone.talk(inside) as socket:
        ada.end_share(alone.execution.id, "bob")
        until(lambda: closed(socket))
    assert inside.get("/").status_code == 401
    with pytest.raises(InvalidStatus), alone.talk(inside):
        pass
