"""Contract of every store on quotas of tenants and of their users."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.support.applications import application, execution
from tests.support.limits import Quota, quota_of, set_quota
from tests.support.stores import OpenStore, add_tenant
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import ConcurrentUpdate, QuotaExceeded, TimeLimitTooLong


def job(number: int, tenant: str = "red", user: str = "ada") -> Execution:
    return replace(execution(number), tenant=tenant, user=user)


def limited(number: int, time_limit_s: float | None, tenant: str = "red") -> Execution:
    return replace(job(number, tenant), application=application(time_limit_s=time_limit_s))


def end(store: ExecutionStore, number: int) -> None:
    refused = ev.Refused(at_s=9.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    store.append(execution(number).id, [refused], 1, None)


def test_a_quota_counts_what_waits_and_runs(open_store: OpenStore) -> None:
    store = open_store()
    add_tenant(store, "red")
    set_quota(store, "red", Quota(2))
    assert quota_of(open_store(), "red") == Quota(2)
    for number in (1, 2):
        store.submit(job(number), "request")
    with pytest.raises(QuotaExceeded, match="maximum for red: 2"):
        open_store().submit(job(3), "request", "key")
    store.submit(job(4, "blue"), "request")
    end(store, 1)
    assert open_store().submit(job(3), "request", "key").version == 1
    set_quota(store, "red", Quota())
    store.submit(job(5), "request")


def test_a_quota_of_users_counts_each_of_them(open_store: OpenStore) -> None:
    store = open_store()
    add_tenant(store, "red")
    set_quota(store, "red", Quota(3, 1))
    assert quota_of(open_store(), "red") == Quota(3, 1)
    store.submit(job(1), "request")
    with pytest.raises(QuotaExceeded, match="maximum for ada in red: 1"):
        open_store().submit(job(2), "request")
    for number, user in ((3, "bob"), (4, "carl")):
        store.submit(job(number, user=user), "request")
    with pytest.raises(QuotaExceeded, match="maximum for red: 3"):
        store.submit(job(5, user="dora"), "request")
    store.submit(job(6, "blue"), "request")
    end(store, 1)
    assert open_store().submit(job(2), "request").version == 1


def test_repeated_submission_is_accepted_over_the_quota(open_store: OpenStore) -> None:
    store = open_store()
    add_tenant(store, "red")
    set_quota(store, "red", Quota(1))
    stored = store.submit(job(1), "request", "key", "same")
    assert open_store().submit(job(2), "request", "key", "same") == stored
    assert store.submit(job(1), "request") == stored
    with pytest.raises(QuotaExceeded):
        store.submit(job(2), "request", "other key")


def test_of_those_that_come_together_no_more_than_the_quota_pass(open_store: OpenStore) -> None:
    handles = [open_store() for _ in range(4)]
    add_tenant(handles[0], "red")
    set_quota(handles[0], "red", Quota(3))

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
    add_tenant(store, "red")
    before = store.submit(limited(1, None), "request")
    set_quota(store, "red", Quota(time_limit_s_max=7200.0))
    assert quota_of(open_store(), "red") == Quota(None, None, 7200.0)
    given = store.submit(replace(limited(2, None), notes=("a note",)), "request")
    assert given.application.time_limit_s == 7200.0
    told = "no time limit is set: it gets the longest that red may have, 7200 s (2 h)"
    assert given.notes == ("a note", told)
    assert open_store().execution(given.id) == given
    for number, asked_s in ((3, 7200.0), (4, 1.5)):
        asked = store.submit(limited(number, asked_s), "request")
        assert (asked.application.time_limit_s, asked.notes) == (asked_s, ())
    with pytest.raises(TimeLimitTooLong, match=r"is 9000 s \(2.5 h\); the maximum for red is 7200 s \(2 h\)"):
        open_store().submit(limited(5, 9000.0), "request", "key")
    assert store.submit(limited(6, 9000.0, "blue"), "request").notes == ()
    assert open_store().execution(before.id) == before
    set_quota(store, "red", Quota())
    assert store.submit(limited(5, 9000.0), "request", "key").application.time_limit_s == 9000.0
    assert open_store().execution(given.id) == given


def test_a_time_limit_that_is_too_long_is_refused_before_anything_is_counted(any_store: ExecutionStore) -> None:
    add_tenant(any_store, "red")
    set_quota(any_store, "red", Quota(0, None, 60.0))
    with pytest.raises(TimeLimitTooLong):
        any_store.submit(limited(1, 61.0), "request")
    with pytest.raises(QuotaExceeded):
        any_store.submit(limited(1, 60.0), "request")


def test_repeated_submission_keeps_its_time_limit(open_store: OpenStore) -> None:
    store = open_store()
    add_tenant(store, "red")
    set_quota(store, "red", Quota(time_limit_s_max=120.0))
    given = store.submit(limited(1, None), "request", "key", "same")
    asked = store.submit(limited(2, 120.0), "request")
    for longest_s in (60.0, 240.0, None):
        set_quota(store, "red", Quota(time_limit_s_max=longest_s))
        assert open_store().submit(limited(3, None), "request", "key", "same") == given
        assert store.submit(limited(1, None), "request") == given
        assert store.submit(limited(2, 120.0), "request") == asked
    with pytest.raises(ConcurrentUpdate):
        store.submit(limited(2, 90.0), "request")


def test_no_execution_has_another_time_limit_than_a_quota_of_its_time(open_store: OpenStore) -> None:
    handles = [open_store() for _ in range(4)]
    add_tenant(handles[0], "red")
    set_quota(handles[0], "red", Quota(time_limit_s_max=60.0))

    def change(number: int) -> None:
        set_quota(handles[number % len(handles)], "red", Quota(time_limit_s_max=(60.0, 120.0)[number % 2]))

    def submit(number: int) -> Execution | None:
        try:
            return handles[number % len(handles)].submit(limited(number, (None, 120.0, 180.0)[number % 3]), "request")
        except TimeLimitTooLong:
            return None

    with ThreadPoolExecutor(8) as pool:
        changes = pool.map(change, range(20))
        stored = [execution for execution in pool.map(submit, range(1, 61)) if execution is not None]
        assert len(list(changes)) == 20
    assert {execution.application.time_limit_s for execution in stored} <= {60.0, 120.0}
    assert {int(execution.id[-4:]) % 3 for execution in stored} <= {0, 1}
    assert len([execution for execution in stored if execution.notes]) == 20
    assert {execution.id: execution for execution in handles[0].active()} == {
        execution.id: execution for execution in stored
    }
