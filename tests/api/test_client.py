"""The SDK against servers that break, stall and repeat themselves."""

from __future__ import annotations

import base64
import json
import socket
import time

import pytest

from tests.support.scripted import END, HEAD, ScriptedServer, answer, chunk
from zoe_client import Client, NotFound, Refused, TimedOut, Unreachable, ZoeError
from zoe_client.wire import TokenRequest


def event(number: int, kind: str = "queued") -> bytes:
    view = {"id": number, "kind": kind, "at_s": 0, "cause_id": "", "execution_id": "x", "version": 1, "data": {}}
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), json.dumps(view).encode())


def log(first: int, data: bytes) -> bytes:
    body = {"data": base64.b64encode(data).decode(), "offset": first, "next_offset": first + len(data)}
    return b"id: %d\nevent: log\ndata: %s\n\n" % (first + len(data), json.dumps(body).encode())


def last_ids(server: ScriptedServer) -> list[str | None]:
    found = []
    for request in server.requests:
        lines = [line for line in request.decode().split("\r\n") if line.lower().startswith("last-event-id:")]
        found.append(lines[0].split(": ")[1] if lines else None)
    return found


def followed(server: ScriptedServer, **more: float) -> list[int]:
    with Client(server.url, "t", patience_s=10) as client:
        return [view.id for view, _ in client.follow("x", **more)]


OVER = chunk(b"id: 9\nevent: end\ndata: {}\n\n")


def test_a_stream_that_breaks_in_the_middle_of_an_event_is_taken_up_before_it() -> None:
    half = event(3)[:20]
    with ScriptedServer(
        [HEAD, chunk(event(1) + event(2)), chunk(half)], [HEAD, chunk(event(3)), END], [HEAD, chunk(event(4)), OVER]
    ) as server:
        assert followed(server) == [1, 2, 3, 4]
        assert last_ids(server) == [None, "2", "3"]


def test_refusals_of_a_balancer_in_between_are_waited_out() -> None:
    bad, busy = [answer("502 Bad Gateway", b"<html>")], [answer("503 Service Unavailable", b"<html>")]
    with ScriptedServer([HEAD, chunk(event(1))], bad, busy, [], [HEAD, chunk(event(2)), OVER]) as server:
        assert followed(server) == [1, 2]


def test_a_refusal_is_raised_at_once() -> None:
    with ScriptedServer([HEAD, chunk(event(1))], [answer("401 Unauthorized")]) as server, pytest.raises(Refused):
        followed(server)


def test_output_comes_byte_by_byte_once() -> None:
    with ScriptedServer(
        [HEAD, chunk(log(0, b"abc")), chunk(log(3, b"def")[:-1])],
        [HEAD, chunk(b": open\n\n"), chunk(log(3, b"def"))],
        [HEAD, OVER],
    ) as server:
        with Client(server.url, "t", patience_s=10) as client:
            assert b"".join(client.follow_logs("x", "s")) == b"abcdef"
        assert last_ids(server) == [None, "3", "6"]


@pytest.mark.parametrize("script", [[HEAD, chunk(b": open\n\n"), 60.0], [HEAD, 60.0], [60.0]])
def test_a_deadline_ends_a_quiet_stream(script: list[bytes | float]) -> None:
    with ScriptedServer(script) as server, pytest.raises(TimedOut):
        followed(server, deadline_s=time.monotonic() + 0.5)


def test_a_deadline_ends_a_stream_with_signs_of_life_only() -> None:
    living: list[bytes | float] = [HEAD]
    for _ in range(200):
        living += [chunk(b": still here\n\n"), 0.1]
    with ScriptedServer(living) as server, pytest.raises(TimedOut):
        followed(server, deadline_s=time.monotonic() + 0.5)


def test_a_deadline_ends_the_search_for_a_server() -> None:
    with Client(nobody(), "t", patience_s=3600) as client, pytest.raises(TimedOut):
        client.wait("x", timeout_s=0.3)


def test_patience_has_an_end() -> None:
    with Client(nobody(), "t", patience_s=0.3) as client:
        with pytest.raises(Unreachable):
            list(client.follow("x"))
        with pytest.raises(Unreachable):
            client.execution("x")


def test_a_long_quiet_time_is_no_break(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two breaks with signs of life between them are two, each with the whole patience."""
    with (
        ScriptedServer(
            [HEAD, chunk(b": open\n\n")], [HEAD, chunk(b": open\n\n"), 0.6], [HEAD, chunk(event(1)), OVER]
        ) as server,
        Client(server.url, "t", patience_s=0.5) as client,
    ):
        assert [view.id for view, _ in client.follow("x")] == [1]


def test_a_server_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoe_client.http.streams._SILENCE_S_MAX", 0.2)
    with (
        ScriptedServer([60.0]) as server,
        Client(server.url, "t", patience_s=0.5) as client,
        pytest.raises(Unreachable),
    ):
        list(client.stream("/events", {}))


def test_unrepeatable_call_is_not_tried_again() -> None:
    with ScriptedServer([]) as server, Client(server.url, "t", patience_s=30) as client:
        with pytest.raises(Unreachable):
            client.add_token(TokenRequest())
        assert len(server.requests) == 1


def test_submission_is_tried_again_with_the_same_key() -> None:
    refusal = answer("409 Conflict", b"{}")
    with ScriptedServer([], [], [refusal]) as server, Client(server.url, "t", patience_s=30) as client:
        with pytest.raises(Refused):
            client.submit({"version": 4})
        keys = {line for r in server.requests for line in r.split(b"\r\n") if line.lower().startswith(b"idempotency")}
        assert (len(server.requests), len(keys)) == (3, 1)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "must be JSON, is a string"),
        (b"[]", "must be an object, is a list"),
        (b'{"user": 5}', "user: must be a string, is 5; tenant: is missing; role: is missing"),
    ],
)
def test_an_answer_of_another_kind_is_an_error(body: bytes, said: str) -> None:
    page = [answer("200 OK", body)]
    with ScriptedServer(page) as server, Client(server.url, "t") as client, pytest.raises(ZoeError) as told:
        client.me()
    assert str(told.value) == f"the server at {server.url} sent an answer that this client cannot read: {said}"


@pytest.mark.parametrize("execution_id", ["../me", "a/b", "%2e%2e", "a?b=c", "é#"])
def test_ids_stay_in_their_part_of_the_path(execution_id: str) -> None:
    with ScriptedServer([answer("404 Not Found")]) as server, Client(server.url, "t") as client:
        with pytest.raises(NotFound if "/" in execution_id else Refused):
            client.execution(execution_id)
        if "/" in execution_id:  # no id has one, and what lies on the way might take it for another path
            assert server.requests == []
            return
        path = server.requests[0].split(b" ")[1].decode()
        assert path.startswith("/api/v1/executions/")
        assert path.count("/") == 4
        assert "?" not in path


def nobody() -> str:
    """The address of a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
