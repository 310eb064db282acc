"""Changes of a proxy to requests and responses."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import httpx
import pytest

from tests.support.plain_api import request, run
from zoe_api.apps import forwarding
from zoe_api.apps.forwarding import BrokeOff
from zoe_api.apps.targets import Target


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        ({"content-length": "5"}, True),
        ({"content-length": "5", "transfer-encoding": "chunked"}, False),
    ],
)
def test_a_length_beside_chunks_is_dropped(headers: dict[str, str], kept: bool) -> None:
    asked = request("POST", headers=headers)
    assert ("content-length" in dict(forwarding._with_one_length(asked))) is kept


@pytest.mark.parametrize(("status", "kept"), [(200, True), (204, False), (304, False)])
def test_the_length_of_no_body_is_dropped(status: int, kept: bool) -> None:
    answer = httpx.Response(status, headers={"Content-Length": "5", "X-A": "b"})
    names = {name.lower() for name, _ in forwarding._without_length_of_nothing(answer)}
    assert ("content-length" in names, "x-a" in names) == (kept, True)


def test_values_pass_whatever_their_encoding() -> None:
    assert forwarding._encode_headers([("X-A", "é")]) == [(b"x-a", b"\xe9")]


def record(error: BaseException | None = None, text: str = "x") -> logging.LogRecord:
    info = None if error is None else (type(error), error, None)
    return logging.LogRecord("uvicorn.error", logging.ERROR, "", 1, text, None, info)


def test_an_answer_that_ended_early_has_one_line_of_its_own() -> None:
    assert forwarding.has_no_log_line_yet(record())
    assert forwarding.has_no_log_line_yet(record(ValueError()))
    assert not forwarding.has_no_log_line_yet(record(BrokeOff()))
    assert not forwarding.has_no_log_line_yet(record(text="ASGI callable returned without completing handshake."))


class Answering:
    """An application that answers with this status and these headers."""

    def __init__(self, status: int, *headers: tuple[bytes, bytes]) -> None:
        self.answer = httpx.Response(status, headers=list(headers), content=b"")
        self.asked: list[httpx.Request] = []

    async def handle_async_request(self, asked: httpx.Request) -> httpx.Response:
        self.asked.append(asked)
        return self.answer


def forwarded(transport: Any) -> Any:
    asked = request("GET", headers={"x-a": "b"})

    async def receive() -> Any:
        await asyncio.sleep(60)

    asked._receive = receive
    return run(forwarding.forward(transport, asked, Target("10.0.0.1", 31000, "/", {"X-S": "s"}), b"/a?b"))


def test_a_request_goes_to_the_applications_address_whatever_its_target() -> None:
    transport = Answering(200, (b"x-b", b"c"), (b"date", b"x"))
    answer = forwarded(transport)
    (asked,) = transport.asked
    assert (str(asked.url), asked.extensions["target"]) == ("http://10.0.0.1:31000/", b"/a?b")
    assert (asked.headers["x-s"], asked.headers["host"]) == ("s", "10.0.0.1:31000")
    assert answer.status_code == 200
    assert (b"x-b", b"c") in answer.raw_headers
    assert not any(name == b"date" for name, _ in answer.raw_headers)


@pytest.mark.parametrize(("status", "headers"), [(199, ()), (600, ()), (200, ((b"x", b"a\nb"),))])
def test_response_that_is_not_http_is_refused(status: int, headers: Any) -> None:
    with pytest.raises(forwarding.NoAnswer):
        forwarded(Answering(status, *headers))
    assert forwarded(Answering(599)).status_code == 599
