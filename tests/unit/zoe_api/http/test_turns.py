"""Each client has a few requests computed at a time; its others wait, and no other client does."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.plain_api import request, run
from zoe_api.http import turns
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.turns import AT_ONCE_MAX, INSIDE_MAX, Turns, client_of


class Flood:
    """Requests that hold their turn until they are released."""

    def __init__(self) -> None:
        self.turns, self.released = Turns(), asyncio.Event()
        self.order: list[str] = []

    async def ask(self, client: str, name: str = "") -> None:
        async with self.turns.turn(client):
            self.order.append(name or client)
            await self.released.wait()


def test_a_client_has_its_turns_and_delays_itself_only() -> None:
    async def flood() -> list[str]:
        held = Flood()
        tasks = [asyncio.create_task(held.ask("a", f"a{number}")) for number in range(5)]
        tasks.append(asyncio.create_task(held.ask("b")))
        await asyncio.sleep(0.01)
        begun = list(held.order)
        held.released.set()
        await asyncio.gather(*tasks)
        assert held.order == ["a0", "a1", "b", "a2", "a3", "a4"]
        assert not held.turns._lines
        return begun

    assert run(flood()) == ["a0", "a1", "b"]
    assert AT_ONCE_MAX == 2


def test_more_than_may_wait_are_refused() -> None:
    async def flood() -> None:
        held = Flood()
        tasks = [asyncio.create_task(held.ask("a")) for _ in range(INSIDE_MAX)]
        await asyncio.sleep(0)
        with pytest.raises(ApiProblem) as refused:
            await held.ask("a")
        assert refused.value.problem.code == "check_busy"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not held.turns._lines, "a client that left keeps no place"

    run(flood())


def test_a_client_is_its_token_its_session_or_its_address() -> None:
    cookie = {"cookie": f"zoe-session={'s' * 43}; other=1"}
    assert client_of(request(headers={"authorization": "Bearer t", **cookie})) == "Bearer t"
    assert client_of(request(headers=cookie)) == "s" * 43
    assert client_of(request(headers={"cookie": "other=1"})) == "192.0.2.7"
    assert turns.client_of(request(client="")) == ""
