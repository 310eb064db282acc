"""Signing in at an OpenID Connect provider: a real one as a process, and what one that lies does not get."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.browser import Browser
from tests.support.oidc import Provider, Tampering, provider
from tests.support.serving import Served
from zoe_lib.store.people import User

SESSION = "/api/v1/session"
RULES = [
    {"provider": "corp", "tenant": "red", "role": "viewer"},
    {"provider": "corp", "group": "staff", "tenant": "red", "role": "user"},
    {"provider": "corp", "group": "staff", "tenant": "blue", "role": "operator"},
    {"provider": "corp", "group": "staff", "tenant": "not there"},
]


@pytest.fixture(scope="module")
def real() -> Iterator[Provider]:
    with provider() as made:
        made.know("s-1", preferred_username="Mia", groups=["staff"])
        yield made


@pytest.fixture
def tampering(real: Provider) -> Iterator[Tampering]:
    made = Tampering(real)
    served = Served(made.app)  # type: ignore[arg-type]
    made.url = served.url
    yield made
    served.close()


def api_with(postgres_url: str, issuer: str, real: Provider, secret_file: Path) -> Api:
    settings = {"issuer": issuer, "client_id": "zoe", "title": "The firm", "client_secret_file": secret_file}
    api = Api(postgres_url, oidc={"corp": settings}, sign_in_roles=RULES)
    api.store.accounts.add_tenant("blue")
    client_id, secret = real.register(f"{api.url}{SESSION}/oidc/callback")
    secret_file.write_text(secret + "\n")
    api.settings.oidc["corp"].client_id = client_id
    return api


@pytest.fixture
def api(postgres_url: str, real: Provider, tmp_path: Path) -> Iterator[Api]:
    made = api_with(postgres_url, real.url, real, tmp_path / "secret")
    yield made
    made.close()


@pytest.fixture
def lied_to(postgres_url: str, tampering: Tampering, tmp_path: Path) -> Iterator[Api]:
    made = api_with(postgres_url, tampering.url, tampering.real, tmp_path / "secret")
    yield made
    made.close()


def sent(browser: httpx.Client, next_path: str = "/executions?all=1") -> str:
    """Where the provider is asked."""
    answer = browser.get(f"{SESSION}/oidc/start", params={"provider": "corp", "next": next_path})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def comes_back(url: str, subject: str = "s-1") -> str:
    """What the provider has the browser ask for, after its form."""
    answer = httpx.post(url, data={"sub": subject}, trust_env=False)
    assert answer.status_code == 302, answer.text
    parts = urlsplit(answer.headers["location"])
    return f"{parts.path}?{parts.query}"


def landed(answer: httpx.Response) -> tuple[str, str]:
    """The path that the page goes on to, and the session's proof, as the page reads them."""
    assert answer.status_code == 303, answer.text
    page = urlsplit(answer.headers["location"])
    assert (page.scheme, page.netloc, page.path, page.query) == ("", "", "/", "")
    told = parse_qs(page.fragment)
    return told["next"][0], told["csrf_token"][0]


def test_a_browser_signs_in_and_is_made_a_user_with_the_roles_of_its_groups(api: Api) -> None:
    told = api.http(None).get(f"{SESSION}/providers").json()["providers"]
    assert told[0] == {"name": "local", "title": "Zoe", "kind": "password", "start": None}
    assert told[1] | {"start": ""} == {"name": "corp", "title": "The firm", "kind": "redirect", "start": ""}
    browser = api.http(None)
    path, proof = landed(browser.get(comes_back(browser.get(told[1]["start"]).headers["location"])))
    assert path == "/"
    who = browser.get(SESSION).json()
    assert who["csrf_token"] == ""
    assert (who["user"], who["tenant"], who["role"], who["tenants"]) == ("mia", "blue", "operator", ["blue", "red"])
    assert api.store.accounts.user("mia") == User("mia", provider="corp", subject="s-1")
    assert {m.tenant: m.role for m in api.store.accounts.memberships(user="mia")} == {"blue": "operator", "red": "user"}
    browser.headers["X-CSRF-Token"] = proof
    assert browser.put(f"{SESSION}/tenant", json={"tenant": "red"}).json()["role"] == "user"


