"""The end of a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from zoe_api.terminals import bridge


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "CHECK_S", 0.001)
    monkeypatch.setattr(bridge, "UNTOLD_MAX_S", 0.1)


def watched(answer: Callable[[int], bool | None], within_s: float) -> int:
    """Return the number of checks; TimeoutError if it continues."""
    asked = 0

    async def allowed() -> bool | None:
        nonlocal asked
        asked += 1
        return answer(asked)

    async def run() -> None:
        async with asyncio.timeout(within_s):
            await bridge.watch(allowed)

    asyncio.run(run())
    return asked


def test_it_ends_with_the_access() -> None:
    assert watched(lambda asked: asked < 3, 10.0) == 3


def test_it_ends_when_the_database_cannot_tell_for_long() -> None:
    assert watched(lambda asked: True if asked == 1 else None, 10.0) > 2


def test_it_outlives_a_database_that_is_away_for_a_moment() -> None:
    with pytest.raises(TimeoutError):
        watched(lambda asked: True if asked % 2 else None, 0.5)
