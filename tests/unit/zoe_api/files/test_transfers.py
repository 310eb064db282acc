"""Transfers of files end with access."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import run
from zoe_api.files import transfers as file_transfers
from zoe_api.files.transfers import AccessEnded, drain, while_allowed


class Time:
    now_s = 100.0

    def time(self) -> float:
        return self.now_s


def passed(monkeypatch: pytest.MonkeyPatch, steps_s: list[float], answers: list[bool]) -> tuple[int, bool, int]:
    """Return how many pieces passed, whether access ended, and how often it was checked."""
    clock, asked, count = Time(), [0], [0]
    monkeypatch.setattr("zoe_api.files.transfers.asyncio.get_running_loop", lambda: clock)

    async def here(work: Any) -> Any:
        return work()

    monkeypatch.setattr(file_transfers, "run_in_threadpool", here)

    async def pieces() -> Any:
        for step_s in steps_s:
            clock.now_s += step_s
            yield b"x"

    def may_go_on() -> bool:
        asked[0] += 1
        return answers.pop(0)

    async def go() -> bool:
        try:
            async for _ in while_allowed(pieces(), may_go_on):
                count[0] += 1
        except AccessEnded:
            return True
        return False

    ended = run(go())
    return count[0], ended, asked[0]


def test_access_is_looked_at_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert passed(monkeypatch, [5.0, 5.0], []) == (2, False, 0)
    assert passed(monkeypatch, [10.1, 5.0, 5.0, 0.2, 1.0], [True, False]) == (3, True, 2)


class Body:
    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    async def stream(self) -> Any:
        while self.pieces:
            yield self.pieces.pop(0)


def test_the_rest_of_a_refused_part_is_read_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_transfers, "_DRAINED_BYTES_MAX", 2)
    for pieces, left in (((b"a", b"b"), 0), ((b"a", b"bc", b"d"), 1)):
        body = Body(*pieces)
        run(drain(body))
        assert len(body.pieces) == left
