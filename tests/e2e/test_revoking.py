"""What ends or narrows a user's access holds at once: in every API process, for each request that begins after it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import quote

import httpx
import pytest

from tests.support.documents import job
from tests.support.installation import TENANT, Installation, free_port
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_api.access.sessions import CSRF_HEADER
from zoe_api.http import cookies
from zoe_lib.store.people import Session
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.submission.ids import hash_of

ROUNDS = 2
CLIENTS_OF_EACH_API = 2
ACCEPTED_BEFORE = 4
REFUSED_AFTER = 8
LIFETIME_S = 1.0
Headers = Mapping[str, str]


@dataclass
class World:
    """Two API processes; changes go to the first, or to the database itself."""

    installation: Installation
    urls: list[str]
    admin: httpx.Client

    @property
    def store(self) -> PostgresStore:
        return self.installation.store

    def client(self, url: str, headers: Headers) -> httpx.Client:
        return httpx.Client(base_url=f"{url}/api/v1", headers=dict(headers), trust_env=False, timeout=30)


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    server = request.getfixturevalue("postgres_server")
    url = server.create_database()
    installation = Installation(url)
    ports = [free_port(), free_port()]
    for port in ports:
        installation.start_api(port)
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    for address in urls:
        until(lambda address=address: ready(address), lambda: installation.log(f"api-{ports[0]}"))  # type: ignore[misc]
    with httpx.Client(
        base_url=f"{urls[0]}/api/v1", headers=bearer(installation.token), trust_env=False, timeout=30
    ) as admin:
        yield World(installation, urls, admin)
    installation.close()
    server.drop_database(url)


def ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", trust_env=False).is_success
    except httpx.TransportError:
        return False


def bearer(token: str) -> Headers:
    return {"Authorization": f"Bearer {token}"}


def id_of(headers: Headers) -> str:
    return headers["Authorization"].split("_")[1]


def with_token(world: World, user: str) -> Headers:
    return bearer(make_token(world.store, user, TENANT))


def with_made_token(world: World, user: str) -> Headers:
    """A token that another one made, with which it ends."""
    with world.client(world.urls[1], with_token(world, user)) as http:
        return bearer(http.post("/tokens", json={}).json()["secret"])


def with_short_token(world: World, user: str) -> Headers:
    return bearer(make_token(world.store, user, TENANT, lifetime_s=LIFETIME_S))


def with_session(world: World, user: str) -> Headers:
    world.store.accounts.ensure_member(user, TENANT, "user")
    secret, proof, now_s = secrets.token_urlsafe(32), secrets.token_urlsafe(32), time.time()
    session = Session(hash_of(secret), user, TENANT, now_s, now_s + 600, hash_of(proof))
    world.store.accounts.add_session(session)
    return {"Cookie": f"{cookies.SESSION}={secret}", CSRF_HEADER: proof}


def done(response: httpx.Response) -> None:
    assert response.is_success, response.text


def revoke(world: World, _user: str, headers: Headers) -> None:
    done(world.admin.delete(f"/admin/tokens/{id_of(headers)}"))


def revoke_own(world: World, _user: str, headers: Headers) -> None:
    with world.client(world.urls[0], headers) as http:
        done(http.delete(f"/tokens/{id_of(headers)}"))


def revoke_maker(world: World, user: str, headers: Headers) -> None:
    (maker,) = (token.made_by for token in world.store.accounts.tokens(user) if token.id == id_of(headers))
    assert maker is not None
    done(world.admin.delete(f"/admin/tokens/{maker}"))


def revoke_in_the_database(world: World, _user: str, headers: Headers) -> None:
    """As a program without an API does."""
    world.store.accounts.revoke_token(id_of(headers))


def expire(world: World, user: str, _headers: Headers) -> None:
    (token,) = world.store.accounts.tokens(user)
    until(lambda: time.time() > (token.expires_at_s or 0.0))


def expire_in_the_database(world: World, _user: str, headers: Headers) -> None:
    """Nothing that Zoe has changes the end of a token; an operator may."""
    sql = "UPDATE tokens SET expires_at_s = 1 WHERE id = %(id)s"
    world.store.database.write(lambda c: c.exec_driver_sql(sql, {"id": id_of(headers)}))


def end_access(world: World, user: str, _headers: Headers) -> None:
    done(world.admin.delete(f"/admin/users/{quote(user)}/access"))


def disable(world: World, user: str, _headers: Headers) -> None:
    done(world.admin.patch(f"/admin/users/{quote(user)}", json={"disabled": True}))


def leave(world: World, user: str, _headers: Headers) -> None:
    done(world.admin.delete(f"/admin/tenants/{TENANT}/members/{quote(user)}"))


def demote(world: World, user: str, _headers: Headers) -> None:
    done(world.admin.put(f"/admin/tenants/{TENANT}/members/{quote(user)}", json={"role": "viewer"}))


def change_password(world: World, user: str, _headers: Headers) -> None:
    done(world.admin.patch(f"/admin/users/{quote(user)}", json={"password": secrets.token_urlsafe(16)}))


def sign_out(world: World, _user: str, headers: Headers) -> None:
    with world.client(world.urls[0], headers) as http:
        done(http.delete("/session"))


Enter = Callable[[World, str], Headers]
End = Callable[[World, str, Headers], None]
WAYS: list[tuple[Enter, End, int]] = [
    (with_token, revoke, 401),
    (with_token, revoke_own, 401),
    (with_token, revoke_in_the_database, 401),
    (with_token, expire_in_the_database, 401),
    (with_token, end_access, 401),
    (with_token, disable, 401),
    (with_token, leave, 401),
    (with_token, demote, 403),
    (with_made_token, revoke_maker, 401),
    (with_short_token, expire, 401),
    (with_session, sign_out, 401),
    (with_session, end_access, 401),
    (with_session, disable, 401),
    (with_session, leave, 401),
    (with_session, demote, 403),
    (with_session, change_password, 401),
]


class Submitting:
    """Clients that submit one after the other, and note when each request began and what came back."""

    def __init__(self, world: World, headers: Headers) -> None:
        self.answers: list[tuple[float, int]] = []
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._submit, args=(world, url, headers))
            for url in world.urls * CLIENTS_OF_EACH_API
        ]

    def __enter__(self) -> Submitting:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _submit(self, world: World, url: str, headers: Headers) -> None:
        with world.client(url, headers) as http:
            while not self._stop.is_set():
                began_s = time.monotonic()
                answer = http.post("/executions", json={"application": job("true")})
                self.answers.append((began_s, answer.status_code))

    def count(self, accepted: bool, since_s: float = 0.0) -> int:
        return sum((status == 201) is accepted for began_s, status in self.answers if began_s >= since_s)


@pytest.mark.parametrize(("enter", "end", "status"), WAYS, ids=lambda entry: getattr(entry, "__name__", str(entry)))
def test_no_request_that_begins_afterwards_is_accepted(world: World, enter: Enter, end: End, status: int) -> None:
    for _ in range(ROUNDS):
        user = f"user-{secrets.token_hex(4)}"
        headers = enter(world, user)
        with ExitStack() as stack:
            clients = stack.enter_context(Submitting(world, headers))
            until(lambda clients=clients: clients.count(accepted=True) >= ACCEPTED_BEFORE)  # type: ignore[misc]
            end(world, user, headers)
            ended_s = time.monotonic()
            until(lambda c=clients, s=ended_s: c.count(accepted=False, since_s=s) >= REFUSED_AFTER)  # type: ignore[misc]
        after = {status for began_s, status in clients.answers if began_s >= ended_s}
        assert after == {status}