def test_a_browser_comes_back_to_where_it_was_here_and_nowhere_else(api: Api) -> None:
    browser = api.http(None)
    assert landed(browser.get(comes_back(sent(browser))))[0] == "/executions?all=1"
    for bad in ("//elsewhere.example", "/\\elsewhere.example", "https://elsewhere.example", "x", "/a\r\nb"):
        assert landed(browser.get(comes_back(sent(browser, bad))))[0] == "/"
    start = f"{SESSION}/oidc/start?provider=corp"  # from there a fragment would be carried on to the provider
    assert landed(browser.get(comes_back(sent(browser, start))))[0] == start


def test_roles_follow_the_groups_of_each_sign_in(api: Api, real: Provider) -> None:
    real.know("s-2", preferred_username="ned", groups=["staff"])
    browser = api.http(None)
    browser.get(comes_back(sent(browser), "s-2"))
    api.store.accounts.add_tenant("green")
    api.store.accounts.ensure_member("ned", "green", "user")
    real.know("s-2", preferred_username="ned-renamed", groups="none")
    browser.get(comes_back(sent(browser), "s-2"))
    assert browser.get(SESSION).json()["user"] == "ned"
    assert {m.tenant: m.role for m in api.store.accounts.memberships(user="ned")} == {"green": "user", "red": "viewer"}


def test_name_at_the_provider_cannot_take_over_another_user(api: Api, real: Provider) -> None:
    Browser(api, "ben", "admin")
    for subject, name in (("s-3", "ben"), ("s-4", "../etc"), ("s-5", "x" * 65), ("s-6", "nul\u0000")):
        real.know(subject, preferred_username=name)
        browser = api.http(None)
        refused = browser.get(comes_back(sent(browser), subject))
        assert problem(refused)["code"] == "sign_in_refused"
        assert browser.get(SESSION).status_code == 401
    assert api.store.accounts.user("ben").provider == ""


def test_disabled_user_or_user_without_role_is_refused(api: Api, real: Provider) -> None:
    browser = api.http(None)
    browser.get(comes_back(sent(browser)))
    api.store.accounts.set_disabled("mia", True)
    assert browser.get(SESSION).status_code == 401
    assert problem(browser.get(comes_back(sent(browser))))["code"] == "sign_in_refused"
    api.store.accounts.set_disabled("mia", False)
    api.settings.sign_in_roles = api.settings.sign_in_roles[1:]
    real.know("s-7", preferred_username="olaf")
    assert problem(browser.get(comes_back(sent(browser), "s-7")))["code"] == "no_membership"


def test_a_way_back_works_once_and_in_the_browser_that_left(api: Api) -> None:
    browser, other = api.http(None), api.http(None)
    back = comes_back(sent(browser))
    sent(other)
    assert problem(other.get(back))["code"] == "sign_in_failed"
    assert problem(browser.get(back))["code"] == "sign_in_failed"
    back = comes_back(sent(browser))
    cookies = dict(browser.cookies)
    assert browser.get(back).status_code == 303
    replayed = api.http(None, cookies=cookies)
    assert problem(replayed.get(back))["code"] == "sign_in_failed"
    assert problem(api.http(None).get(f"{SESSION}/oidc/callback?state=guessed&code=x"))["code"] == "sign_in_failed"


def test_cookies_that_others_set_are_not_in_the_way(api: Api) -> None:
    """An application sets some cookies with the name that identifies the browser."""
    left = api.http(None)
    back, own = comes_back(sent(left)), f"zoe-sign-in={left.cookies['zoe-sign-in']}"
    tossed = [f"zoe-sign-in={secrets.token_urlsafe(48)}" for _ in range(4)]
    answer = api.http(None).get(back, headers={"Cookie": "; ".join([*tossed, "zoe-sign-in=x", own])})
    assert landed(answer)[0] == "/executions?all=1"
    others = comes_back(sent(left))
    refused = api.http(None).get(others, headers={"Cookie": "; ".join(tossed)})
    assert problem(refused)["code"] == "sign_in_failed"


def test_over_https_the_cookie_of_the_way_back_is_one_that_others_cannot_set(api: Api) -> None:
    https = {"X-Forwarded-Proto": "https"}
    start = api.http(None).get(f"{SESSION}/oidc/start", params={"provider": "corp"}, headers=https)
    cookie = start.headers["set-cookie"].split("; ")
    assert cookie[0].startswith("__Host-zoe-sign-in=")
    assert {"Secure", "Path=/", "HttpOnly"} <= set(cookie)


