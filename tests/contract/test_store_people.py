"""What every store promises about people."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.support.api import in_threads
from tests.support.applications import application, execution
from zoe_lib.domain import events as ev
from zoe_lib.domain.execution import Cause, Execution, Outcome
from zoe_lib.domain.roles import Role, Scope
from zoe_lib.store.base import (
    ConcurrentUpdate,
    IdempotencyConflict,
    NotFound,
    QuotaExceeded,
    Store,
    StoreUnavailable,
    TimeLimitTooLong,
)
from zoe_lib.store.people import (
    AppAccess,
    AuditEntry,
    EndedAccess,
    Membership,
    Principal,
    Quota,
    Session,
    SignInAttempt,
    Tenant,
    Token,
    User,
)

OpenStore = Callable[[], Store]
TOKEN = Token("t1", "ada", "red", "hash", frozenset({"read", "submit"}), 1.0)
SESSION = Session("s1", "ada", "red", 1.0, 10.0)
ENTRY = AuditEntry(1.0, "ada", "red", "set_policy", "/api/v1/policy", "req-1", "session")


def job(number: int, tenant: str = "red", user: str = "ada") -> Execution:
    return replace(execution(number), tenant=tenant, user=user)


def limited(number: int, time_limit_s: float | None, tenant: str = "red") -> Execution:
    return replace(job(number, tenant), application=application(time_limit_s=time_limit_s))


def end(store: Store, number: int) -> None:
    refused = ev.Refused(at_s=9.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    store.append(execution(number).id, [refused], 1, None)


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
        lambda: any_store.set_quota(unknown, Quota(1)),
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


# -- quotas ------------------------------------------------------------------------------------------------------------
def test_a_quota_counts_what_waits_and_runs(open_store: OpenStore) -> None:
    store = open_store()
    store.add_tenant("red")
    with pytest.raises(ConcurrentUpdate):
        store.add_tenant("red")
    store.set_quota("red", Quota(2))
    assert list(open_store().tenants()) == [Tenant("red", Quota(2))]
    for number in (1, 2):
        store.submit(job(number), "request")
    with pytest.raises(QuotaExceeded, match="red may have 2"):
        open_store().submit(job(3), "request", "key")
    store.submit(job(4, "blue"), "request")
    end(store, 1)
    assert open_store().submit(job(3), "request", "key").version == 1
    store.set_quota("red", Quota())
    store.submit(job(5), "request")


def test_a_quota_of_users_counts_each_of_them(open_store: OpenStore) -> None:
    store = open_store()
    store.add_tenant("red")
    store.set_quota("red", Quota(3, 1))
    assert list(open_store().tenants()) == [Tenant("red", Quota(3, 1))]
    store.submit(job(1), "request")
    with pytest.raises(QuotaExceeded, match="ada in red may have 1"):
        open_store().submit(job(2), "request")
    for number, user in ((3, "bob"), (4, "carl")):
        store.submit(job(number, user=user), "request")
    with pytest.raises(QuotaExceeded, match="red may have 3"):
        store.submit(job(5, user="dora"), "request")
    store.submit(job(6, "blue"), "request")
    end(store, 1)
    assert open_store().submit(job(2), "request").version == 1


def test_what_was_accepted_is_not_refused_when_it_is_repeated(open_store: OpenStore) -> None:
    store = open_store()
    store.add_tenant("red")
    store.set_quota("red", Quota(1))
    stored = store.submit(job(1), "request", "key", "same")
    assert open_store().submit(job(2), "request", "key", "same") == stored
    assert store.submit(job(1), "request") == stored
    with pytest.raises(QuotaExceeded):
        store.submit(job(2), "request", "other key")


def test_of_those_that_come_together_no_more_than_the_quota_pass(open_store: OpenStore) -> None:
    handles = [open_store() for _ in range(4)]
    handles[0].add_tenant("red")
    handles[0].set_quota("red", Quota(3))

    def passes(number: int) -> bool:
        try:
            handles[number % len(handles)].submit(job(number), "request", f"key {number}")
        except QuotaExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(passes, range(40))) == 3
    assert len(handles[0].active()) == 3


def test_a_quota_gives_the_longest_time_limit_and_refuses_a_longer_one(open_store: OpenStore) -> None:
    store = open_store()
    store.add_tenant("red")
    before = store.submit(limited(1, None), "request")
    store.set_quota("red", Quota(time_limit_s_max=7200.0))
    assert list(open_store().tenants()) == [Tenant("red", Quota(None, None, 7200.0))]
    given = store.submit(replace(limited(2, None), notes=("a note",)), "request")
    assert given.application.time_limit_s == 7200.0
    told = "it asks for no time limit: it gets the longest that red may have, 7200 s (2 h)"
    assert given.notes == ("a note", told)
    assert open_store().execution(given.id) == given
    for number, asked_s in ((3, 7200.0), (4, 1.5)):
        asked = store.submit(limited(number, asked_s), "request")
        assert (asked.application.time_limit_s, asked.notes) == (asked_s, ())
    with pytest.raises(TimeLimitTooLong, match=r"asks for 9000 s \(2.5 h\), and red may have 7200 s \(2 h\) at most"):
        open_store().submit(limited(5, 9000.0), "request", "key")
    assert store.submit(limited(6, 9000.0, "blue"), "request").notes == ()
    assert open_store().execution(before.id) == before
    store.set_quota("red", Quota())
    assert store.submit(limited(5, 9000.0), "request", "key").application.time_limit_s == 9000.0
    assert open_store().execution(given.id) == given


def test_a_time_limit_that_is_too_long_is_refused_before_anything_is_counted(any_store: Store) -> None:
    any_store.add_tenant("red")
    any_store.set_quota("red", Quota(0, None, 60.0))
    with pytest.raises(TimeLimitTooLong):
        any_store.submit(limited(1, 61.0), "request")
    with pytest.raises(QuotaExceeded):
        any_store.submit(limited(1, 60.0), "request")


def test_what_has_its_time_limit_keeps_it_when_it_is_repeated(open_store: OpenStore) -> None:
    store = open_store()
    store.add_tenant("red")
    store.set_quota("red", Quota(time_limit_s_max=120.0))
    given = store.submit(limited(1, None), "request", "key", "same")
    asked = store.submit(limited(2, 120.0), "request")
    for longest_s in (60.0, 240.0, None):
        store.set_quota("red", Quota(time_limit_s_max=longest_s))
        assert open_store().submit(limited(3, None), "request", "key", "same") == given
        assert store.submit(limited(1, None), "request") == given
        assert store.submit(limited(2, 120.0), "request") == asked
    with pytest.raises(ConcurrentUpdate):
        store.submit(limited(2, 90.0), "request")


def test_no_execution_has_another_time_limit_than_a_quota_of_its_time(open_store: OpenStore) -> None:
    handles = [open_store() for _ in range(4)]
    handles[0].add_tenant("red")
    handles[0].set_quota("red", Quota(time_limit_s_max=60.0))

    def change(number: int) -> None:
        handles[number % len(handles)].set_quota("red", Quota(time_limit_s_max=(60.0, 120.0)[number % 2]))

    def submit(number: int) -> Execution | None:
        try:
            return handles[number % len(handles)].submit(limited(number, (None, 120.0, 180.0)[number % 3]), "request")
        except TimeLimitTooLong:
            return None

    with ThreadPoolExecutor(8) as pool:
        changes = pool.map(change, range(20))
        stored = [one for one in pool.map(submit, range(1, 61)) if one is not None]
        assert len(list(changes)) == 20
    assert {one.application.time_limit_s for one in stored} <= {60.0, 120.0}
    assert {int(one.id[-4:]) % 3 for one in stored} <= {0, 1}
    assert len([one for one in stored if one.notes]) == 20
    assert {one.id: one for one in handles[0].active()} == {one.id: one for one in stored}


# -- signing in, and the audit log -------------------------------------------------------------------------------------
def test_a_ticket_enters_once_and_its_access_ends_with_its_session(open_store: OpenStore) -> None:
    store = open_store()
    store.ensure_member("ada", "red", "user")
    store.add_session(SESSION)
    ticket = AppAccess("ticket", "ada", "red", "s1", None, "e1", 2, 5.0)
    store.add_app_access(ticket)
    with pytest.raises(NotFound):
        store.add_app_access(replace(ticket, id="other", session_id="unknown"))
    assert store.app_access("ticket", 0.0) is None
    assert store.enter_app("ticket", "late", 5.0, 9.0) is None
    entered = replace(ticket, id="access", entered=True, expires_at_s=9.0)
    assert open_store().enter_app("ticket", "access", 4.9, 9.0) == entered
    assert store.enter_app("ticket", "again", 4.9, 9.0) is None
    assert open_store().app_access("access", 8.9) == entered
    assert store.app_access("access", 9.0) is None
    store.ensure_member("ada", "red", "viewer")
    assert store.app_access("access", 0.0) is None
    store.ensure_member("ada", "red", "user")
    store.end_session("s1")
    assert store.app_access("access", 0.0) is None


def test_accesses_are_sieved_by_their_port(any_store: Store) -> None:
    any_store.ensure_member("ada", "red", "user")
    any_store.add_session(SESSION)
    for name, execution_id, number in (("a", "e1", 0), ("b", "e1", 1), ("c", "e2", 0), ("d", "e1", 0)):
        any_store.add_app_access(AppAccess(name, "ada", "red", "s1", None, execution_id, number, 5.0))
    assert set(any_store.app_accesses_among(["d", "a", "b", "c", "unknown", "a"], "e1", 0)) == {"a", "d"}
    assert set(any_store.app_accesses_among([], "e1", 0)) == set()


def test_failures_are_counted_by_key_and_time(any_store: Store) -> None:
    for key, at_s in (("a", 1.0), ("a", 2.0), ("b", 2.0), ("c", 2.0)):
        any_store.add_failure(key, at_s)
    assert any_store.failures(["a", "b", "x"], 2.0) == {"a": 1, "b": 1}
    assert any_store.failures(["a"], 0.0) == {"a": 2}


def test_a_guess_is_counted_under_all_keys_or_none(any_store: Store) -> None:
    limits = {"a": (1.0, 2), "b": (1.0, 1)}
    assert any_store.take_guess(["a", "b"], limits, 0.5) is None  # before the time from which they count
    assert any_store.take_guess(["a", "b", "c"], limits, 2.0) is None
    assert any_store.take_guess(["a", "b", "c"], limits, 3.0) == "b"
    assert any_store.failures(["a", "b", "c"], 0.0) == {"a": 2, "b": 2, "c": 1}
    any_store.give_back_guess(["a", "b", "c"], 2.0)
    assert any_store.failures(["a", "b", "c"], 0.0) == {"a": 1, "b": 1}


def test_guesses_at_the_same_moment_do_not_take_the_same_place(open_store: OpenStore) -> None:
    stores = [open_store(), open_store()]
    told = in_threads(24, lambda n: stores[n % 2].take_guess(["a", "b"], {"a": (0.0, 10)}, 1.0 + n))
    assert (told.count(None), told.count("a")) == (10, 14)
    assert stores[0].failures(["a", "b"], 0.0) == {"a": 10, "b": 10}


def test_the_audit_log_is_read_from_its_end(open_store: OpenStore) -> None:
    store = open_store()
    first, second = store.add_audit(ENTRY), store.add_audit(replace(ENTRY, user="bob"))
    third = store.add_audit(replace(ENTRY, by="t1"))
    store.end_audit(first, 200)
    assert [(e.id, e.status) for e in open_store().audit(None, 10)] == [(third, None), (second, None), (first, 200)]
    assert list(store.audit(third, 1)) == [replace(ENTRY, user="bob", id=second)]
    assert [e.id for e in store.audit(None, 10, "ada")] == [third, first]


def test_a_submissions_entry_is_kept_with_it_and_not_without(any_store: Store) -> None:
    """Also of a repeated one, which changes nothing but is answered as the first."""
    entry = replace(ENTRY, action="submit_execution", status=201)
    any_store.ensure_member("ada", "red", "user")

    def kept() -> list[str]:
        return [one.request_id for one in any_store.audit(None, 10)]

    any_store.submit(job(1), "r1", "key", "print", replace(entry, request_id="r1"))
    any_store.submit(job(2), "r2", "key", "print", replace(entry, request_id="r2"))
    any_store.submit(job(3), "r3", audit=replace(entry, request_id="r3"))
    assert kept() == ["r3", "r2", "r1"]
    assert list(any_store.audit(None, 1)) == [replace(entry, request_id="r3", id=any_store.audit(None, 1)[0].id)]
    with pytest.raises(IdempotencyConflict):
        any_store.submit(job(4), "r4", "key", "another", replace(entry, request_id="r4"))
    any_store.set_quota("red", Quota(3))
    any_store.submit(job(5), "r5", audit=replace(entry, request_id="r5"))
    with pytest.raises(QuotaExceeded):
        any_store.submit(job(6), "r6", audit=replace(entry, request_id="r6"))
    any_store.submit(job(7), "r7", "key", "print", replace(entry, request_id="r7"))
    assert kept() == ["r7", "r5", "r3", "r2", "r1"]


def test_what_is_too_old_of_people_goes(any_store: Store) -> None:
    any_store.ensure_member("ada", "red", "user")
    any_store.add_session(SESSION)
    any_store.add_failure("a", 1.0)
    any_store.add_audit(ENTRY)
    any_store.prune(9.0)
    assert any_store.session("s1", 9.0) is not None
    assert any_store.failures(["a"], 0.0)
    any_store.prune(1e9)
    assert any_store.session("s1", 0.0) is None
    assert not any_store.failures(["a"], 0.0)
    assert not any_store.audit(None, 10)


CALLS: list[Callable[[Store], object]] = [
    lambda store: store.users(),
    lambda store: store.user("ada"),
    lambda store: store.memberships(),
    lambda store: store.add_user(User("ada")),
    lambda store: store.set_password("ada", None),
    lambda store: store.set_disabled("ada", True),
    lambda store: store.add_tenant("red"),
    lambda store: store.set_quota("red", Quota(1)),
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
