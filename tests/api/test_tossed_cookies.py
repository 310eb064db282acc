"""Cookies of our names that others set: a browser sends them all, in the order that the others choose (RFC 6265)."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Sequence

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.browser import PASSWORD, Browser
from zoe_api.access.sessions import CSRF_HEADER
from zoe_api.http.cookies import VALUES_MAX

SESSION = "/api/v1/session"
NAME = "zoe-session"
SEED = 20261122


def tossed(number: int) -> list[str]:
    """As well-formed as ours."""
    return [f"{NAME}={secrets.token_urlsafe(32)}" for _ in range(number)]


GARBAGE = [
    f"{NAME}=",
    f"{NAME}",
    f"{NAME}=x",
    f'{NAME}="quoted; zoe-session=inner"',
    f'{NAME}="{"q" * 43}"',
    f"{NAME}={'a' * 44}",
    f"{NAME}={'ä' * 43}",
    f"{NAME}={'%41' * 20}",
    f"{NAME}=a={'b' * 41}",
    "=",
    "",
    ";;;",
    f" {NAME} = {'c' * 43}",
    f"{NAME.upper()}={'d' * 43}",
    f"__Host-{NAME}={'e' * 43}",
    f"x{NAME}={'f' * 43}",
    "other=1",
]


@pytest.fixture
def signed_in(api: Api) -> tuple[str, str]:
    """The cookie as a browser sends it, and the proof."""
    browser = Browser(api)
    proof = str(browser.sign_in()["csrf_token"])
    return f"{NAME}={browser.http.cookies[NAME]}", proof


def ask(
    api: Api, cookies: Sequence[str], method: str = "GET", path: str = "/api/v1/me", **more: object
) -> httpx.Response:
    headers = [("Cookie", "; ".join(cookies).strip().encode("utf-8"))]
    headers += [(name, str(value).encode()) for name, value in dict(more.pop("headers", {})).items()]  # type: ignore[call-overload]
    return api.http(None).request(method, path, headers=headers, **more)  # type: ignore[arg-type]


PLACES: dict[str, Callable[[list[str], str], list[str]]] = {
    "first": lambda others, own: [own, *others],
    "last": lambda others, own: [*others, own],
    "in the middle": lambda others, own: [*others[: len(others) // 2], own, *others[len(others) // 2 :]],
    "twice": lambda others, own: [own, *others, own],
}


@pytest.mark.parametrize("number", [1, 4, VALUES_MAX - 1])
@pytest.mark.parametrize("place", PLACES)
def test_the_session_is_found_among_cookies_that_others_set(
    api: Api, signed_in: tuple[str, str], place: str, number: int
) -> None:
    own, proof = signed_in
    cookies = PLACES[place](tossed(number), own)
    assert ask(api, cookies).json()["user"] == "ben"
    headers = {CSRF_HEADER: proof}
    assert ask(api, cookies, "POST", "/api/v1/tokens", headers=headers, json={}).status_code == 201
    assert ask(api, cookies, "DELETE", SESSION, headers=headers).status_code == 204
    assert problem(ask(api, cookies))["code"] == "session_over"


def test_cookies_of_others_do_not_displace_the_own_session(api: Api, signed_in: tuple[str, str]) -> None:
    own, chance = signed_in[0], random.Random(SEED)
    for _ in range(30):
        cookies = [own, *chance.choices(GARBAGE, k=chance.randrange(40))]
        chance.shuffle(cookies)
        assert ask(api, cookies).json()["user"] == "ben", cookies
    assert ask(api, [*GARBAGE * 40, own]).json()["user"] == "ben"


def test_lines_of_cookies_are_read_as_one(api: Api, signed_in: tuple[str, str]) -> None:
    lines = [("Cookie", tossed(1)[0]), ("Cookie", signed_in[0]), ("Cookie", tossed(1)[0])]
    assert api.http(None).get("/api/v1/me", headers=lines).json()["user"] == "ben"


@pytest.mark.parametrize("number", [0, 1, 4, VALUES_MAX, 900])
def test_a_request_is_one_look_into_the_database_however_many_cookies_it_has(
    api: Api, signed_in: tuple[str, str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    looks: list[int] = []
    real = api.store.accounts.sessions_among
    monkeypatch.setattr(
        api.store.accounts, "sessions_among", lambda ids, now_s: looks.append(len(ids)) or real(ids, now_s)
    )
    monkeypatch.setattr(api.store.accounts, "session", lambda *_: pytest.fail("another look"))
    answer = ask(api, [signed_in[0], *tossed(number)])
    assert (answer.status_code, looks) == (200, [min(number + 1, VALUES_MAX)])


def test_signing_in_works_however_many_there_are(api: Api, signed_in: tuple[str, str]) -> None:
    cookies = [*tossed(900), signed_in[0]]
    assert problem(ask(api, cookies))["code"] == "session_over"
    answer = ask(api, cookies, "POST", SESSION, json={"user": "ben", "password": PASSWORD})
    assert answer.status_code == 200
    fresh = answer.headers["set-cookie"].partition(";")[0]
    assert ask(api, [*tossed(4), fresh]).json()["user"] == "ben"


def test_a_session_of_the_one_who_set_it_is_not_taken_for_the_users(api: Api, signed_in: tuple[str, str]) -> None:
    own, proof = signed_in
    mallory = Browser(api, "mallory")
    theirs = str(mallory.sign_in()["csrf_token"])
    for cookies in ([f"{NAME}={mallory.http.cookies[NAME]}", own], [own, f"{NAME}={mallory.http.cookies[NAME]}"]):
        for given, user in ((proof, "ben"), (theirs, "mallory")):
            told = ask(api, cookies, path=SESSION, headers={CSRF_HEADER: given}).json()
            assert (told["user"], told["csrf_token"]) == (user, given)
        made = ask(api, cookies, "POST", "/api/v1/tokens", headers={CSRF_HEADER: proof}, json={}).json()
        assert made["user"] == "ben"
        assert ask(api, cookies, path=SESSION).json()["csrf_token"] == ""


def test_over_https_only_names_count_that_others_cannot_set(api: Api) -> None:
    browser = Browser(api)
    browser.http.headers["X-Forwarded-Proto"] = "https"
    cookie = browser.try_to_sign_in().headers["set-cookie"].split("; ")
    assert cookie[0].startswith(f"__Host-{NAME}=")
    assert {"Secure", "Path=/", "HttpOnly"} <= set(cookie)
    secret = cookie[0].partition("=")[2]
    https = {"X-Forwarded-Proto": "https"}
    assert ask(api, [*tossed(200), cookie[0]], headers=https).json()["user"] == "ben"
    assert problem(ask(api, [f"{NAME}={secret}"], headers=https))["code"] == "no_token"
    assert problem(ask(api, [cookie[0]]))["code"] == "no_token"