def test_refusal_at_the_provider_is_shown_as_a_page(api: Api) -> None:
    browser = api.http(None)
    back = f"{SESSION}/oidc/callback?state={parse_qs(urlsplit(sent(browser)).query)['state'][0]}&error=access_denied"
    answer = browser.get(back, headers={"Accept": "text/html"})
    assert (answer.status_code, "access_denied" in answer.text) == (401, True)
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    hostile = f"{SESSION}/oidc/start?provider=<script>alert(1)</script>"
    assert "<script" not in browser.get(hostile, headers={"Accept": "text/html"}).text


def test_unaltered_answer_of_the_provider_signs_in(lied_to: Api) -> None:
    browser = lied_to.http(None)
    assert browser.get(comes_back(sent(browser))).status_code == 303
    assert browser.get(SESSION).json()["user"] == "mia"


FAULTS = (
    "signature", "unsigned", "audience", "other party", "issuer", "nonce", "no nonce", "expired", "no subject",
)  # fmt: skip


def test_a_token_that_is_not_good_gets_nobody_in(lied_to: Api, tampering: Tampering) -> None:
    for fault in FAULTS:
        browser = lied_to.http(None)
        back = comes_back(sent(browser))
        tampering.fault = fault
        refused = browser.get(back)
        assert problem(refused)["code"] == "sign_in_failed", fault
        assert "set-cookie" not in refused.headers
        assert browser.get(SESSION).status_code == 401
    assert [user.name for user in lied_to.store.accounts.users() if user.provider] == []


def test_a_code_without_its_verifier_is_not_taken(lied_to: Api, tampering: Tampering) -> None:
    browser = lied_to.http(None)
    back = comes_back(sent(browser))
    tampering.challenges = dict.fromkeys(tampering.challenges, "another")
    assert problem(browser.get(back))["code"] == "sign_in_failed"


def test_the_clients_secret_is_shown_to_the_provider(api: Api, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("another")
    browser = api.http(None)
    assert problem(browser.get(comes_back(sent(browser))))["code"] == "sign_in_failed"


def test_a_provider_that_is_away_or_another_one_is_told(postgres_url: str, lied_to: Api, tampering: Tampering) -> None:
    tampering.published = {"issuer": "http://127.0.0.1:1"}
    start = f"{SESSION}/oidc/start?provider=corp"
    assert problem(lied_to.http(None).get(start))["code"] == "provider_unavailable"
    lied_to.settings.oidc["corp"].issuer = "http://127.0.0.1:1"
    assert problem(lied_to.http(None).get(start))["code"] == "provider_unavailable"
    assert problem(lied_to.http(None).get(f"{SESSION}/oidc/start?provider=x"))["code"] == "not_found"
    assert Browser(lied_to).try_to_sign_in().status_code == 200


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"])
def test_an_endpoint_that_is_no_address_is_not_used(lied_to: Api, tampering: Tampering, name: str) -> None:
    for address in (
        None,
        7,
        "",
        "/authorize",
        "javascript:alert(1)",
        "//127.0.0.1/x",
        "http://",
        "http://[",
        "ftp://a/b",
    ):
        tampering.published = {name: address}
        answer = lied_to.http(None).get(f"{SESSION}/oidc/start?provider=corp")
        assert problem(answer)["code"] == "provider_unavailable", address


@pytest.mark.parametrize(
    "keys", [{}, {"keys": None}, {"keys": [{}]}, {"keys": [{"kty": "RSA", "n": "!"}]}, {"keys": "x"}]
)
def test_keys_that_cannot_be_read_are_the_providers_fault(lied_to: Api, tampering: Tampering, keys: Any) -> None:
    browser = lied_to.http(None)
    back = comes_back(sent(browser))
    tampering.keys = keys
    assert problem(browser.get(back))["code"] == "provider_unavailable"


def test_why_a_token_is_not_good_is_a_whole_sentence(lied_to: Api, tampering: Tampering) -> None:
    for fault in FAULTS:
        browser = lied_to.http(None)
        back = comes_back(sent(browser))
        tampering.fault = fault
        assert re.search(r"\w'?$", problem(browser.get(back))["detail"]), fault
