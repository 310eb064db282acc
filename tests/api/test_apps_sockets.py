"""Applications over WebSockets through the proxy: messages in both directions, access, and the end of connections."""

from __future__ import annotations

import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.support.browser import Browser
from tests.support.opened import Opened
from tests.support.waiting import until
from zoe_api.apps import access, activity, sockets
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.people import AppAccess


def test_sent_message_is_a_use_and_received_one_is_not(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    store, execution = alone.api.store, alone.execution.id
    inside = alone.enter()
    monkeypatch.setattr(activity, "EVERY_S", 0.0)
    with alone.talk(inside) as made:
        made.recv()
        assert store.last_uses([execution]) == {}
        made.send("hello")
        assert made.recv() == "hello"
    assert execution in store.last_uses([execution])


def test_a_message_beyond_the_bound_ends_a_websocket(opened: Opened) -> None:
    with opened.talk(opened.enter()) as talk:
        talk.recv()
        talk.send("much")
        with pytest.raises(ConnectionClosed):
            talk.recv()


def test_a_websocket_talks_both_ways_and_ends_as_the_application_says(opened: Opened) -> None:
    inside = opened.enter()
    with opened.talk(inside, subprotocols=["kernel.v1"]) as made:  # type: ignore[list-item]
        assert made.subprotocol == "kernel.v1"
        target = opened.upstream.netloc
        assert made.recv() == f"http://{target} {target} None"
        for message in ("hello", b"\x00" * 3_000_000, "x" * 2_000_000):
            made.send(message)
            assert made.recv() == message
        made.send("end")
        with pytest.raises(ConnectionClosed) as ended:
            made.recv()
    assert ended.value.rcvd is not None
    assert (ended.value.rcvd.code, ended.value.rcvd.reason) == (4001, "as asked")


def test_early_messages_arrive_in_order(opened: Opened) -> None:
    messages = [str(number) for number in range(100)]
    with opened.talk(opened.enter()) as made:
        for message in messages:
            made.send(message)
        greeting, *echoed = [made.recv(30) for _ in range(101)]
        assert str(greeting).startswith("http://")
        assert echoed == messages


def test_a_websocket_needs_the_cookie_and_says_so_in_the_form_of_all_refusals(opened: Opened) -> None:
    stranger = opened.api.http(None)
    stranger.headers["Host"] = opened.enter().headers["Host"]
    with pytest.raises(InvalidStatus) as refused, opened.talk(stranger):
        pass
    answer = refused.value.response
    assert (answer.status_code, answer.headers["Content-Type"]) == (403, "application/problem+json")
    told = json.loads(answer.body)
    assert (told["code"], told["instance"]) == ("socket_refused", "/talk")


@pytest.mark.parametrize(("host", "status"), [("localhost", 404), ("evil.example", 421)])
def test_the_api_has_no_websockets(opened: Opened, caplog: pytest.LogCaptureFixture, host: str, status: int) -> None:
    raw = socket.create_connection(("127.0.0.1", urlsplit(opened.api.url).port or 0))
    with pytest.raises(InvalidStatus) as refused, connect(f"ws://{host}/api/v1/events", sock=raw, proxy=None):
        pass
    answer = refused.value.response
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert opened.api.http().get("/healthz").status_code == 200  # by now the server has answered
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def close_code(talking: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        talking.recv(30)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def test_sign_out_closes_open_websockets(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_CHECK_S", 0.05)
    http = Browser(alone.api, "ada").use()
    with alone.talk(alone.enter(http=http)) as talking:
        talking.recv()
        http.delete("/api/v1/session")
        assert close_code(talking) == 1008


class Blip:
    """A database that fails to answer questions about access to applications."""

    def __init__(self, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failures, self.answers, self.failing = 0, 0, False
        self._look = opened.api.store.accounts.app_access
        monkeypatch.setattr(opened.api.store.accounts, "app_access", self.app_access)
        monkeypatch.setattr(access, "_REMEMBERED_S", 0.0)
        monkeypatch.setattr(sockets, "_CHECK_S", 0.02)

    def app_access(self, *asked: Any) -> AppAccess | None:
        if self.failing:
            self.failures += 1
            raise StoreUnavailable("the connection broke")
        self.answers += 1
        return self._look(*asked)


def test_a_moment_without_the_database_ends_no_websocket(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    blip = Blip(alone, monkeypatch)
    with alone.talk(alone.enter()) as talking:
        talking.recv()
        blip.failing = True
        until(lambda: blip.failures >= 3)
        talking.send("still there?")
        assert talking.recv() == "still there?"
        blip.failing, before = False, blip.answers
        until(lambda: blip.answers > before)
        talking.send("and now?")
        assert talking.recv() == "and now?"


def test_a_websocket_ends_when_nobody_can_tell_for_long(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_UNKNOWN_S", 0.1)
    blip = Blip(alone, monkeypatch)
    with alone.talk(alone.enter()) as talking:
        talking.recv()
        blip.failing = True
        assert close_code(talking) == 1013
