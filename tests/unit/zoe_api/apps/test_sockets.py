"""When a WebSocket of an application ends, and with which code."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.plain_api import run
from zoe_api.apps import sockets
from zoe_lib.store.errors import StoreUnavailable


def watched(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> tuple[int | None, float]:
    """Return the close code after these answers about access, and how long the watch took."""
    clock, given = ManualClock(0.0), list(answers)

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async def allowed() -> object:
        answer = given.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("zoe_api.apps.sockets.asyncio.sleep", sleep)

    async def go() -> int | None:
        task = asyncio.create_task(sockets._watch(allowed, clock))
        await asyncio.wait([task])
        return sockets._code(task)

    return run(go()), clock.now_s()


AWAY = StoreUnavailable("away")


def test_a_socket_ends_soon_after_access(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched(monkeypatch, None) == (sockets.REFUSED, 0.0)
    assert watched(monkeypatch, "yes", "yes", None) == (sockets.REFUSED, 30.0)


def test_while_access_cannot_be_checked_it_lasts_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched(monkeypatch, "yes", *[AWAY] * 4) == (sockets.TRY_AGAIN, 60.0)
    assert watched(monkeypatch, "yes", AWAY, AWAY, AWAY, "yes", *[AWAY] * 4) == (sockets.TRY_AGAIN, 120.0)


def test_an_end_for_another_reason_has_no_code_of_its_own() -> None:
    async def go() -> int | None:
        task: asyncio.Task[None] = asyncio.create_task(asyncio.sleep(60))
        task.cancel()
        await asyncio.wait([task])
        return sockets._code(task)

    assert run(go()) is None
    assert (sockets.GONE, sockets.REFUSED, sockets.TRY_AGAIN) == (1001, 1008, 1013)
