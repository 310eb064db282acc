"""Tokens: never more than the token or session that makes them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.plain_api import PEER, TENANT, USER, admin, caller_of, person, refusal, services
from zoe_api.http.problems.codes import Code
from zoe_api.people import accounts as people
from zoe_client.wire import TokenRequest
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal, Token
from zoe_lib.tokens.api_tokens import TokenText


def there(expires_at_s: float | None = None) -> Any:
    made = services(session_token_lifetime_s_max=1000.0)
    for user, name in ((USER, "mine"), (USER, "other"), (PEER, "theirs")):
        end_s = expires_at_s if name == "mine" else 1.0
        made.accounts.add_token(Token(name, user, TENANT, "hash", frozenset({"read", "submit"}), 0.0, end_s))
    return made


BY_TOKEN, BY_SESSION = person(token_id="mine"), person(session_id="s")


def made(principal: Principal, made_in: Any = None, **body: Any) -> Any:
    return people.add_token(TokenRequest(**body), caller_of(made_in or there(), principal))


def test_the_client_sees_itself() -> None:
    told = people.get_me(person(scopes=frozenset({"read"})))
    assert (told.user, told.tenant, told.role, told.admin, told.scopes) == (USER, TENANT, "user", False, ["read"])
    assert people.get_me(admin()).admin
    assert people.get_me(admin()).scopes == sorted(Scope)


def test_users_list_their_own_tokens() -> None:
    assert [token.id for token in people.list_tokens(BY_TOKEN, there().accounts).tokens] == ["mine", "other"]


def test_a_token_is_of_its_maker_and_shown_once() -> None:
    found = there()
    told = made(BY_TOKEN, found, note="n")
    stored = found.accounts.stored_tokens[told.id]
    text = TokenText.read(told.secret)
    assert text is not None
    assert (text.id, text.secret_hash) == (stored.id, stored.secret_hash)
    assert (stored.user, stored.tenant, stored.made_by, stored.note) == (USER, TENANT, "mine", "n")
    assert stored.scopes == {"read", "submit"}
    assert abs(stored.created_at_s - time.time()) < 60
    assert found.accounts.stored_tokens[made(BY_SESSION, found).id].made_by is None


def test_a_token_has_no_scope_that_its_maker_lacks() -> None:
    assert made(BY_TOKEN, scopes=["read"]).scopes == ["read"]
    with refusal(Code.SCOPE_MISSING) as found:
        made(BY_TOKEN, scopes=["read", "operate", "admin"])
    assert found.problem.detail == "the token used lacks: admin, operate"


@pytest.mark.parametrize(
    ("principal", "own_s", "lifetime_s", "ends_in_s"),
    [
        (BY_TOKEN, None, None, None),
        (BY_TOKEN, None, 60.0, 60.0),
        (BY_TOKEN, 50.0, None, 50.0),
        (BY_TOKEN, 50.0, 60.0, 50.0),
        (BY_TOKEN, 50.0, 40.0, 40.0),
        (BY_SESSION, None, None, 1000.0),
        (BY_SESSION, None, 999.0, 999.0),
        (BY_SESSION, None, 1001.0, 1000.0),
    ],
)
def test_a_token_ends_with_its_maker_and_one_of_a_session_always(
    principal: Principal, own_s: float | None, lifetime_s: float | None, ends_in_s: float | None
) -> None:
    now_s = time.time()
    found = there(None if own_s is None else now_s + own_s)
    end_s = people._end_of(lifetime_s, now_s, caller_of(found, principal))
    assert end_s == (None if ends_in_s is None else pytest.approx(now_s + ends_in_s))
    told = made(principal, found, lifetime_s=lifetime_s)
    assert (told.expires_at_s is None) is (ends_in_s is None)


def test_users_revoke_their_own_tokens() -> None:
    found = there()
    people.revoke_token("other", BY_TOKEN, found.accounts)
    assert "other" not in found.accounts.stored_tokens
    for token in ("theirs", "nothing"):
        with pytest.raises(NotFound):
            people.revoke_token(token, BY_TOKEN, found.accounts)
    assert "theirs" in found.accounts.stored_tokens


def test_a_token_that_only_reads_revokes_itself_only() -> None:
    reader = person(scopes=frozenset({"read"}), token_id="mine")
    found = there()
    with refusal(Code.SCOPE_MISSING):
        people.revoke_token("other", reader, found.accounts)
    people.revoke_token("mine", reader, found.accounts)
    assert found.accounts.stored_tokens.keys() == {"other", "theirs"}
