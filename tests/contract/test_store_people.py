"""What every store promises about people: who they are, their roles, tokens and sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.limits import Quota, set_quota
from tests.support.stores import OpenStore
from zoe_lib.domain.roles import Role, Scope
from zoe_lib.store.base import (
    ConcurrentUpdate,
    NotFound,
    Store,
    StoreUnavailable,
)
from zoe_lib.store.people import (
    AuditEntry,
    EndedAccess,
    Membership,
    Principal,
    Session,
    SignInAttempt,
    Token,
    User,
)

TOKEN = Token("t1", "ada", "red", "hash", frozenset({"read", "submit"}), 1.0)
SESSION = Session("s1", "ada", "red", 1.0, 10.0)
ENTRY = AuditEntry(1.0, "ada", "red", "set_policy", "/api/v1/policy", "req-1", "session")


def test_who_a_provider_knows_keeps_the_name_and_has_the_roles_of_now(open_store: OpenStore) -> None:
    store = open_store()
    for tenant in ("red", "blue", "green"):
        store.add_tenant(tenant)
    mia, managed = User("mia", provider="corp", subject="1"), {"red", "blue"}
    first = {"red": Role.USER, "blue": Role.OPERATOR, "not there": Role.ADMIN}
    assert store.adopt(mia, first, managed | {"not there"}) == mia
    store.ensure_member("mia", "green", "viewer")
    renamed = replace(mia, name="mia2")
    assert open_store().adopt(renamed, {"red": Role.VIEWER}, managed) == mia
    assert {m.tenant: m.role for m in store.memberships(user="mia")} == {"green": Role.VIEWER, "red": Role.VIEWER}
    assert [user.name for user in store.users()] == ["mia"]
    store.add_user(User("ben"))
    for other in (User("ben", provider="corp", subject="2"), User("mia", provider="other", subject="1")):
        with pytest.raises(ConcurrentUpdate):
            store.adopt(other, {"red": Role.USER}, managed)
    assert store.user("ben") == User("ben")


def test_what_a_provider_changes_is_written_down_with_it(open_store: OpenStore) -> None:
    store = open_store()
    for tenant in ("red", "blue"):
        store.add_tenant(tenant)
    mia, managed = User("mia", provider="corp", subject="1"), {"red", "blue"}
    entry = replace(ENTRY, action="", tenant="", by="corp", status=200)

    def written(name: str, roles: dict[str, Role]) -> list[tuple[str, str, str]]:
        known = len(store.audit(None, 99))
        store.adopt(replace(mia, name=name), roles, managed, entry)
        new = store.audit(None, 99)[: len(store.audit(None, 99)) - known]
        assert {(one.by, one.status, one.target) for one in new} <= {("corp", 200, ENTRY.target)}
        return [(one.user, one.action, one.tenant) for one in reversed(new)]

    both = {"red": Role.USER, "blue": Role.USER}
    assert written("mia", both) == [("mia", "add_user", ""), ("mia", "set_role", "blue"), ("mia", "set_role", "red")]
    assert written("mia2", both) == []
    assert written("mia", {"red": Role.VIEWER}) == [("mia", "remove_member", "blue"), ("mia", "set_role", "red")]
    with pytest.raises(ConcurrentUpdate):
        store.adopt(User("mia", provider="other", subject="1"), both, managed, entry)
    assert written("mia", {"red": Role.VIEWER}) == []


def test_a_sign_in_is_taken_once_and_in_time(open_store: OpenStore) -> None:
    store = open_store()
    attempts = [SignInAttempt(f"s{n}", "b", "corp", "nonce", "verifier", "/", 10.0 + n) for n in range(3)]
    for attempt in attempts:
        store.add_sign_in(attempt)
    assert open_store().take_sign_in("s1", 1.0) == attempts[1]
    assert store.take_sign_in("s1", 1.0) is None
    assert store.take_sign_in("s0", 10.0) is None
    store.prune_people(12.0)
    assert store.take_sign_in("s2", 1.0) is None


def test_users_have_passwords_and_roles(open_store: OpenStore) -> None:
    store = open_store()
    store.add_user(User("bob", "hash"))
    store.ensure_member("ada", "red", "user")
    store.ensure_member("bob", "red", "viewer")
    store.ensure_member("bob", "blue", "operator")
    assert list(open_store().users()) == [User("ada"), User("bob", "hash")]
    with pytest.raises(ConcurrentUpdate):
        store.add_user(User("ada"))
    store.set_password("ada", "another")
    assert open_store().user("ada") == User("ada", "another")
    blue, red = Membership("bob", "blue", Role.OPERATOR), Membership("bob", "red", Role.VIEWER)
    assert list(store.memberships(user="bob")) == [blue, red]
    assert list(store.memberships(tenant="red")) == [Membership("ada", "red", Role.USER), red]
    assert list(store.memberships("nobody")) == []
    store.remove_member("bob", "red")
    assert list(open_store().memberships()) == [blue, Membership("ada", "red", Role.USER)]


@pytest.mark.parametrize("unknown", ["nobody", "no\x00body"])
def test_who_is_not_there_is_not_found(any_store: Store, unknown: str) -> None:
    any_store.ensure_member("ada", "red", "user")
    for call in (
        lambda: any_store.user(unknown),
        lambda: any_store.set_password(unknown, "hash"),
        lambda: any_store.set_disabled(unknown, True),
        lambda: any_store.remove_member("ada", unknown),
        lambda: any_store.add_session(replace(SESSION, tenant="blue")),
    ):
        with pytest.raises(NotFound):
            call()
    assert list(any_store.memberships(unknown)) == list(any_store.audit(None, 10, unknown)) == []


def test_a_role_bounds_what_a_token_may(any_store: Store) -> None:
    any_store.ensure_member("ada", "red", "user")
    any_store.add_token(TOKEN)
    any_store.ensure_member("ada", "red", "viewer")
    found = any_store.principal("t1", 0.0)
    assert found == (Principal("ada", "red", Role.VIEWER, frozenset({Scope.READ}), "t1"), "hash")


def test_a_session_is_its_roles_until_it_is_over(open_store: OpenStore) -> None:
    store = open_store()
    store.ensure_member("ada", "red", "operator")
    store.add_session(SESSION)
    scopes = frozenset({Scope.READ, Scope.SUBMIT, Scope.OPERATE})
    assert open_store().session("s1", 9.9) == Principal("ada", "red", Role.OPERATOR, scopes, session_id="s1")
    assert store.session("s1", 10.0) is None
    assert store.session("unknown", 0.0) is None
    open_store().end_session("s1")
    store.end_session("s1")
    assert store.session("s1", 0.0) is None


def test_sessions_are_found_together_with_what_proves_them(any_store: Store) -> None:
    any_store.ensure_member("ada", "red", "user")
    any_store.ensure_member("bob", "red", "viewer")
    any_store.add_session(replace(SESSION, proof_hash="p1"))
    any_store.add_session(replace(SESSION, id="s2", expires_at_s=5.0))
    any_store.add_session(replace(SESSION, id="s3", user="bob"))
    wanted = ["s3", "unknown", "s1", "s2", "s1"]
    found = any_store.sessions_among(wanted, 4.0)
    assert {one: (who.user, who.session_id, proof) for one, (who, proof) in found.items()} == {
        "s1": ("ada", "s1", "p1"),
        "s2": ("ada", "s2", None),
        "s3": ("bob", "s3", None),
    }
    assert all(any_store.session(one, 4.0) == who for one, (who, _) in found.items())
    assert set(any_store.sessions_among(wanted, 5.0)) == {"s1", "s3"}
    any_store.set_disabled("bob", True)
    assert set(any_store.sessions_among(wanted, 5.0)) == {"s1"}
    assert any_store.sessions_among([], 4.0) == {}
    assert "p1" not in repr(replace(SESSION, proof_hash="p1"))


def test_disabled_is_out_at_once_and_new_passwords_end_sessions(any_store: Store) -> None:
    any_store.ensure_member("ada", "red", "admin")
    any_store.add_token(TOKEN)
    any_store.add_session(SESSION)
    any_store.set_disabled("ada", True)
    assert any_store.user("ada").disabled
    assert any_store.principal("t1", 0.0) is any_store.session("s1", 0.0) is None
    any_store.set_disabled("ada", False)
    assert any_store.principal("t1", 0.0) is not None
    assert any_store.session("s1", 0.0) is None
    any_store.add_session(SESSION)
    any_store.set_password("ada", "hash")
    assert any_store.session("s1", 0.0) is None


def test_tokens_end_with_the_token_that_made_them(any_store: Store) -> None:
    any_store.ensure_member("ada", "red", "user")
    for number, maker in enumerate([None, "0", "1", "0", None]):
        any_store.add_token(replace(TOKEN, id=str(number), made_by=maker))
    with pytest.raises(NotFound):
        any_store.add_token(replace(TOKEN, id="x", made_by="never made"))
    any_store.revoke_token("0")
    assert [token.id for token in any_store.tokens()] == ["4"]
    with pytest.raises(NotFound):
        any_store.add_token(replace(TOKEN, id="x", made_by="0"))


def test_all_tokens_and_sessions_of_a_user_end_at_once(any_store: Store) -> None:
    for user in ("ada", "bob"):
        any_store.ensure_member(user, "red", "user")
        any_store.ensure_member(user, "blue", "user")
        any_store.add_token(replace(TOKEN, id=f"{user}-1", user=user))
        any_store.add_token(replace(TOKEN, id=f"{user}-2", user=user, tenant="blue", made_by=f"{user}-1"))
        any_store.add_session(Session(f"s-{user}", user, "blue", 1.0, 1e12))
    assert any_store.end_access("ada") == EndedAccess(2, 1)
    assert {token.user for token in any_store.tokens()} == {"bob"}
    assert any_store.session("s-ada", 1.0) is None
    assert any_store.session("s-bob", 1.0) is not None
    assert any_store.end_access("ada") == EndedAccess(0, 0)
    with pytest.raises(NotFound):
        any_store.end_access("nobody")


def test_tokens_and_sessions_go_with_the_membership(any_store: Store) -> None:
    any_store.ensure_member("ada", "red", "user")
    any_store.ensure_member("ada", "blue", "user")
    any_store.add_token(TOKEN)
    any_store.add_token(replace(TOKEN, id="t2", tenant="blue"))
    any_store.add_session(SESSION)
    any_store.remove_member("ada", "red")
    assert [token.id for token in any_store.tokens()] == ["t2"]
    assert any_store.session("s1", 0.0) is None


CALLS: list[Callable[[Store], object]] = [
    lambda store: store.users(),
    lambda store: store.user("ada"),
    lambda store: store.memberships(),
    lambda store: store.add_user(User("ada")),
    lambda store: store.set_password("ada", None),
    lambda store: store.set_disabled("ada", True),
    lambda store: store.add_tenant("red"),
    lambda store: set_quota(store, "red", Quota(1)),
    lambda store: store.remove_member("ada", "red"),
    lambda store: store.add_session(SESSION),
    lambda store: store.session("s1", 0.0),
    lambda store: store.sessions_among(["s1"], 0.0),
    lambda store: store.end_session("s1"),
    lambda store: store.add_failure("a", 1.0),
    lambda store: store.take_guess(["a"], {"a": (0.0, 1)}, 1.0),
    lambda store: store.give_back_guess(["a"], 1.0),
    lambda store: store.failures(["a"], 1.0),
    lambda store: store.add_audit(ENTRY),
    lambda store: store.end_audit(1, 200),
    lambda store: store.audit(None, 1),
]


def test_without_a_database_every_call_says_so(unreachable_store: Store) -> None:
    for call in CALLS:
        with pytest.raises(StoreUnavailable):
            call(unreachable_store)
