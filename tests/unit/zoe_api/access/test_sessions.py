"""Sessions of browsers: their users, and the proof of a request from our pages."""

from __future__ import annotations

import time
from typing import Any

import pytest
from starlette.responses import Response

from tests.support.plain_api import ELSEWHERE, PEER, TENANT, USER, Accounts, caller_of, refusal, request, services
from zoe_api.access import sessions
from zoe_api.http.problems.codes import Code
from zoe_lib.store.people import Session
from zoe_lib.submission.ids import hash_of

FIRST, SECOND, ENDED = "a" * 43, "b" * 43, "c" * 43


def accounts() -> Accounts:
    """Return accounts in which Ada has a session in each of two tenants, and one that has ended."""
    made = Accounts()
    made.add_member(USER)
    made.add_member(USER, ELSEWHERE, "viewer")
    now_s = time.time()
    for secret, tenant, ends_s in ((FIRST, TENANT, 60), (SECOND, ELSEWHERE, 60), (ENDED, TENANT, -1)):
        proof = hash_of(f"proof of {secret}")
        made.add_session(Session(hash_of(secret), USER, tenant, now_s, now_s + ends_s, proof))
    return made


def asked(*secrets: str, proof: str | None = None) -> Any:
    cookie = "; ".join(f"zoe-session={secret}" for secret in secrets)
    headers = {"cookie": cookie} if secrets else {}
    return request(headers=headers | ({} if proof is None else {"x-csrf-token": proof}))


def test_without_a_proof_the_first_live_session_reads() -> None:
    asker = sessions.find(accounts(), asked(ENDED, SECOND, FIRST))
    assert asker is not None
    assert (asker.principal.tenant, asker.proved, asker.terms) == (ELSEWHERE, False, None)
    assert asker.principal.session_id == hash_of(SECOND)


def test_a_proof_chooses_its_own_session() -> None:
    asker = sessions.find(accounts(), asked(SECOND, FIRST, proof=f"proof of {FIRST}"))
    assert asker is not None
    assert (asker.principal.tenant, asker.proved) == (TENANT, True)
    given = sessions.find(accounts(), asked(FIRST, SECOND, proof="another"), f"proof of {SECOND}")
    assert given is not None
    assert (given.principal.tenant, given.proved) == (ELSEWHERE, True)


@pytest.mark.parametrize("proof", ["", "wrong", f"proof of {SECOND}", f"proof of {ENDED}"])
def test_the_proof_of_another_session_proves_nothing(proof: str) -> None:
    asker = sessions.find(accounts(), asked(FIRST, proof=proof))
    assert asker is not None
    assert not asker.proved


def test_a_session_without_a_stored_proof_only_reads() -> None:
    made = accounts()
    made.add_session(Session(hash_of(FIRST), USER, TENANT, 0, time.time() + 60))
    asker = sessions.find(made, asked(FIRST, proof=""))
    assert asker is not None
    assert not asker.proved


def test_without_a_live_session_nobody_is_found() -> None:
    assert sessions.find(accounts(), asked()) is None
    assert sessions.find(accounts(), asked(ENDED, "d" * 43)) is None


def test_a_browser_hears_whether_its_session_is_over_or_never_began() -> None:
    with refusal(Code.NO_TOKEN) as none:
        sessions.require(accounts(), asked())
    assert none.problem.hint == "Authorization: Bearer zoe_..."
    with refusal(Code.SESSION_OVER):
        sessions.require(accounts(), asked(ENDED))
    assert sessions.require(accounts(), asked(FIRST)).principal.user == USER


