"""Streams: where they resume, keep-alives, and their ends."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from tests.support.plain_api import run
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services import stream
from zoe_api.services.stream import EventStream, resume_point


@pytest.mark.parametrize(
    ("header", "point"),
    [
        (None, None),
        ("", None),
        ("0", 0),
        ("17", 17),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("-1", None),
        ("1.5", None),
        ("x", None),
        ("١", None),
    ],
)
def test_a_stream_resumes_after_a_valid_id_only(header: str | None, point: int | None) -> None:
    assert resume_point(header) == point


class Time:
    """A clock that each batch moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        monkeypatch.setattr("zoe_api.services.stream.asyncio.get_running_loop", lambda: self)

    def time(self) -> float:
        return self.now_s


def kept(clock: Time, *steps: tuple[float, list[bytes]], may_go_on: Any = lambda: True) -> list[bytes]:
    async def batches() -> Any:
        for after_s, batch in steps:
            clock.now_s += after_s
            yield batch

    async def checked(work: Any) -> Any:
        return work()

    async def all_of() -> list[bytes]:
        return [data async for data in stream._with_keep_alive(batches(), may_go_on)]

    return run(all_of())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    async def here(work: Any) -> Any:
        return work()

    monkeypatch.setattr("zoe_api.services.stream.anyio.to_thread.run_sync", here)
    return Time(monkeypatch)


def test_a_comment_is_sent_when_nothing_else_was_for_a_while(clock: Time) -> None:
    sent = kept(clock, (1, [b"a", b"b"]), (15, []), (0.1, []), (15, []), (0.1, []))
    assert sent == [b": open\n\n", b"ab", b": still here\n\n", b": still here\n\n"]


def test_access_is_checked_every_ten_seconds(clock: Time) -> None:
    answers = [True, False]
    asked: list[float] = []

    def may_go_on() -> bool:
        asked.append(clock.now_s)
        return answers.pop(0)

    sent = kept(clock, (10, [b"a"]), (0.5, [b"b"]), (10, [b"c"]), (0.1, [b"d"]), (1, [b"e"]), may_go_on=may_go_on)
    assert sent[1:] == [b"a", b"b", b"c"]
    assert asked == [110.5, 120.6]


def streamed(place: Any, stopping: bool = False) -> list[Any]:
    sent: list[Any] = []

    async def go() -> None:
        stop = asyncio.Event()

        async def batches() -> Any:
            yield [b"x"]
            if stopping:
                stop.set()
                await asyncio.sleep(60)

        async def receive() -> Any:
            await asyncio.sleep(60)

        async def send(message: Any) -> None:
            sent.append(message)

        answer = EventStream(batches(), lambda: True, place, stop)
        scope = {"type": "http", "path": "/s", "asgi": {"spec_version": "2.4"}}
        await answer(scope, receive, send)

    run(go())
    return sent


@contextmanager
def no_place() -> Any:
    raise ApiProblem(Code.TOO_MANY_STREAMS)
    yield


def test_a_stream_ends_in_order_with_its_source_and_with_the_process() -> None:
    for stopping in (False, True):
        sent = streamed(nullcontext(), stopping)
        assert sent[0]["status"] == 200
        assert (b"x-accel-buffering", b"no") in sent[0]["headers"]
        assert b"".join(entry.get("body", b"") for entry in sent[1:]) == b": open\n\nx"
        assert not sent[-1]["more_body"]


def test_without_a_place_the_answer_is_the_refusal() -> None:
    sent = streamed(no_place())
    assert sent[0]["status"] == 429
    assert b"too_many_streams" in sent[1]["body"]
