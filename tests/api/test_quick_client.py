"""The client of quick commands: the SDK's errors, connections that end, proxies, answers of other servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.scripted import ScriptedServer, answer
from zoe_client import Conflict, NotFound, Unreachable, ZoeError
from zoe_client.quick.quick import QuickClient

EMPTY: dict[str, Any] = {"executions": [], "next_cursor": None, "searched_to_s": None}
PAGE = answer("200 OK", json.dumps(EMPTY).encode())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "must be JSON, is a string"),
        (b"[]", "must be an object, is a list"),
        (b"{}", "executions: is missing"),
    ],
)
def test_an_answer_of_another_kind_is_an_error(body: bytes, said: str) -> None:
    page = [answer("200 OK", body)]
    with ScriptedServer(page) as server, QuickClient(server.url, "t") as client, pytest.raises(ZoeError) as told:
        client.executions()
    assert str(told.value) == f"the server at {server.url} sent an answer that this client cannot read: {said}"


def test_missing_field_of_an_older_server_gets_its_default() -> None:
    older = answer("200 OK", b'{"executions": []}')
    with ScriptedServer([older]) as server, QuickClient(server.url, "t") as client:
        assert client.executions() == EMPTY


def test_refusals_are_the_errors_of_the_sdk() -> None:
    problem = {"title": "gone", "status": 404, "code": "not_found"}
    missing = [answer("404 Not Found", json.dumps(problem).encode())]
    # Each script is a connection: the first ends between two requests.
    with ScriptedServer(missing, [answer("409 Conflict", b"no")]) as server, QuickClient(server.url, "t") as client:
        with pytest.raises(NotFound, match="gone"):
            client.execution("x")
        with pytest.raises(Conflict, match="HTTP 409"):
            client.control("x", "cancel")


def test_no_server_is_unreachable() -> None:
    with (
        QuickClient("http://127.0.0.1:1", "t") as client,
        pytest.raises(Unreachable, match=r"127\.0\.0\.1:1/: .*refused"),
    ):
        client.executions()


def test_a_query_keeps_lists_and_leaves_out_what_is_not_given() -> None:
    with ScriptedServer([PAGE]) as server, QuickClient(server.url + "/", "t") as client:
        client.executions(state=["queued", "running"], user=None, all_tenants=True, limit=5)
    assert b"GET /api/v1/executions?state=queued&state=running&all_tenants=true&limit=5 " in server.requests[0]


def test_a_proxy_of_the_environment_gets_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([PAGE]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with QuickClient("http://zoe.example.org", "t") as client:
            assert client.executions() == EMPTY
    assert b"GET http://zoe.example.org/api/v1/executions" in proxy.requests[0]


def test_a_stream_is_read_to_its_end_or_says_that_it_broke() -> None:
    begun = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
        b": kept alive\n\nid: 4\nevent: log\ndata: 1\n\n",
    ]
    refused = [answer("404 Not Found", json.dumps({"title": "gone", "status": 404, "code": "not_found"}).encode())]
    whole = [*begun, b"event: end\ndata: {}\n\n"]
    with ScriptedServer(whole, begun, refused) as server, QuickClient(server.url, "t") as client:
        assert [(event.id, event.kind, event.data) for event in client.stream("/x") if event] == [("4", "log", "1")]
        broken = client.stream("/x")
        assert next(broken) is None
        assert getattr(next(broken), "id", "") == "4"
        with pytest.raises(Unreachable, match="the stream ended"):
            next(broken)
        with pytest.raises(NotFound, match="gone"):
            next(client.stream("/x"))
    assert b"GET /api/v1/x " in server.requests[0]
