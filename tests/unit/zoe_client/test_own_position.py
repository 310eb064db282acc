"""The SDK reads its own writes: a request about the queue names the newest position of its answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from zoe_client.errors import Refused
from zoe_client.http.transport import Transport

WANTED = "Zoe-No-Older-Than"


class Server:
    """Answers changes with positions, and refuses questions with a position as set by the test."""

    def __init__(self) -> None:
        self.position, self.refuse = "5", ""
        self.asked: list[tuple[str, str | None]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.url.path.removeprefix("/api/v1"), request.headers.get(WANTED)))
        if self.refuse and WANTED in request.headers:
            status = {"position_unknown": 409, "position_busy": 429, "not_found": 404}.get(self.refuse, 503)
            body: dict[str, Any] = {"type": "t", "title": "no", "status": status, "code": self.refuse}
            return httpx.Response(status, json=body, headers={"content-type": "application/problem+json"})
        return httpx.Response(200, json={}, headers={"Zoe-Position": self.position} if request.method == "POST" else {})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def transport(server: Server) -> Transport:
    return Transport("http://zoe.example", "zoe_a_b", transport=httpx.MockTransport(server))


def test_questions_about_the_queue_name_the_newest_position(server: Server, transport: Transport) -> None:
    transport.do("GET", "/executions/x1/explain")
    transport.do("POST", "/executions")
    server.position = "4"  # of another API process
    transport.do("POST", "/executions/x1/cancel")
    transport.do("GET", "/executions/x1/explain")
    transport.do("GET", "/executions/x1")
    assert [wanted for _, wanted in server.asked] == [None, None, None, "5", None]


@pytest.mark.parametrize("code", ["master_unreachable", "position_not_reached", "position_busy", "position_unknown"])
def test_a_position_that_cannot_be_had_is_given_up(server: Server, transport: Transport, code: str) -> None:
    transport.do("POST", "/executions")
    server.refuse = code
    transport.do("GET", "/executions/x1/eta")
    assert server.asked[1:] == [("/executions/x1/eta", "5"), ("/executions/x1/eta", None)]
    transport.do("GET", "/executions/x1/eta")
    # A database that was restored has not had this position, and never will.
    assert server.asked[3][1] == (None if code == "position_unknown" else "5")


def test_other_refusals_are_refusals(server: Server, transport: Transport) -> None:
    transport.do("POST", "/executions")
    server.refuse = "not_found"
    with pytest.raises(Refused):
        transport.do("GET", "/executions/x1/explain")
    assert len(server.asked) == 2
