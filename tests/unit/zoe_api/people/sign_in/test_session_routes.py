"""Sessions of browsers: details, sign-in and sign-out."""

from __future__ import annotations

import time
from typing import Any

import pytest
from fastapi import Response

from tests.support.plain_api import ELSEWHERE, TENANT, USER, caller_of, person, refusal, request, services
from zoe_api.http.problems.codes import Code
from zoe_api.people.sign_in import session_routes as session
from zoe_client.wire import TenantChoice
from zoe_lib.store.people import Session
from zoe_lib.submission.ids import hash_of

COOKIE = "a" * 43
BROWSER = person(session_id=hash_of(COOKIE))


def there(**settings: Any) -> Any:
    made = services(**settings)
    made.accounts.add_member(USER)
    made.accounts.add_member(USER, ELSEWHERE)
    now_s = time.time()
    made.accounts.add_session(Session(hash_of(COOKIE), USER, TENANT, now_s, now_s + 60, hash_of("proof")))
    return made


def test_local_passwords_come_first_among_the_ways_to_sign_in() -> None:
    made = there(
        ldap={"dir": {"url": "ldaps://d", "base": "x", "filter": "(uid={user})", "title": "Directory"}},
        oidc={"sso": {"issuer": "https://sso.example", "client_id": "zoe"}},
    )
    told = session.list_providers(made).providers
    assert [(provider.name, provider.title, provider.kind, provider.start) for provider in told] == [
        ("local", "Zoe", "password", None),
        ("dir", "Directory", "password", None),
        ("sso", "sso", "redirect", "/api/v1/session/oidc/start?provider=sso"),
    ]


@pytest.mark.parametrize(
    ("principal", "proved", "token"), [(BROWSER, True, "p"), (BROWSER, False, ""), (person(token_id="t"), True, "")]
)
def test_a_page_hears_its_token_only_if_it_is_valid(principal: Any, proved: bool, token: str) -> None:
    asked = request(headers={"x-csrf-token": "p"}, state={"proved": proved})
    told = session.get_session(caller_of(None, principal, asked), there().accounts)
    assert (told.csrf_token, told.user, told.tenant) == (token, USER, TENANT)
    assert told.tenants == [TENANT, ELSEWHERE]


def sign_out(made: Any, **headers: str) -> Any:
    asked = request("DELETE", headers=headers)
    return session.sign_out(asked, made.accounts), asked


def test_to_sign_out_takes_the_proof_and_is_recorded() -> None:
    made = there()
    cookie = {"cookie": f"zoe-session={COOKIE}"}
    with refusal(Code.CSRF_TOKEN_MISSING):
        sign_out(made, **cookie)
    assert BROWSER.session_id in made.accounts.browsers
    answer, asked = sign_out(made, **cookie, **{"x-csrf-token": "proof"})
    assert answer.status_code == 204
    assert BROWSER.session_id not in made.accounts.browsers
    assert [entry.action for entry in made.accounts.entries] == ["sign_out", "sign_out"]
    assert asked.state.audit_id == 2
    assert 'zoe-session=""' in answer.headers["set-cookie"]
    assert sign_out(made)[0].status_code == 204
    assert len(made.accounts.entries) == 2


def test_another_tenant_is_another_session() -> None:
    made, answer = there(), Response()
    asked = request(headers={"cookie": f"zoe-session={COOKIE}"})
    told = session.choose_tenant(TenantChoice(tenant=ELSEWHERE), caller_of(made, BROWSER, asked), answer)
    assert told.tenant == ELSEWHERE
    assert told.csrf_token
    assert BROWSER.session_id not in made.accounts.browsers
    with refusal(Code.NO_MEMBERSHIP):
        session.choose_tenant(TenantChoice(tenant="nothing"), caller_of(made, BROWSER, asked), Response())
