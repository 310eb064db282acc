"""Two providers, one of which lies: it sends a browser on to the honest one, and gets nothing (RFC 9700, 4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.lying_provider import LyingProvider
from tests.support.oidc import Provider, provider
from tests.support.serving import Served
from tests.support.waiting import until
from zoe_lib.store.sql.accounts.waiting import WaitingBounds

OIDC = "/api/v1/session/oidc"
RULES = [{"provider": name, "tenant": "red", "role": "user"} for name in ("honest", "liar")]


@pytest.fixture(scope="module")
def honest() -> Iterator[Provider]:
    with provider() as made:
        made.know("s-1", preferred_username="mia")
        yield made


@pytest.fixture
def liar(honest: Provider) -> Iterator[LyingProvider]:
    made = LyingProvider()
    served = Served(made.app)  # type: ignore[arg-type]
    made.url, made.onward = served.url, f"{honest.url}/oauth2/authorize"
    yield made
    served.close()


@pytest.fixture
def api(postgres_url: str, honest: Provider, liar: LyingProvider, tmp_path: Path) -> Iterator[Api]:
    secret = tmp_path / "secret"
    secret.write_text("x")
    settings = {
        "honest": {"issuer": honest.url, "client_id": "x", "client_secret_file": secret},
        "liar": {"issuer": liar.url, "client_id": "zoe"},
    }
    made = Api(postgres_url, oidc=settings, sign_in_roles=RULES)
    client_id, known = honest.register(f"{made.url}{OIDC}/callback/honest")
    made.settings.oidc["honest"].client_id = client_id
    secret.write_text(known)
    yield made
    made.close()


def started(browser: httpx.Client, at: str) -> str:
    answer = browser.get(f"{OIDC}/start", params={"provider": at})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def typed(url: str) -> str:
    """Where a browser is sent after its user has typed the password at the honest provider."""
    answer = httpx.post(url, data={"sub": "s-1"}, trust_env=False)
    assert answer.status_code == 302, answer.text
    parts = urlsplit(answer.headers["location"])
    return f"{parts.path}?{parts.query}"


def led_on(liar: LyingProvider, url: str, **instead: str) -> str:
    liar.instead = instead
    return httpx.get(url, trust_env=False).headers["location"]


def test_each_of_two_providers_signs_in_at_a_redirect_uri_of_its_own(api: Api) -> None:
    browser = api.http(None)
    url = started(browser, "honest")
    assert query_of(url)["redirect_uri"] == f"{api.url}{OIDC}/callback/honest"
    assert browser.get(typed(url)).status_code == 303
    assert browser.get("/api/v1/session").json()["user"] == "mia"


def test_a_provider_that_lies_gets_no_code_of_the_honest_one(api: Api, liar: LyingProvider) -> None:
    """With one redirect URI for both, Zoe posted the code to the liar, who signed in as the victim with it."""
    victim, attacker = api.http(None), api.http(None)
    own = query_of(started(attacker, "honest"))
    wanted = {name: own[name] for name in ("client_id", "nonce", "code_challenge", "redirect_uri")}
    back = typed(led_on(liar, started(victim, "liar"), **wanted))
    refused = victim.get(back)
    assert problem(refused)["code"] == "sign_in_mixed_up"
    assert liar.sent == []
    [entry] = until(lambda: api.store.accounts.audit(None, 1))  # it is written beside the answer
    assert (entry.action, entry.by, entry.status) == ("sign_in", "liar", 401)
    assert "arrived at the redirect URI of 'honest'" in str(entry.changes["refused"][1])
    page = victim.get(back, headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["referrer-policy"]) == (401, "no-referrer")
    for browser in (victim, attacker):
        assert browser.get("/api/v1/session").status_code == 401


def test_the_redirect_uri_without_a_name_takes_nothing_while_there_are_two(api: Api, liar: LyingProvider) -> None:
    browser = api.http(None)
    for at in ("honest", "liar"):
        state = query_of(started(browser, at))["state"]
        refused = browser.get(f"{OIDC}/callback", params={"state": state, "code": "stolen"})
        assert problem(refused)["code"] == "sign_in_mixed_up"
        assert "without a name" in problem(refused)["detail"]
    assert liar.sent == []


def test_an_answer_with_the_issuer_of_another_provider_is_refused(api: Api, honest: Provider) -> None:
    browser = api.http(None)
    url = started(browser, "liar")
    answer = {"state": query_of(url)["state"], "code": "stolen", "iss": honest.url}
    refused = browser.get(f"{OIDC}/callback/liar", params=answer)
    assert problem(refused)["code"] == "sign_in_mixed_up"
    [entry] = until(lambda: api.store.accounts.audit(None, 1))
    assert honest.url in str(entry.changes["refused"][1])


def test_an_answer_gives_each_parameter_once(api: Api, honest: Provider) -> None:
    browser = api.http(None)
    state = query_of(started(browser, "liar"))["state"]
    answer = [("state", state), ("code", "c"), ("iss", "https://elsewhere.example"), ("iss", honest.url)]
    refused = problem(browser.get(f"{OIDC}/callback/liar", params=answer))
    assert (refused["code"], "twice" in refused["detail"]) == ("sign_in_failed", True)


def test_sign_ins_that_a_stranger_begins_are_bounded(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """300 starts were 300 rows; and 10,000 removed those of everybody else."""
    monkeypatch.setattr("zoe_api.people.sign_in.oidc_routes._BOUNDS", WaitingBounds(3, 100))
    browsers = [api.http(None) for _ in range(3)]
    for browser in browsers:
        started(browser, "liar")
    refused = api.http(None).get(f"{OIDC}/start", params={"provider": "liar"})
    assert (refused.status_code, problem(refused)["code"]) == (429, "sign_in_busy")
    assert (refused.headers["retry-after"], "soon" in refused.text) == ("600", False)
    started(browsers[0], "honest")  # a browser has one sign-in at a time


def test_a_sign_in_that_cannot_begin_takes_no_place(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoe_api.people.sign_in.oidc_routes._BOUNDS", WaitingBounds(1, 100))
    issuer, api.settings.oidc["liar"].issuer = api.settings.oidc["liar"].issuer, "http://127.0.0.1:1"
    for _ in range(2):
        answer = api.http(None).get(f"{OIDC}/start", params={"provider": "liar"})
        assert problem(answer)["code"] == "provider_unavailable"
    api.settings.oidc["liar"].issuer = issuer
    started(api.http(None), "liar")


def test_a_session_by_a_provider_ends_within_the_time_of_its_setting(api: Api) -> None:
    api.settings.oidc["honest"].session_lifetime_s = 90.0
    answer = api.http(None)
    location = typed(started(answer, "honest"))
    cookies = answer.get(location).headers.get_list("set-cookie")
    assert any(cooky.startswith("zoe-session=") and "Max-Age=90" in cooky for cooky in cookies)
