"""Shares: their levels, and their ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.applications import execution
from zoe_lib.domain.applications.sharing import ExecutionShares, ShareLevel, Visibility
from zoe_lib.store.errors import NotFound, TooManyShares
from zoe_lib.store.people import AppAccess, Session, Share
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.visible.shares import SHARES_MAX
from zoe_lib.store.values import ExecutionQuery, StoreLimits

LIMITS = StoreLimits(searched_max=5)
BOB, EVE = Visibility("red", "bob"), Visibility("red", "eve")


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """Ada, Bob and Eve are members of red, Bob also of blue; Ada has executions 1 and 2, and Bob 3 and 4 (in blue)."""
    with closing(PostgresStore(postgres_url, LIMITS)) as store:
        for user, tenant in (("ada", "red"), ("bob", "red"), ("eve", "red"), ("bob", "blue")):
            store.accounts.ensure_member(user, tenant, "user")
        for number, user, tenant in ((1, "ada", "red"), (2, "ada", "red"), (3, "bob", "red"), (4, "bob", "blue")):
            store.submit(execution(number, user=user, tenant=tenant, name=f"job {number}"), "request")
        yield store


def share(store: PostgresStore, number: int, user: str | None, level: ShareLevel = ShareLevel.LOOK) -> None:
    store.accounts.share(Share(execution(number).id, "red", "ada", user, level, 1.0))


def listed(store: PostgresStore, visibility: Visibility, **query: object) -> list[int]:
    page = store.executions(ExecutionQuery(visibility=visibility, **query))  # type: ignore[arg-type]
    return [int(execution.id[-4:]) for execution in page.executions]


def journaled(store: PostgresStore, visibility: Visibility) -> list[int]:
    return [int(entry.execution_id[-4:]) for entry in store.journal(0, 100, visibility) if entry.execution_id]


def test_lists_and_journal_have_ones_own_and_shared_executions(store: PostgresStore) -> None:
    ids = [execution(number).id for number in range(1, 5)]
    assert listed(store, BOB) == journaled(store, BOB) == [3]
    share(store, 1, "bob")
    share(store, 2, None)
    assert listed(store, BOB) == [3, 2, 1]
    assert journaled(store, BOB) == [1, 2, 3]
    assert listed(store, EVE) == journaled(store, EVE) == [2]
    assert listed(store, BOB, user="ada") == [2, 1]
    assert listed(store, BOB, name_contains="JOB 1") == [1]
    assert store.active_among(ids, BOB) == set(ids[:3])
    assert listed(store, Visibility("blue", "bob")) == [4]
    assert listed(store, Visibility("blue", "eve")) == []
    assert listed(store, Visibility("red")) == [3, 2, 1]


def test_pages_and_searches_go_on_through_both_kinds(store: PostgresStore) -> None:
    for number in range(5, 25):
        store.submit(execution(number, user="bob" if number % 3 else "ada", tenant="red", name=f"job {number}"), "r")
    for number in (6, 12, 24):
        share(store, number, "bob")
    seen: list[int] = []
    query: ExecutionQuery | None = ExecutionQuery(visibility=BOB, limit=4)
    while query is not None:
        page = store.executions(query)
        seen += [int(execution.id[-4:]) for execution in page.executions]
        query = None if page.next_cursor is None else ExecutionQuery(visibility=BOB, limit=4, cursor=page.next_cursor)
    assert seen == sorted({3, 6, 12, 24, *(number for number in range(5, 25) if number % 3)}, reverse=True)
    found, cursor = [], None
    for _ in range(20):
        page = store.executions(ExecutionQuery(visibility=BOB, name_contains="2", limit=2, cursor=cursor))
        found += [int(execution.id[-4:]) for execution in page.executions]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == [number for number in seen if "2" in str(number)]


def test_the_highest_level_counts(store: PostgresStore) -> None:
    one = execution(1).id
    level = store.accounts.shared_level
    assert level(one, "red", "bob") is None
    share(store, 1, None, ShareLevel.OPEN)
    share(store, 1, "bob")
    assert (level(one, "red", "bob"), level(one, "red", "eve")) == (ShareLevel.OPEN, ShareLevel.OPEN)
    share(store, 1, "bob", ShareLevel.CONTROL)
    assert [(s.user, s.level) for s in store.accounts.shares(one)] == [(None, "open"), ("bob", "control")]
    assert level(one, "red", "bob") is ShareLevel.CONTROL
    assert level(one, "blue", "bob") is None
    levels = {None: ShareLevel.OPEN, "bob": ShareLevel.CONTROL}
    assert store.shares_of([one, "unknown"]) == {one: ExecutionShares("red", "ada", levels)}
    store.accounts.end_share(one, None)
    store.accounts.end_share(one, "bob")
    assert level(one, "red", "bob") is None
    for user in (None, "bob"):
        with pytest.raises(NotFound):
            store.accounts.end_share(one, user)


def test_only_members_share_with_members_and_only_so_often(store: PostgresStore) -> None:
    for user in ("nobody", "\x00"):
        with pytest.raises(NotFound):
            share(store, 1, user)
    with pytest.raises(NotFound):
        store.accounts.share(Share("unknown", "red", "ada", "bob", ShareLevel.LOOK, 1.0))
    for number in range(SHARES_MAX):
        store.accounts.ensure_member(f"user{number}", "red", "user")
        share(store, 1, f"user{number}")
    with pytest.raises(TooManyShares):
        share(store, 1, "bob")
    share(store, 1, "user0", ShareLevel.OPEN)


@pytest.mark.parametrize("leaves", ["ada", "bob"])
def test_a_share_ends_with_the_membership_of_either(store: PostgresStore, leaves: str) -> None:
    share(store, 1, "bob")
    share(store, 1, None)
    store.accounts.remove_member(leaves, "red")
    store.accounts.ensure_member(leaves, "red", "user")
    left = [share.user for share in store.accounts.shares(execution(1).id)]
    assert left == ([] if leaves == "ada" else [None])


def test_an_open_application_closes_when_the_share_ends_or_shrinks(store: PostgresStore) -> None:
    accounts, one = store.accounts, execution(1).id
    accounts.add_session(Session("s1", "bob", "red", 1.0, 10.0))
    share(store, 1, "bob", ShareLevel.OPEN)
    accounts.add_app_access(AppAccess("ticket", "bob", "red", "s1", None, one, 0, 5.0))
    assert accounts.enter_app("ticket", "access", 2.0, 9.0) is not None
    assert accounts.app_access("access", 3.0) is not None
    share(store, 1, "bob", ShareLevel.LOOK)
    assert accounts.app_access("access", 3.0) is None
    share(store, 1, "bob", ShareLevel.CONTROL)
    assert accounts.app_access("access", 3.0) is not None
    accounts.end_share(one, "bob")
    assert accounts.app_access("access", 3.0) is None
