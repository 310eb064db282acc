"""Contract of the store of accounts on accesses, failed sign-ins, and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support.api import in_threads
from tests.support.applications import execution
from tests.support.limits import Quota, set_quota
from tests.support.stores import OpenAccounts
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.errors import IdempotencyConflict, NotFound, QuotaExceeded, TooManyWaiting
from zoe_lib.store.people import (
    AppAccess,
    AuditEntry,
    Session,
    SignInAttempt,
    User,
)
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.accounts.waiting import WaitingBounds

SESSION = Session("s1", "ada", "red", 1.0, 10.0)
ENTRY = AuditEntry(1.0, "ada", "red", "set_policy", "/api/v1/policy", "req-1", "session")


def job(number: int, tenant: str = "red", user: str = "ada") -> Execution:
    return replace(execution(number), tenant=tenant, user=user)


def test_a_ticket_enters_once_and_its_access_ends_with_its_session(
    open_accounts: OpenAccounts, postgres_url: str
) -> None:
    accounts = open_accounts()
    accounts.ensure_member("ada", "red", "user")
    accounts.add_session(SESSION)
    with closing(PostgresStore(postgres_url)) as store:
        execution_id = store.submit(job(1), "request").id
    ticket = AppAccess("ticket", "ada", "red", "s1", None, execution_id, 2, 5.0)
    accounts.add_app_access(ticket)
    with pytest.raises(NotFound):
        accounts.add_app_access(replace(ticket, id="other", session_id="unknown"))
    assert accounts.app_access("ticket", 0.0) is None
    assert accounts.enter_app("ticket", "late", 5.0, 9.0) is None
    entered = replace(ticket, id="access", entered=True, expires_at_s=9.0)
    assert open_accounts().enter_app("ticket", "access", 4.9, 9.0) == entered
    assert accounts.enter_app("ticket", "again", 4.9, 9.0) is None
    assert open_accounts().app_access("access", 8.9) == entered
    assert accounts.app_access("access", 9.0) is None
    accounts.ensure_member("ada", "red", "viewer")
    assert accounts.app_access("access", 0.0) is None
    accounts.ensure_member("ada", "red", "user")
    accounts.end_session("s1")
    assert accounts.app_access("access", 0.0) is None


def test_accesses_are_sieved_by_their_port(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "red", "user")
    accounts.add_session(SESSION)
    for name, execution_id, number in (("a", "e1", 0), ("b", "e1", 1), ("c", "e2", 0), ("d", "e1", 0)):
        accounts.add_app_access(AppAccess(name, "ada", "red", "s1", None, execution_id, number, 5.0))
    assert set(accounts.app_accesses_among(["d", "a", "b", "c", "unknown", "a"], "e1", 0)) == {"a", "d"}
    assert set(accounts.app_accesses_among([], "e1", 0)) == set()


def begin(accounts: AccountStore, name: str, network: str, now_s: float = 0.0, replaced: Sequence[str] = ()) -> None:
    attempt = SignInAttempt(name, f"browser of {name}", "corp", "n", "v", "/", now_s + 600.0, network)
    accounts.add_sign_in(attempt, replaced, WaitingBounds(of_network_max=3, in_all_max=6), now_s)


def test_sign_ins_that_one_network_begins_stop_none_of_another(accounts: AccountStore) -> None:
    for number in range(3):
        begin(accounts, f"a{number}", "a", number)
    with pytest.raises(TooManyWaiting, match="from your address"):
        begin(accounts, "a3", "a", 3.0)
    begin(accounts, "a3", "a", 3.0, ["browser of a2"])  # the same browser again
    assert accounts.take_sign_in("a2", 3.0) is None
    for number in range(3):
        begin(accounts, f"b{number}", "b", 3.0)
    begin(accounts, "c0", "c", 4.0)  # all places are taken: of the networks with most, the oldest one goes
    assert accounts.take_sign_in("a0", 4.0) is None
    begin(accounts, "c1", "c", 4.0)
    begin(accounts, "a4", "a", 601.5)  # a1 has expired
    assert [accounts.take_sign_in(name, 601.6) is not None for name in ("a3", "a4", "c0", "c1")] == [True] * 4


def test_one_place_for_each_of_many_networks_is_given_on(accounts: AccountStore) -> None:
    for number in range(6):
        begin(accounts, f"s{number}", f"network {number}", number)
    begin(accounts, "new", "another", 6.0)
    assert accounts.take_sign_in("s0", 6.0) is None
    with pytest.raises(TooManyWaiting, match="6 sign-ins are unfinished"):
        begin(accounts, "new2", "another", 6.0)


def test_users_of_a_directory_are_due_once_while_they_are_signed_in(accounts: AccountStore) -> None:
    for number, name in enumerate(("ada", "ben", "cleo")):
        user = User(name, provider="corp" if name != "cleo" else "other", subject=str(number))
        accounts.adopt(user, {}, [])
        accounts.add_tenant(name)
        accounts.ensure_member(name, name, "user")
        accounts.add_session(Session(f"s{number}", name, name, 1.0, 1000.0))
        accounts.add_session(Session(f"t{number}", name, name, 1.0, 100.0))

    def due(before_s: float, now_s: float) -> list[str]:
        return sorted(user.name for user in accounts.claim_unconfirmed("corp", before_s, now_s, 10))

    assert due(1.0, 10.0) == ["ada", "ben"]
    assert due(10.0, 20.0) == []
    accounts.unconfirm(["ben"])
    assert due(10.0, 20.0) == ["ben"]
    entry = replace(ENTRY, action="end_unknown_user")
    assert accounts.end_unknown("ada", entry) == 2
    assert accounts.end_unknown("ada", entry) == 0
    newest = accounts.audit(None, 1)[0]
    assert (newest.action, newest.changes) == ("end_unknown_user", {"sessions": [2, 0]})
    assert accounts.session("s0", 20.0) is None
    assert due(500.0, 999.0) == ["ben"]
    assert due(1500.0, 1001.0) == []


def test_failures_are_counted_by_key_and_time(accounts: AccountStore) -> None:
    for key, at_s in (("a", 1.0), ("a", 2.0), ("b", 2.0), ("c", 2.0)):
        accounts.add_failure(key, at_s)
    assert accounts.failures(["a", "b", "x"], 2.0) == {"a": 1, "b": 1}
    assert accounts.failures(["a"], 0.0) == {"a": 2}


def test_a_guess_is_counted_under_all_keys_or_none(accounts: AccountStore) -> None:
    limits = {"a": (1.0, 2), "b": (1.0, 1)}
    assert accounts.take_guess(["a", "b"], limits, 0.5) is None  # before the time from which they count
    assert accounts.take_guess(["a", "b", "c"], limits, 2.0) is None
    assert accounts.take_guess(["a", "b", "c"], limits, 3.0) == "b"
    assert accounts.failures(["a", "b", "c"], 0.0) == {"a": 2, "b": 2, "c": 1}
    accounts.give_back_guess(["a", "b", "c"], 2.0)
    assert accounts.failures(["a", "b", "c"], 0.0) == {"a": 1, "b": 1}


def test_guesses_at_the_same_moment_do_not_take_the_same_place(open_accounts: OpenAccounts) -> None:
    handles = [open_accounts(), open_accounts()]
    told = in_threads(24, lambda n: handles[n % 2].take_guess(["a", "b"], {"a": (0.0, 10)}, 1.0 + n))
    assert (told.count(None), told.count("a")) == (10, 14)
    assert handles[0].failures(["a", "b"], 0.0) == {"a": 10, "b": 10}


def test_the_audit_log_is_read_from_its_end(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    first, second = accounts.add_audit(ENTRY), accounts.add_audit(replace(ENTRY, user="bob"))
    third = accounts.add_audit(replace(ENTRY, by="t1"))
    accounts.end_audit(first, 200)
    assert [(e.id, e.status) for e in open_accounts().audit(None, 10)] == [(third, None), (second, None), (first, 200)]
    assert list(accounts.audit(third, 1)) == [replace(ENTRY, user="bob", id=second)]
    assert [e.id for e in accounts.audit(None, 10, "ada")] == [third, first]


def test_a_submissions_entry_is_kept_with_it_and_not_without(store: PostgresStore) -> None:
    """Also of a repeated one, which changes nothing but is answered as the first."""
    entry = replace(ENTRY, action="submit_execution", status=201)
    store.accounts.ensure_member("ada", "red", "user")

    def kept() -> list[str]:
        return [entry.request_id for entry in store.accounts.audit(None, 10)]

    store.submit(job(1), "r1", "key", "print", replace(entry, request_id="r1"))
    store.submit(job(2), "r2", "key", "print", replace(entry, request_id="r2"))
    store.submit(job(3), "r3", audit=replace(entry, request_id="r3"))
    assert kept() == ["r3", "r2", "r1"]
    assert list(store.accounts.audit(None, 1)) == [
        replace(entry, request_id="r3", id=store.accounts.audit(None, 1)[0].id)
    ]
    with pytest.raises(IdempotencyConflict):
        store.submit(job(4), "r4", "key", "another", replace(entry, request_id="r4"))
    set_quota(store, "red", Quota(3))
    store.submit(job(5), "r5", audit=replace(entry, request_id="r5"))
    with pytest.raises(QuotaExceeded):
        store.submit(job(6), "r6", audit=replace(entry, request_id="r6"))
    store.submit(job(7), "r7", "key", "print", replace(entry, request_id="r7"))
    assert kept() == ["r7", "r5", "r3", "r2", "r1"]


def test_prune_removes_old_sessions_failures_and_audit_entries(accounts: AccountStore) -> None:
    accounts.ensure_member("ada", "red", "user")
    accounts.add_session(SESSION)
    accounts.add_failure("a", 1.0)
    accounts.add_audit(ENTRY)
    accounts.prune(9.0)
    assert accounts.session("s1", 9.0) is not None
    assert accounts.failures(["a"], 0.0)
    accounts.prune(1e9)
    assert accounts.session("s1", 0.0) is None
    assert not accounts.failures(["a"], 0.0)
    assert not accounts.audit(None, 10)
