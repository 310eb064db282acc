"""What every store promises about accesses, failures to sign in, and the audit log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.api import in_threads
from tests.support.applications import execution
from tests.support.limits import Quota, set_quota
from tests.support.stores import OpenStore
from zoe_lib.domain.execution import Execution
from zoe_lib.store.base import (
    IdempotencyConflict,
    NotFound,
    QuotaExceeded,
    Store,
)
from zoe_lib.store.people import (
    AppAccess,
    AuditEntry,
    Session,
)

SESSION = Session("s1", "ada", "red", 1.0, 10.0)
ENTRY = AuditEntry(1.0, "ada", "red", "set_policy", "/api/v1/policy", "req-1", "session")


def job(number: int, tenant: str = "red", user: str = "ada") -> Execution:
    return replace(execution(number), tenant=tenant, user=user)


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
    set_quota(any_store, "red", Quota(3))
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
