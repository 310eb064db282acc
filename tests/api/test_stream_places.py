"""How much of the streams one user may take, behind one address with others, and what idle ones cost."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.people import make_token
from tests.support.proxied import DOMAIN, SECRET, UPGRADE, Proxied
from tests.support.waiting import until
from zoe_api.services import journal_news
from zoe_api.services.stream_places import StreamPlaces
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.execution import ExecutionState

OF_TOKEN, OF_USER = 2, 3


@pytest.fixture
def few(postgres_url: str) -> Iterator[Api]:
    made = Api(postgres_url, api_streams_of_token_max=OF_TOKEN, api_streams_of_user_max=OF_USER)
    yield made
    made.close()


def opened(http: httpx.Client, path: str, held: ExitStack) -> httpx.Response:
    response = held.enter_context(http.stream("GET", path))
    if response.status_code != 200:
        response.read()
    return response


@pytest.mark.parametrize("of", ["events", "logs"])
def test_streams_are_bounded_by_token_and_by_user_and_others_get_theirs(few: Api, of: str) -> None:
    few.start_master()
    client = few.client()
    submitted = client.submit(job("sleep", "600"))
    until(lambda: client.execution(submitted.id).state is ExecutionState.RUNNING)
    logs = f"/api/v1/executions/{submitted.id}/services/{submitted.services[0].id}/logs/stream"
    path = "/api/v1/events" if of == "events" else logs
    first, second = few.http(), few.http(make_token(few.store, tenant="red"))
    colleague = few.http(make_token(few.store, "bob", "red"))
    client.share(submitted.id, ShareLevel.LOOK, "bob")
    with ExitStack() as held:
        for _ in range(OF_TOKEN):
            assert opened(first, path, held).status_code == 200
        refused = opened(first, path, held)
        assert problem(refused)["code"] == "too_many_streams"
        assert refused.headers["retry-after"]
        with ExitStack() as last:
            assert opened(second, path, last).status_code == 200
            assert "of one user" in problem(opened(second, path, held))["detail"]
            assert opened(colleague, path, held).status_code == 200
        until(lambda: opened(second, path, held).status_code == 200)


def handshake(proxied: Proxied, more: bytes = UPGRADE) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", proxied.port), 60)
    names = f"Host: e1.{DOMAIN}\r\nCookie: zoe-app={SECRET}\r\n".encode()
    client.sendall(b"GET / HTTP/1.1\r\n" + names + more + b"\r\n")
    return client


@pytest.mark.parametrize("of", ["WebSockets", "requests"])
def test_ways_to_applications_of_one_user_are_bounded(of: str) -> None:
    """Also where the application never answers or ends."""
    places = StreamPlaces(2, 2, 2)
    proxied = Proxied(places)
    more, right = (UPGRADE, b"101") if of == "WebSockets" else (b"", b"200")
    held = places.stream if of == "WebSockets" else (lambda user, _: places.request(user))
    try:
        with held("ada", "1"), held("ada", "2"), handshake(proxied, more) as refused:
            answer = HTTPResponse(refused)
            answer.begin()
            assert answer.status == 429
            assert json.loads(answer.read())["code"] == "too_many_streams"
        with held("bob", "1"), held("bob", "2"), handshake(proxied, more) as client:
            assert client.recv(65536).split(b" ", 2)[1] == right
        until(lambda: not places._open)
    finally:
        proxied.close()


def test_idle_streams_do_not_look_into_the_database(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """One query of the process serves all, also for new events; a new event of another tenant wakes no stream."""
    monkeypatch.setattr(journal_news, "TICK_S", 0.02)
    monkeypatch.setattr(api.app.state.services.news, "_poll_s", 0.05)
    asked: list[tuple[Any, ...]] = []
    journal = api.store.journal

    def counted(*given: Any, **named: Any) -> Any:
        asked.append(given)
        return journal(*given, **named)

    api.store.journal = counted  # type: ignore[method-assign]
    bob = api.client(make_token(api.store, "bob", "blue"))
    news = api.app.state.services.news
    with ExitStack() as held:
        streams = [opened(api.http(), "/api/v1/events", held) for _ in range(20)]
        until(lambda: sum(len(given) > 2 for given in asked) == 20)  # at first
        before = len([given for given in asked if len(given) > 2])
        bob.submit(job())
        looks = len(asked)
        until(lambda: len(asked) > looks + 10)
        assert news.followers == 20
        assert len([given for given in asked if len(given) > 2]) == before
        api.client().submit(job())
        for stream in streams:
            assert any("submitted" in line for line in stream.iter_lines())
        assert len([given for given in asked if len(given) > 2]) == before == 20