def test_a_change_needs_the_proof_and_a_read_only_none_that_is_wrong() -> None:
    proved, unproved = (
        sessions.require(accounts(), asked(FIRST, proof=proof)) for proof in (f"proof of {FIRST}", "wrong")
    )
    sessions.check_proved(proved)
    with refusal(Code.CSRF_TOKEN_MISSING) as missing:
        sessions.check_proved(unproved)
    assert "X-CSRF-Token" in missing.problem.hint
    sessions.check_session_of_proof(unproved, asked(FIRST))
    sessions.check_session_of_proof(unproved, asked(FIRST, proof=""))
    sessions.check_session_of_proof(proved, asked(FIRST, proof=f"proof of {FIRST}"))
    with refusal(Code.CSRF_TOKEN_MISSING):
        sessions.check_session_of_proof(unproved, asked(FIRST, proof="wrong"))


def entered(made: Accounts, tenant: str | None, *secrets: str, user: str = USER) -> tuple[str, Any, Response]:
    there = services(session_lifetime_s=100.0)
    there.accounts = made
    answer = Response()
    proof, principal = sessions.enter(there, asked(*secrets), answer, user, tenant)
    return proof, principal, answer


@pytest.mark.parametrize(
    ("tenant", "chosen", "role"),
    [(None, TENANT, "user"), (TENANT, TENANT, "user"), (ELSEWHERE, ELSEWHERE, "viewer")],
)
def test_a_user_enters_the_chosen_tenant_or_the_first(tenant: str | None, chosen: str, role: str) -> None:
    made = accounts()
    before_s = time.time()
    proof, principal, answer = entered(made, tenant)
    assert (principal.user, principal.tenant, principal.role) == (USER, chosen, role)
    secret = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert "Max-Age=100" in answer.headers["set-cookie"]
    session = made.browsers[hash_of(secret)]
    assert (session.user, session.tenant, session.proof_hash) == (USER, chosen, hash_of(proof))
    assert before_s <= session.created_at_s <= time.time()
    assert session.expires_at_s == session.created_at_s + 100
    asker = sessions.find(made, asked(secret, proof=proof))
    assert asker is not None
    assert asker.proved


@pytest.mark.parametrize(("user", "tenant"), [(USER, "nowhere"), ("eve", None)])
def test_user_without_membership_is_refused(user: str, tenant: str | None) -> None:
    made = accounts()
    with refusal(Code.NO_MEMBERSHIP):
        entered(made, tenant, FIRST, user=user)
    assert hash_of(FIRST) in made.browsers


def test_to_enter_ends_the_sessions_of_this_browser_and_names_others_than_the_user() -> None:
    made, there = accounts(), services(session_lifetime_s=100.0)
    made.add_member(PEER)
    there.accounts = made
    for user, secret, changes in ((PEER, FIRST, {"ended_sessions_of": [USER, None]}), (USER, SECOND, None)):
        asking = asked(secret)
        sessions.enter(there, asking, Response(), user, None)
        assert hash_of(secret) not in made.browsers
        assert getattr(asking.state, "audit_changes", None) == changes
    assert hash_of(ENDED) in made.browsers


def test_a_session_ends_no_later_than_it_may_and_another_tenant_does_not_make_it_longer() -> None:
    made, there = accounts(), services(session_lifetime_s=100.0)
    there.accounts = made
    ends_s = time.time() + 30
    answer = Response()
    _, principal = sessions.enter(there, asked(), answer, USER, TENANT, ends_s)
    secret = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert made.browsers[hash_of(secret)].expires_at_s == ends_s
    assert "Max-Age=30" in answer.headers["set-cookie"]
    known = sessions.require(made, asked(secret)).principal
    switched = Response()
    sessions.switch(caller_of(there, known, asked(secret)), switched, ELSEWHERE)
    after = switched.headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert made.browsers[hash_of(after)].expires_at_s == ends_s
    assert principal.tenant == TENANT


def test_to_sign_out_ends_the_session_and_removes_the_cookie() -> None:
    made, answer = accounts(), Response()
    sessions.end(made, asked(FIRST), answer, sessions.find(made, asked(FIRST)))
    assert hash_of(FIRST) not in made.browsers
    assert 'zoe-session="";' in answer.headers["set-cookie"]
    answer = Response()
    sessions.end(made, asked(), answer, None)
    assert 'zoe-session="";' in answer.headers["set-cookie"]
