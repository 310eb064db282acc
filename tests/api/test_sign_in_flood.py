"""A flood of sign-ins: other routes are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import anyio.to_thread
import httpx
import pytest

from tests.support.api import Api
from tests.support.browser import Browser
from tests.support.waiting import DEADLINE_S
from zoe_api import passwords
from zoe_api.sign_in import password_checks

SIGN_INS = 100
PATHS = {
    "/api/v1/session": {"json": {"user": "ben", "password": "a wrong password"}},
    "/lite/sign-in": {"data": {"user": "ben", "password": "a wrong password"}},
}


class HeldHasher:
    """Hashes that take until they are released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self._real = passwords.hasher

    def verify(self, *given: str) -> bool:
        assert self.released.wait(2 * DEADLINE_S)
        return self._real.verify(*given)

    def hash(self, text: str) -> str:
        return self._real.hash(text)


@pytest.mark.parametrize("path", PATHS)
def test_me_is_answered_while_a_hundred_sign_ins_are_in_progress(
    api: Api, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    Browser(api)
    held = HeldHasher()
    monkeypatch.setattr(passwords, "hasher", held)
    monkeypatch.setattr(password_checks, "INSIDE_MAX", SIGN_INS)
    monkeypatch.setattr(password_checks, "OF_NETWORK_MAX", SIGN_INS)
    checks = api.app.state.services.password_checks

    async def flood(**body: Any) -> tuple[int, int, int]:
        transport = httpx.ASGITransport(api.app)
        async with httpx.AsyncClient(base_url="http://127.0.0.1:5100", transport=transport) as http:
            tasks = [asyncio.create_task(http.post(path, **body)) for _ in range(SIGN_INS)]
            async with asyncio.timeout(DEADLINE_S):
                while checks.inside("local") < SIGN_INS:
                    await asyncio.sleep(0)
                threads = anyio.to_thread.current_default_thread_limiter().borrowed_tokens
                told = await http.get("/api/v1/me", headers={"Authorization": f"Bearer {api.token}"})
            done = sum(task.done() for task in tasks)
            held.released.set()
            await asyncio.gather(*tasks)
        return told.status_code, threads, done

    try:
        assert asyncio.run(flood(**PATHS[path])) == (200, 0, 0)
    finally:
        held.released.set()
