"""Contract of the store of accounts: users, their roles, tokens, sessions and credentials."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support.stores import NOBODY_LISTENS, OpenAccounts
from zoe_lib.domain.applications.roles import Role, Scope
from zoe_lib.store.errors import ConcurrentUpdate, NotFound, StoreUnavailable, TooManyTokens
from zoe_lib.store.people import (
    AuditEntry,
    EndedAccess,
    Membership,
    Principal,
    SealedCredential,
    Session,
    SignInAttempt,
    Tenant,
    Token,
    User,
)
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.accounts import signing_in
from zoe_lib.store.sql.accounts.waiting import WaitingBounds

TOKEN = Token("t1", "ada", "red", "hash", frozenset({"read", "submit"}), 1.0)
LAB_TOKEN = Token("t1", "ada", "iostack", "hash", frozenset({"read", "admin"}), created_at_s=1.0, expires_at_s=10.0)
SESSION = Session("s1", "ada", "red", 1.0, 10.0)
ENTRY = AuditEntry(1.0, "ada", "red", "set_policy", "/api/v1/policy", "req-1", "session")


def test_adopted_user_keeps_the_name_and_has_the_current_roles(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    for tenant in ("red", "blue", "green"):
        accounts.add_tenant(tenant)
    with pytest.raises(ConcurrentUpdate):
        accounts.add_tenant("red")
    mia, managed = User("mia", provider="corp", subject="1"), {"red", "blue"}
    first = {"red": Role.USER, "blue": Role.OPERATOR, "not there": Role.ADMIN}
    assert accounts.adopt(mia, first, managed | {"not there"}) == mia
    accounts.ensure_member("mia", "green", "viewer")
    renamed = replace(mia, name="mia2")
    assert open_accounts().adopt(renamed, {"red": Role.VIEWER}, managed) == mia
    assert {m.tenant: m.role for m in accounts.memberships(user="mia")} == {
        "green": Role.VIEWER,
        "red": Role.VIEWER,
    }
    assert [user.name for user in accounts.users()] == ["mia"]
    accounts.add_user(User("ben"))
    for other in (User("ben", provider="corp", subject="2"), User("mia", provider="other", subject="1")):
        with pytest.raises(ConcurrentUpdate):
            accounts.adopt(other, {"red": Role.USER}, managed)
    assert accounts.user("ben") == User("ben")


def test_changes_by_a_provider_are_audited(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    for tenant in ("red", "blue"):
        accounts.add_tenant(tenant)
    mia, managed = User("mia", provider="corp", subject="1"), {"red", "blue"}
    entry = replace(ENTRY, action="", tenant="", by="corp", status=200)

    def written(name: str, roles: dict[str, Role]) -> list[tuple[str, str, str]]:
        known = len(accounts.audit(None, 99))
        accounts.adopt(replace(mia, name=name), roles, managed, entry)
        new = accounts.audit(None, 99)[: len(accounts.audit(None, 99)) - known]
        assert {(entry.by, entry.status, entry.target) for entry in new} <= {("corp", 200, ENTRY.target)}
        return [(entry.user, entry.action, entry.tenant) for entry in reversed(new)]

    both = {"red": Role.USER, "blue": Role.USER}
    assert written("mia", both) == [("mia", "add_user", ""), ("mia", "set_role", "blue"), ("mia", "set_role", "red")]
    assert written("mia2", both) == []
    assert written("mia", {"red": Role.VIEWER}) == [("mia", "remove_member", "blue"), ("mia", "set_role", "red")]
    with pytest.raises(ConcurrentUpdate):
        accounts.adopt(User("mia", provider="other", subject="1"), both, managed, entry)
    assert written("mia", {"red": Role.VIEWER}) == []


def test_a_sign_in_is_taken_once_and_in_time(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    attempts = [SignInAttempt(f"s{n}", "b", "corp", "nonce", "verifier", "/", 10.0 + n) for n in range(3)]
    for attempt in attempts:
        accounts.add_sign_in(attempt, [], WaitingBounds(3, 3), 0.0)
    assert open_accounts().take_sign_in("s1", 1.0) == attempts[1]
    assert accounts.take_sign_in("s1", 1.0) is None
    assert accounts.take_sign_in("s0", 10.0) is None
    accounts.prune(12.0)
    assert accounts.take_sign_in("s2", 1.0) is None


def test_users_have_passwords_and_roles(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    accounts.add_user(User("bob", "hash"))
    accounts.ensure_member("ada", "red", "user")
    accounts.ensure_member("bob", "red", "viewer")
    accounts.ensure_member("bob", "blue", "operator")
    assert list(open_accounts().users()) == [User("ada"), User("bob", "hash")]
    with pytest.raises(ConcurrentUpdate):
        accounts.add_user(User("ada"))
    accounts.set_password("ada", "another")
    assert open_accounts().user("ada") == User("ada", "another")
    blue, red = Membership("bob", "blue", Role.OPERATOR), Membership("bob", "red", Role.VIEWER)
    assert list(accounts.memberships(user="bob")) == [blue, red]
    assert list(accounts.memberships(tenant="red")) == [Membership("ada", "red", Role.USER), red]
    assert list(accounts.memberships("nobody")) == []
    accounts.remove_member("bob", "red")
    assert list(open_accounts().memberships()) == [blue, Membership("ada", "red", Role.USER)]


@pytest.mark.parametrize("unknown", ["nobody", "no\x00body"])
def test_unknown_user_is_not_found(accounts: AccountStore, unknown: str) -> None:
    accounts.ensure_member("ada", "red", "user")
    for call in (
        lambda: accounts.user(unknown),
        lambda: accounts.set_password(unknown, "hash"),
        lambda: accounts.set_disabled(unknown, True),
        lambda: accounts.remove_member("ada", unknown),
        lambda: accounts.add_session(replace(SESSION, tenant="blue")),
    ):
        with pytest.raises(NotFound):
            call()
    assert list(accounts.memberships(unknown)) == list(accounts.audit(None, 10, unknown)) == []


def test_a_role_bounds_what_a_token_may(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "red", "user")
    accounts.add_token(TOKEN)
    accounts.ensure_member("ada", "red", "viewer")
    found = accounts.principal("t1", 0.0)
    assert found == (Principal("ada", "red", Role.VIEWER, frozenset({Scope.READ}), "t1"), "hash")


def test_tokens_and_sessions_of_a_user_are_bounded(accounts: AccountStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user could add rows at the rate of the API. Sessions end, the oldest first, so that a sign-in never fails."""
    monkeypatch.setattr(signing_in, "TOKENS_OF_USER_MAX", 2)
    monkeypatch.setattr(signing_in, "SESSIONS_OF_USER_MAX", 2)
    for user in ("ada", "bob"):
        accounts.ensure_member(user, "red", "user")
    accounts.add_token(replace(TOKEN, id="old", expires_at_s=TOKEN.created_at_s))  # it counts no more
    for number in range(2):
        accounts.add_token(replace(TOKEN, id=f"t{number}"))
    with pytest.raises(TooManyTokens, match="ada has 2 tokens"):
        accounts.add_token(replace(TOKEN, id="more"))
    accounts.add_token(replace(TOKEN, id="bobs", user="bob"))
    for number in range(4):
        accounts.add_session(replace(SESSION, id=f"s{number}", created_at_s=float(number)))
    accounts.add_session(replace(SESSION, id="bobs", user="bob"))
    ids = ("s0", "s1", "s2", "s3", "bobs")
    assert sorted(accounts.sessions_among(ids, 0.0)) == ["bobs", "s2", "s3"]


