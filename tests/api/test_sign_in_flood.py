"""A flood of sign-ins: other routes are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import anyio.to_thread
import httpx
import pytest

from tests.support.api import Api, in_threads
from tests.support.browser import Browser
from tests.support.waiting import DEADLINE_S
from zoe_api.http.attempts import guess_limit, password_checks
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in import passwords
from zoe_api.people.sign_in.oidc import Oidc
from zoe_lib.settings.sign_in_settings import OidcSettings
from zoe_lib.store.people import SignInAttempt
from zoe_lib.store.sql.accounts.waiting import WaitingBounds
from zoe_lib.submission.ids import hash_of

SIGN_INS = 100
Ask = Callable[[httpx.AsyncClient, int], Coroutine[Any, Any, httpx.Response]]
WRONG = {"user": "ben", "password": "a wrong password"}


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


class HeldHashes(HeldHasher):
    """Threads that compute a hash."""

    def hash(self, text: str) -> str:
        assert self.released.wait(2 * DEADLINE_S)
        return self._real.hash(text)


def flooded(api: Api, lane: str, held: threading.Event, ask: Ask) -> tuple[int, int, int, set[int]]:
    """How another route is answered while so many requests are in progress, by how many threads of the general pool,
    how many requests were answered by then, and with what all were."""
    checks = api.app.state.services.password_checks

    async def flood() -> tuple[int, int, int, set[int]]:
        transport = httpx.ASGITransport(api.app)
        async with httpx.AsyncClient(base_url="http://127.0.0.1:5100", transport=transport) as http:
            tasks = [asyncio.create_task(ask(http, number)) for number in range(SIGN_INS)]
            async with asyncio.timeout(DEADLINE_S):
                while checks.inside(lane) < SIGN_INS:
                    await asyncio.sleep(0)
                threads = anyio.to_thread.current_default_thread_limiter().borrowed_tokens
                told = await http.get("/api/v1/me", headers={"Authorization": f"Bearer {api.token}"})
            done = sum(task.done() for task in tasks)
            held.set()
            statuses = {answer.status_code for answer in await asyncio.gather(*tasks)}
        return told.status_code, threads, done, statuses

    try:
        return asyncio.run(flood())
    finally:
        held.set()


def test_me_is_answered_while_a_hundred_sign_ins_are_in_progress(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    Browser(api)
    held = HeldHasher()
    monkeypatch.setattr(passwords, "hasher", held)
    monkeypatch.setattr(password_checks, "INSIDE_MAX", SIGN_INS)
    monkeypatch.setattr(password_checks, "OF_NETWORK_MAX", SIGN_INS)
    assert flooded(api, "local", held.released, lambda http, _: http.post("/api/v1/session", json=WRONG)) == (
        200,
        0,
        0,
        {401, 429},
    )


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_me_is_answered_while_admins_set_a_hundred_passwords(
    api: Api, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    Browser(api)
    held = HeldHashes()
    monkeypatch.setattr(passwords, "hasher", held)
    monkeypatch.setattr(password_checks, "INSIDE_MAX", SIGN_INS)
    monkeypatch.setattr(password_checks, "OF_NETWORK_MAX", SIGN_INS)
    headers = {"Authorization": f"Bearer {api.admin}"}

    async def ask(http: httpx.AsyncClient, number: int) -> httpx.Response:
        path = "/api/v1/admin/users" + ("/ben" if method == "PATCH" else "")
        body = {"password": "correct horse battery staple"} | ({"name": f"u{number}"} if method == "POST" else {})
        return await http.request(method, path, json=body, headers=headers)

    expected = {"POST": 201, "PATCH": 200}[method]
    assert flooded(api, password_checks.ADMINS, held.released, ask) == (200, 0, 0, {expected})


def test_admins_set_passwords_while_sign_ins_take_all_places(api: Api) -> None:
    Browser(api)
    released = threading.Event()
    lane = api.app.state.services.password_checks.lane("local")
    for _ in range(password_checks.OF_NETWORK_MAX):
        lane.submit("127.0.0.1", released.wait)
    try:
        assert Browser(api, "cleo").try_to_sign_in().status_code == 429
        body = {"password": "correct horse battery staple"}
        assert api.http(api.admin).patch("/api/v1/admin/users/ben", json=body).status_code == 200
    finally:
        released.set()


@pytest.mark.parametrize("step", ["start", "callback"])
def test_me_is_answered_while_a_hundred_wait_for_a_slow_provider(
    api: Api, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    api.settings.oidc["corp"] = OidcSettings(issuer="http://127.0.0.1:1", client_id="zoe")
    released = threading.Event()

    def slow(*_: object) -> None:
        assert released.wait(2 * DEADLINE_S)
        raise ApiProblem(Code.PROVIDER_UNAVAILABLE)

    monkeypatch.setattr(Oidc, "start_url", slow)
    monkeypatch.setattr(Oidc, "identity", slow)
    monkeypatch.setattr(password_checks, "INSIDE_MAX", SIGN_INS)
    monkeypatch.setattr(password_checks, "OF_NETWORK_MAX", SIGN_INS)
    secrets = [f"{number:064}" for number in range(SIGN_INS)]
    for secret in secrets:
        kept = hash_of(secret)
        attempt = SignInAttempt(kept, kept, "corp", "nonce", "verifier", "/", time.time() + 600.0)
        api.store.accounts.add_sign_in(attempt, [], WaitingBounds(SIGN_INS, SIGN_INS), time.time())

    async def ask(http: httpx.AsyncClient, number: int) -> httpx.Response:
        if step == "start":
            return await http.get("/api/v1/session/oidc/start", params={"provider": "corp"})
        cookie = {"Cookie": f"zoe-sign-in={secrets[number]}"}
        back = {"state": secrets[number], "code": "c"}
        return await http.get("/api/v1/session/oidc/callback", params=back, headers=cookie)

    assert flooded(api, "corp", released, ask) == (200, 0, 0, {502})


def test_guesses_at_the_same_moment_at_two_apis_are_ten(api: Api, postgres_url: str) -> None:
    Browser(api)
    other = Api(postgres_url)
    try:

        def guess(number: int) -> str:
            body = {"user": "ben", "password": f"a wrong password {number}"}
            told = (api, other)[number % 2].http(None).post("/api/v1/session", json=body)
            return str(told.json()["code"])

        told = in_threads(20, guess)
        for _ in range(3):  # some were told that too many wait
            told += in_threads(4, guess)
    finally:
        other.close()
    assert told.count(Code.BAD_SIGN_IN) == guess_limit.FAILURES_OF_PAIR_MAX
