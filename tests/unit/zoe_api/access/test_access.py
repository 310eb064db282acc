"""Authentication, scopes, and audit entries before a change."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from fastapi.security.http import HTTPAuthorizationCredentials

from tests.support.plain_api import (
    REQUEST_ID,
    TENANT,
    USER,
    Accounts,
    caller_of,
    person,
    refusal,
    request,
    run,
    services,
)
from zoe_api.access import access
from zoe_api.http.problems.codes import Code
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import Principal, Session, Token
from zoe_lib.submission.ids import hash_of
from zoe_lib.tokens.api_tokens import TokenText

TEXT = TokenText("0011", "secret")
COOKIE = "a" * 43


def accounts(scopes: frozenset[str] = frozenset({"read", "submit"}), role: str = "user") -> Accounts:
    made = Accounts()
    made.add_member(USER, role=role)
    made.add_token(Token(TEXT.id, USER, TENANT, TEXT.secret_hash, scopes, 0.0))
    made.add_session(Session(hash_of(COOKIE), USER, TENANT, 0.0, time.time() + 60, hash_of("proof")))
    return made


def known(
    method: str,
    route: str,
    made: Accounts | None = None,
    headers: dict[str, str] | None = None,
    token: str | None = str(TEXT),
) -> tuple[Principal, Any, Accounts]:
    there = services()
    there.accounts = made or accounts()
    bounds = ("bounded",) if route == "ask_something" else ()
    asked = request(method, "/api/v1/somewhere", headers or {}, route=route, bounds=bounds, services=there)
    given = None if token is None else HTTPAuthorizationCredentials(scheme="Bearer", credentials=token)
    return run(access.get_principal(asked, given)), asked, there.accounts


@pytest.mark.parametrize(
    ("role", "scopes", "scope", "code"),
    [
        ("viewer", None, Scope.READ, None),
        ("viewer", None, Scope.SUBMIT, Code.ROLE_MISSING),
        ("user", None, Scope.SUBMIT, None),
        ("user", {"read"}, Scope.SUBMIT, Code.SCOPE_MISSING),
        ("user", {"submit"}, Scope.READ, Code.SCOPE_MISSING),
        ("user", {"read", "operate"}, Scope.OPERATE, Code.ROLE_MISSING),
        ("operator", None, Scope.OPERATE, None),
        ("operator", None, Scope.ADMIN, Code.NOT_ADMIN),
        ("admin", {"read"}, Scope.ADMIN, Code.SCOPE_MISSING),
        ("admin", {"admin"}, Scope.ADMIN, None),
    ],
)
def test_both_the_role_and_the_token_have_to_allow_a_scope(
    role: str, scopes: set[str] | None, scope: Scope, code: Code | None
) -> None:
    principal = person(role=role, scopes=None if scopes is None else frozenset(scopes))
    if code is None:
        access.check(principal, scope)
        assert run(access.Requires(scope)(principal)) is principal
        there = services()
        asked = request(services=there)
        assert run(access.RequiresCaller(scope)(asked, principal)) == caller_of(there, principal, asked)
        return
    with refusal(code) as found:
        access.check(principal, scope)
    assert code is Code.NOT_ADMIN or str(scope) in found.problem.detail
    with refusal(code):
        run(access.Requires(scope)(principal))
    with refusal(code):
        run(access.RequiresCaller(scope)(request(), principal))


def test_a_token_is_known_by_its_id_and_its_secret() -> None:
    asker = access.known_by_token(accounts(), str(TEXT))
    assert (asker.principal.user, asker.principal.token_id, asker.proved, asker.terms) == (USER, "0011", True, None)
    assert access.known_by_token(accounts(), str(TEXT), with_terms=True).terms == "terms"


@pytest.mark.parametrize("text", ["", "zoe_0011", "zoe_0011_other", "zoe_0012_secret", "zoo_0011_secret"])
@pytest.mark.parametrize("with_terms", [False, True])
def test_any_other_token_is_refused(text: str, with_terms: bool) -> None:
    with refusal(Code.BAD_TOKEN):
        access.known_by_token(accounts(), text, with_terms)


def test_a_change_is_in_the_audit_log_before_it_is_made() -> None:
    principal, asked, made = known("POST", "cancel_execution")
    (entry,) = made.entries
    assert (entry.user, entry.tenant, entry.action, entry.target) == (USER, TENANT, "cancel_execution", asked.url.path)
    assert (entry.by, entry.request_id, entry.address, entry.status) == ("0011", REQUEST_ID, "192.0.2.7", None)
    assert asked.state.audit_id == 1
    assert (asked.state.user, asked.state.tenant) == (principal.user, principal.tenant)
    assert abs(entry.at_s - time.time()) < 60


@pytest.mark.parametrize("route", ["submit_execution", "submit_array"])
def test_a_submission_writes_its_entry_itself(route: str) -> None:
    _, asked, made = known("POST", route)
    assert made.entries == []
    assert asked.state.audit.action == route
    assert not hasattr(asked.state, "audit_id")


@pytest.mark.parametrize(
    ("method", "route"),
    [
        ("GET", "list_executions"),
        ("HEAD", "look_at_file"),
        ("OPTIONS", "anything"),
        ("POST", "ask_something"),
        ("PATCH", "append_to_upload"),
    ],
)
def test_request_without_a_change_is_not_audited(method: str, route: str) -> None:
    _, asked, made = known(method, route)
    assert made.entries == []
    assert not hasattr(asked.state, "audit")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_cookie_alone_reads_only_and_the_try_to_change_is_recorded(method: str) -> None:
    made = accounts()
    cookie = {"cookie": f"zoe-session={COOKIE}"}
    principal, asked, _ = known("GET", "list_executions", made, cookie, token=None)
    assert principal.session_id == hash_of(COOKIE)
    assert not access.has_proof(asked)
    with refusal(Code.CSRF_TOKEN_MISSING):
        known(method, "cancel_execution", made, cookie, token=None)
    assert [entry.by for entry in made.entries] == ["session"]
    _, asked, _ = known(method, "cancel_execution", made, {**cookie, "x-csrf-token": "proof"}, token=None)
    assert access.has_proof(asked)
    assert len(made.entries) == 2


def test_a_question_by_post_needs_the_proof_as_well() -> None:
    with refusal(Code.CSRF_TOKEN_MISSING):
        known("POST", "ask_something", None, {"cookie": f"zoe-session={COOKIE}"}, token=None)


def test_a_page_that_keeps_the_proof_of_another_session_reads_only_which_session_there_is() -> None:
    wrong = {"cookie": f"zoe-session={COOKIE}", "x-csrf-token": "of another"}
    with refusal(Code.CSRF_TOKEN_MISSING):
        known("GET", "list_executions", None, wrong, token=None)
    assert known("GET", "get_session", None, wrong, token=None)[0].user == USER


def test_terms_are_read_with_the_token_of_a_change_only() -> None:
    assert known("POST", "submit_execution")[1].state.terms == "terms"
    assert known("GET", "list_executions")[1].state.terms is None
    assert access.has_proof(known("GET", "list_executions")[1])


def test_a_token_is_no_session() -> None:
    with refusal(Code.SESSION_NEEDED):
        run(access._signed_in(caller_of(None, person(token_id="0011"))))
    browser = caller_of(None, person(session_id="s"))
    assert run(access._signed_in(browser)) is browser


@pytest.mark.parametrize("by", ["token", "session"])
def test_access_is_confirmed_as_long_as_it_allows_all_that_it_did(by: str) -> None:
    made = accounts()
    if by == "token":
        there = made.principal(TEXT.id, 0.0)
        assert there is not None
        principal = there[0]
    else:
        found = made.session(hash_of(COOKIE), time.time())
        assert found is not None
        principal = found
    assert access.confirm_access(made, principal) is True
    assert access.still_allowed(made, principal)
    assert access.confirm_access(made, replace(principal, scopes=principal.scopes - {Scope.SUBMIT})) is True
    assert access.confirm_access(made, replace(principal, scopes=principal.scopes | {Scope.OPERATE})) is False
    assert access.confirm_access(made, replace(principal, tenant="another")) is False
    made.away = True
    assert access.confirm_access(made, principal) is None
    assert access.still_allowed(made, principal)
    made.away = False
    made.stored_tokens.clear()
    made.browsers.clear()
    assert access.confirm_access(made, principal) is False
    assert not access.still_allowed(made, principal)


def test_an_entry_of_a_look_has_its_own_target_and_status() -> None:
    entry = access.entry(person(session_id="s"), request(path="/here"), "look", "/there", 200)
    assert (entry.target, entry.status, entry.by, entry.action) == ("/there", 200, "session", "look")