def test_a_session_is_its_roles_until_it_is_over(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    accounts.ensure_member("ada", "red", "operator")
    accounts.add_session(SESSION)
    scopes = frozenset({Scope.READ, Scope.SUBMIT, Scope.OPERATE})
    assert open_accounts().session("s1", 9.9) == Principal("ada", "red", Role.OPERATOR, scopes, session_id="s1")
    assert accounts.session("s1", 10.0) is None
    assert accounts.session("unknown", 0.0) is None
    open_accounts().end_session("s1")
    accounts.end_session("s1")
    assert accounts.session("s1", 0.0) is None


def test_sessions_are_found_together_with_what_proves_them(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "red", "user")
    accounts.ensure_member("bob", "red", "viewer")
    accounts.add_session(replace(SESSION, proof_hash="p1"))
    accounts.add_session(replace(SESSION, id="s2", expires_at_s=5.0))
    accounts.add_session(replace(SESSION, id="s3", user="bob"))
    wanted = ["s3", "unknown", "s1", "s2", "s1"]
    found = accounts.sessions_among(wanted, 4.0)
    assert {text: (who.user, who.session_id, proof) for text, (who, proof) in found.items()} == {
        "s1": ("ada", "s1", "p1"),
        "s2": ("ada", "s2", None),
        "s3": ("bob", "s3", None),
    }
    assert all(accounts.session(text, 4.0) == who for text, (who, _) in found.items())
    assert set(accounts.sessions_among(wanted, 5.0)) == {"s1", "s3"}
    accounts.set_disabled("bob", True)
    assert set(accounts.sessions_among(wanted, 5.0)) == {"s1"}
    assert accounts.sessions_among([], 4.0) == {}
    assert "p1" not in repr(replace(SESSION, proof_hash="p1"))


def test_disabled_is_out_at_once_and_new_passwords_end_sessions(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "red", "admin")
    accounts.add_token(TOKEN)
    accounts.add_session(SESSION)
    accounts.set_disabled("ada", True)
    assert accounts.user("ada").disabled
    assert accounts.principal("t1", 0.0) is accounts.session("s1", 0.0) is None
    accounts.set_disabled("ada", False)
    assert accounts.principal("t1", 0.0) is not None
    assert accounts.session("s1", 0.0) is None
    accounts.add_session(SESSION)
    accounts.set_password("ada", "hash")
    assert accounts.session("s1", 0.0) is None


def test_tokens_end_with_the_token_that_made_them(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "red", "user")
    for number, maker in enumerate([None, "0", "1", "0", None]):
        accounts.add_token(replace(TOKEN, id=str(number), made_by=maker))
    with pytest.raises(NotFound):
        accounts.add_token(replace(TOKEN, id="x", made_by="never made"))
    accounts.revoke_token("0")
    assert [token.id for token in accounts.tokens()] == ["4"]
    with pytest.raises(NotFound):
        accounts.add_token(replace(TOKEN, id="x", made_by="0"))


def test_all_tokens_and_sessions_of_a_user_end_at_once(accounts: AccountStore) -> None:
    for user in ("ada", "bob"):
        accounts.ensure_member(user, "red", "user")
        accounts.ensure_member(user, "blue", "user")
        accounts.add_token(replace(TOKEN, id=f"{user}-1", user=user))
        accounts.add_token(replace(TOKEN, id=f"{user}-2", user=user, tenant="blue", made_by=f"{user}-1"))
        accounts.add_session(Session(f"s-{user}", user, "blue", 1.0, 1e12))
    assert accounts.end_access("ada") == EndedAccess(2, 1)
    assert {token.user for token in accounts.tokens()} == {"bob"}
    assert accounts.session("s-ada", 1.0) is None
    assert accounts.session("s-bob", 1.0) is not None
    assert accounts.end_access("ada") == EndedAccess(0, 0)
    with pytest.raises(NotFound):
        accounts.end_access("nobody")


def test_tokens_and_sessions_go_with_the_membership(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "red", "user")
    accounts.ensure_member("ada", "blue", "user")
    accounts.add_token(TOKEN)
    accounts.add_token(replace(TOKEN, id="t2", tenant="blue"))
    accounts.add_session(SESSION)
    accounts.remove_member("ada", "red")
    assert [token.id for token in accounts.tokens()] == ["t2"]
    assert accounts.session("s1", 0.0) is None


def test_a_token_tells_who_holds_it(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    accounts.ensure_member("ada", "iostack", "user")
    accounts.add_token(LAB_TOKEN)
    expected = (Principal("ada", "iostack", Role.USER, frozenset({Scope.READ}), "t1"), "hash")
    assert open_accounts().principal("t1", 9.9) == expected
    assert accounts.principal("t1", 10.0) is None
    assert accounts.principal("unknown", 0.0) is accounts.principal("\x00", 0.0) is None
    accounts.ensure_member("ada", "iostack", "admin")
    found = accounts.principal("t1", 0.0)
    assert found is not None
    assert found[0].scopes == {Scope.READ, Scope.OPERATE, Scope.ADMIN}


def test_tokens_are_listed_and_revoked(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "iostack", "user")
    accounts.ensure_member("bob", "iostack", "user")
    never_expires = Token("t0", "bob", "iostack", "hash", frozenset(), 5.0, None, "for the cluster")
    accounts.add_token(never_expires)
    accounts.add_token(LAB_TOKEN)
    assert list(accounts.tokens()) == [LAB_TOKEN, never_expires]
    assert list(accounts.tokens("bob")) == [never_expires]
    assert accounts.principal("t0", 1e12) is not None
    accounts.revoke_token("t1")
    assert accounts.principal("t1", 0.0) is None
    for unknown in ("t1", "t\x001"):
        with pytest.raises(NotFound):
            accounts.revoke_token(unknown)


def test_only_members_hold_tokens_and_ids_are_unique(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "other", "user")
    with pytest.raises(NotFound):
        accounts.add_token(LAB_TOKEN)
    accounts.ensure_member("ada", "iostack", "user")
    accounts.add_token(LAB_TOKEN)
    with pytest.raises(ConcurrentUpdate):
        accounts.add_token(replace(LAB_TOKEN, secret_hash="another"))
    assert list(accounts.tenants()) == [Tenant("iostack"), Tenant("other")]


def test_a_credential_is_sealed_otherwise_unless_it_was_changed_meanwhile(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    accounts.ensure_member("ada", "acme", "user")
    kept = SealedCredential("acme", "zoe", "acme:ann", b"old", 1.0, "ada")
    assert not accounts.reseal_storage_credential(kept, b"new")
    accounts.set_storage_credential(kept)
    assert accounts.reseal_storage_credential(kept, b"new")
    assert list(accounts.storage_credentials("acme")) == [replace(kept, sealed=b"new")]
    assert not accounts.reseal_storage_credential(kept, b"late")
    assert list(accounts.storage_credentials("acme")) == [replace(kept, sealed=b"new")]


def test_credentials_are_kept_by_tenant_and_service_replaced_and_removed(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    accounts.ensure_member("ada", "acme", "user")
    accounts.ensure_member("bob", "beta", "user")
    first = SealedCredential("acme", "zoe", "acme:ann", b"\x00\xff", 1.0, "ada")
    other = SealedCredential("acme", "s3a", "AK", b"sealed", 2.0, "root")
    accounts.set_storage_credential(first)
    accounts.set_storage_credential(other)
    assert list(open_accounts().storage_credentials("acme")) == [other, first]
    assert list(accounts.storage_credentials("beta")) == []
    newer = replace(first, login="acme:bea", sealed=b"x", set_at_s=3.0)
    accounts.set_storage_credential(newer)
    assert list(accounts.storage_credentials("acme")) == [other, newer]
    accounts.remove_storage_credential("acme", "zoe")
    assert list(accounts.storage_credentials("acme")) == [other]
    with pytest.raises(NotFound):
        accounts.remove_storage_credential("acme", "zoe")
    with pytest.raises(NotFound):
        accounts.set_storage_credential(replace(first, tenant="nobody"))


CALLS: list[Callable[[AccountStore], object]] = [
    lambda accounts: accounts.ensure_member("ada", "iostack", "user"),
    lambda accounts: accounts.tenants(),
    lambda accounts: accounts.add_token(TOKEN),
    lambda accounts: accounts.revoke_token("t1"),
    lambda accounts: accounts.tokens(),
    lambda accounts: accounts.principal("t1", 1.0),
    lambda accounts: accounts.users(),
    lambda accounts: accounts.user("ada"),
    lambda accounts: accounts.memberships(),
    lambda accounts: accounts.add_user(User("ada")),
    lambda accounts: accounts.set_password("ada", None),
    lambda accounts: accounts.set_disabled("ada", True),
    lambda accounts: accounts.add_tenant("red"),
    lambda accounts: accounts.remove_member("ada", "red"),
    lambda accounts: accounts.add_session(SESSION),
    lambda accounts: accounts.session("s1", 0.0),
    lambda accounts: accounts.sessions_among(["s1"], 0.0),
    lambda accounts: accounts.end_session("s1"),
    lambda accounts: accounts.add_failure("a", 1.0),
    lambda accounts: accounts.take_guess(["a"], {"a": (0.0, 1)}, 1.0),
    lambda accounts: accounts.give_back_guess(["a"], 1.0),
    lambda accounts: accounts.failures(["a"], 1.0),
    lambda accounts: accounts.add_audit(ENTRY),
    lambda accounts: accounts.end_audit(1, 200),
    lambda accounts: accounts.audit(None, 1),
]


def test_without_a_database_every_call_says_so() -> None:
    with closing(PostgresStore(NOBODY_LISTENS)) as store:
        for call in CALLS:
            with pytest.raises(StoreUnavailable):
                call(store.accounts)
