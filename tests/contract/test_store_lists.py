"""Contract of every store on lists, pages, filters and searches of executions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.applications import application, execution
from tests.support.store_events import queued, refused
from zoe_client.vocabulary import DeadlineStatus, Holder
from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.deadline_misses import status_of
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.domain.lifecycle.consequences import missed_deadline
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import InvalidCursor
from zoe_lib.store.values import ExecutionQuery


def names(store: ExecutionStore, **query: object) -> list[str]:
    return [e.name for e in store.executions(ExecutionQuery(**query)).executions]  # type: ignore[arg-type]


def test_active_and_counts(any_store: ExecutionStore) -> None:
    for number in (2, 1, 3):
        any_store.submit(execution(number), "request")
    any_store.append(execution(3).id, [refused()], 1, None)
    any_store.append(execution(2).id, [queued()], 1, None)
    assert [e.id for e in any_store.active()] == [execution(1).id, execution(2).id]
    counts = any_store.counts()
    assert counts[ExecutionState.SUBMITTED] == counts[ExecutionState.QUEUED] == counts[ExecutionState.CANCELLED] == 1
    assert counts[ExecutionState.RUNNING] == 0


def test_pages_are_complete_and_newest_first(any_store: ExecutionStore) -> None:
    for number in range(1, 8):
        any_store.submit(execution(number, submitted_at_s=float(number // 2)), "request")
    seen: list[Execution] = []
    cursor = None
    while True:
        page = any_store.executions(ExecutionQuery(limit=3, cursor=cursor))
        seen += page.executions
        cursor = page.next_cursor
        if cursor is None:
            break
        any_store.submit(execution(100 + len(seen), submitted_at_s=99.0), "request")  # a newcomer disturbs no page
    assert [e.id for e in seen] == [execution(number).id for number in range(7, 0, -1)]


def test_the_last_page_says_so(any_store: ExecutionStore) -> None:
    assert any_store.executions(ExecutionQuery()).next_cursor is None
    any_store.submit(execution(1), "request")
    assert any_store.executions(ExecutionQuery(limit=1)).next_cursor is None


@pytest.mark.parametrize("cursor", ["", "x", "ä", "bm8", "WzEsMl0", "WyJhIiwiYiJd", "W05hTiwieCJd", "WzEsIlx1MDAwMCJd"])
def test_a_cursor_of_nobody_is_refused(any_store: ExecutionStore, cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        any_store.executions(ExecutionQuery(cursor=cursor))


def test_filters(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1, name="Sums 100%"), "request")
    any_store.submit(execution(2, name="sums_2", user="bob"), "request")
    any_store.submit(execution(3, name="Größe", tenant="other"), "request")
    any_store.append(execution(1).id, [queued()], 1, None)
    assert names(any_store, visibility=Visibility("iostack")) == ["sums_2", "Sums 100%"]
    assert names(any_store, visibility=Visibility("iostack"), user="bob") == ["sums_2"]
    assert names(any_store, states=frozenset({ExecutionState.QUEUED})) == ["Sums 100%"]
    assert names(any_store, states=frozenset()) == []
    any_store.append(execution(2).id, [ev.Held(at_s=5.0, by=Holder.USER)], 1, None)
    assert names(any_store, states=frozenset(), held=True) == ["sums_2"]
    assert names(any_store, states=frozenset({ExecutionState.QUEUED}), held=True) == ["sums_2", "Sums 100%"]
    some = frozenset({execution(1).id, execution(3).id, "unknown", "\x00"})
    assert names(any_store, ids=some) == ["Größe", "Sums 100%"]
    assert names(any_store, ids=some, visibility=Visibility("other")) == ["Größe"]
    assert names(any_store, ids=frozenset()) == []
    assert names(any_store, submitted_from_s=execution(2).submitted_at_s) == ["Größe", "sums_2"]
    between = {"submitted_from_s": execution(2).submitted_at_s, "submitted_to_s": execution(2).submitted_at_s}
    assert names(any_store, **between) == ["sums_2"]
    assert any_store.active_counts() == {("iostack", "ada"): 1, ("iostack", "bob"): 1, ("other", "ada"): 1}
    assert names(any_store, name_contains="SUMS") == ["sums_2", "Sums 100%"]
    assert names(any_store, name_contains="0%") == ["Sums 100%"]
    assert names(any_store, name_contains="s_") == ["sums_2"]
    assert names(any_store, name_contains="GRÖ") == ["Größe"]
    assert names(any_store, name_contains="a\x00") == names(any_store, visibility=Visibility("\ud800")) == []


def test_a_search_by_name_says_where_it_stopped_and_goes_on_there(any_store: ExecutionStore) -> None:
    """Through five at a time, as the limits of this store say; what other filters leave out is not counted."""
    for number in range(1, 15):
        any_store.submit(execution(number, name="needle" if number in (1, 9) else "hay"), "request")
        any_store.submit(execution(100 + number, tenant="other", submitted_at_s=float(number)), "request")
    query, pages = ExecutionQuery(visibility=Visibility("iostack"), name_contains="NEEDLE", limit=2), []
    while True:
        page = any_store.executions(query)
        pages.append(([e.id for e in page.executions], page.searched_to_s))
        if page.next_cursor is None:
            break
        query = replace(query, cursor=page.next_cursor)
    assert pages == [([], 10.0), ([execution(9).id], 5.0), ([execution(1).id], None)]
    unnamed = any_store.executions(ExecutionQuery(visibility=Visibility("iostack"), limit=10))
    assert len(unnamed.executions) == 10
    assert unnamed.searched_to_s is None


def test_a_search_that_finds_enough_goes_on_after_the_last_found(any_store: ExecutionStore) -> None:
    for number in range(1, 9):
        any_store.submit(execution(number, name="needle"), "request")
    query = ExecutionQuery(name_contains="needle", limit=3)
    first = any_store.executions(query)
    assert [e.submitted_at_s for e in first.executions] == [8.0, 7.0, 6.0]
    assert first.searched_to_s is None
    second = any_store.executions(replace(query, cursor=first.next_cursor))
    assert [e.submitted_at_s for e in second.executions] == [5.0, 4.0, 3.0]


def test_kind_and_name_of_the_description_are_searched_like_names(any_store: ExecutionStore) -> None:
    notebook = application(name="notebook", kind=ApplicationKind.INTERACTIVE)
    for number in range(1, 9):
        other = application(name="notebook" if number == 8 else "sums")
        any_store.submit(execution(number, application=notebook if number in (1, 7) else other), "request")
    assert found_by_pages(any_store, kind=ApplicationKind.INTERACTIVE) == [execution(7).id, execution(1).id]
    assert found_by_pages(any_store, application="notebook") == [execution(8).id, execution(7).id, execution(1).id]
    assert found_by_pages(any_store, application="notebook", kind=ApplicationKind.BATCH) == [execution(8).id]
    assert found_by_pages(any_store, application="a\x00") == []


def found_by_pages(store: ExecutionStore, **wanted: object) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = store.executions(ExecutionQuery(**wanted, cursor=cursor))  # type: ignore[arg-type]
        found += [one.id for one in page.executions]
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_how_executions_stand_to_their_deadlines(any_store: ExecutionStore) -> None:
    """SQL and the domain agree."""
    declared = application(expected_run_s=100.0)
    limited = application(expected_run_s=100.0, time_limit_s=20.0)
    for number, (app, deadline_s) in enumerate(
        [
            (declared, None),
            (declared, 150.0),
            (declared, 90.0),
            (limited, 90.0),
            (application(), 20.0),
            (declared, 50.0),
        ]
    ):
        stored = any_store.submit(execution(number, application=app, deadline_s=deadline_s), "request")
        any_store.append(stored.id, [queued()], 1, None)
    told = [Forecast(1.0, 9.0, 90.0, end_p50_s=90.0, end_p90_s=99.0), Forecast(1.0, 9.0, None)]
    for number, forecast in enumerate(told, start=6):
        stored = any_store.submit(execution(number, application=application(), deadline_s=95.0), "request")
        any_store.append(stored.id, [queued(), ev.Forecasted(at_s=1.0, forecast=forecast)], 1, None)
    placed = any_store.submit(execution(8, application=declared, deadline_s=150.0), "request")
    placements = tuple(ev.Placement(service_id=s.id, node="n") for s in placed.services)
    any_store.append(placed.id, [queued(), ev.StartPlanned(at_s=60.0, placements=placements)], 1, None)
    asks = application(expected_run_s=100.0, promise=PromiseWish())
    any_store.submit(execution(9, application=asks, deadline_s=50.0), "request")
    late = any_store.execution(execution(5).id)
    (missed,) = [missed_deadline(late, 50.0, any_store.policy(), "")]
    assert missed is not None
    assert any_store.append(late.id, [missed], late.version, None).missed is not None
    for now_s in (0.0, 5.0, 51.0, 200.0):
        page = any_store.executions(ExecutionQuery(limit=100)).executions
        assert len(page) == 10
        for status in DeadlineStatus:
            wanted = [execution.name for execution in page if status_of(execution, now_s) is status]
            assert names(any_store, deadline=status, now_s=now_s) == wanted, (status, now_s)
    assert names(any_store, deadline=DeadlineStatus.AT_RISK, now_s=5.0) == ["sums 8", "sums 6", "sums 2"]
    assert names(any_store, deadline=DeadlineStatus.MISSED) == ["sums 5"]
