"""What every store promises about executions and their journal."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.applications import application, component, execution
from tests.support.histories import history
from zoe_lib.domain import events as ev
from zoe_lib.domain.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.lifecycle import IllegalTransition, apply
from zoe_lib.domain.platform import BackendCapabilities
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.codec import event_of
from zoe_lib.store.errors import ConcurrentUpdate, IdempotencyConflict, InvalidCursor, NotFound, NotLeader, Unstorable
from zoe_lib.store.values import ExecutionQuery

OpenStore = Callable[[], ExecutionStore]


def queued(at_s: float = 2.0) -> ev.Event:
    return ev.Queued(at_s=at_s, cause_id="tick")


def refused(at_s: float = 3.0) -> ev.Event:
    return ev.Refused(at_s=at_s, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)


def names(store: ExecutionStore, **query: object) -> list[str]:
    return [e.name for e in store.executions(ExecutionQuery(**query)).executions]  # type: ignore[arg-type]


# -- submit ------------------------------------------------------------------------------------------------------------
def test_what_was_submitted_is_read_back(open_store: OpenStore) -> None:
    wanted = execution(priority=-3, deadline_s=9.5, not_before_s=1.5, notes=("a note", "größer"))
    stored = open_store().submit(wanted, "request-1")
    assert stored.version == 1
    assert [s.name for s in stored.services] == ["master-0", "worker-0", "worker-1", "worker-2"]
    assert open_store().execution(wanted.id) == stored
    assert replace(stored, version=0, services=()) == wanted


def test_a_submission_is_journaled(any_store: ExecutionStore) -> None:
    stored = any_store.submit(execution(), "request-1")
    (entry,) = any_store.journal(0, 10)
    assert (entry.kind, entry.cause_id, entry.at_s, entry.version) == ("submitted", "request-1", 1.0, 1)
    assert (entry.execution_id, entry.tenant, entry.data) == (stored.id, "iostack", {})
    assert entry.id == any_store.last_journal_id()


def test_an_execution_that_is_not_fresh_is_refused(any_store: ExecutionStore) -> None:
    with pytest.raises(ValueError, match="not fresh"):
        any_store.submit(execution(version=1), "request-1")


def test_the_same_key_gives_the_first_execution(any_store: ExecutionStore) -> None:
    first = any_store.submit(execution(1), "request-1", "key", "same")
    assert any_store.submit(execution(2), "request-2", "key", "same") == first
    assert any_store.submit(execution(3), "request-3", "other key", "same") != first
    assert any_store.submit(execution(4, tenant="other"), "request-4", "key", "same") != first
    assert any_store.submitted_with(first.tenant, "key", "same") == first
    assert any_store.submitted_with("nobody", "key", "same") is None
    assert any_store.submitted_with(first.tenant, "never used", "same") is None
    assert len(any_store.journal(0, 10)) == 3


def test_the_same_key_for_something_else_is_a_conflict(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request-1", "key", "one")
    with pytest.raises(IdempotencyConflict):
        any_store.submit(execution(2), "request-2", "key", "other")
    with pytest.raises(IdempotencyConflict):
        any_store.submitted_with(execution(1).tenant, "key", "other")
    with pytest.raises(NotFound):
        any_store.execution(execution(2).id)


def test_parallel_submissions_with_one_key_make_one_execution(any_store: ExecutionStore) -> None:
    barrier = Barrier(8)

    def submit(number: int) -> Execution:
        barrier.wait()
        return any_store.submit(execution(number), f"request-{number}", "key", "same")

    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(submit, range(1, 9)))
    assert len({e.id for e in stored}) == 1
    assert len(any_store.journal(0, 10)) == 1
    assert sum(any_store.counts().values()) == 1


def test_the_same_id_again_gives_what_is_stored(any_store: ExecutionStore) -> None:
    any_store.submit(execution(), "request-1")
    stored = any_store.append(execution().id, [queued()], 1, None)
    assert any_store.submit(execution(), "request-2") == stored
    with pytest.raises(ConcurrentUpdate):
        any_store.submit(execution(user="eve"), "request-3")


def test_what_cannot_be_kept_is_refused_or_replaced(any_store: ExecutionStore) -> None:
    for name in ("a\x00b", "half \ud800"):
        with pytest.raises(Unstorable):
            any_store.submit(execution(name=name), "request-1")
    any_store.submit(execution(), "request-1")
    event = ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS, message="odd \x00 \udc80")
    stored = any_store.append(execution().id, [event], 1, None)
    assert stored.message == "odd \ufffd ?"
    assert any_store.execution(stored.id) == stored


# -- append ------------------------------------------------------------------------------------------------------------
def test_events_are_applied_in_order_and_journaled(open_store: OpenStore) -> None:
    store = open_store()
    submitted = store.submit(execution(), "request-1")
    stored = store.append(submitted.id, [queued(), refused()], 1, None)
    assert stored == apply(apply(submitted, queued()), refused())
    assert open_store().execution(submitted.id) == stored
    assert [(e.kind, e.version) for e in store.journal(0, 10)] == [("submitted", 1), ("queued", 2), ("refused", 3)]


def test_what_a_caller_found_events_to_lead_to_is_kept(open_store: OpenStore) -> None:
    store = open_store()
    submitted = store.submit(execution(), "request-1")
    after = apply(submitted, queued())
    assert store.append(submitted.id, [queued()], 1, None, after) == after
    assert open_store().execution(submitted.id) == after
    with pytest.raises(ConcurrentUpdate):
        store.append(submitted.id, [queued()], 1, None, after)


def test_what_cannot_be_kept_is_replaced_in_what_a_caller_found_too(open_store: OpenStore) -> None:
    store = open_store()
    submitted = store.submit(execution(), "request-1")
    event = ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS, message="odd \x00")
    stored = store.append(submitted.id, [event], 1, None, apply(submitted, event))
    assert stored.message == "odd \ufffd"
    assert open_store().execution(submitted.id) == stored


def test_an_old_version_is_refused(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    first.submit(execution(), "request-1")
    second.append(execution().id, [queued()], 1, None)
    for event in (queued(), refused()):  # legal or not at the version there is
        with pytest.raises(ConcurrentUpdate):
            first.append(execution().id, [event], 1, None)
    with pytest.raises(ConcurrentUpdate):
        first.append(execution().id, [refused()], 3, None)
    assert first.execution(execution().id).version == 2


def test_of_parallel_appends_one_wins(any_store: ExecutionStore) -> None:
    any_store.submit(execution(), "request-1")
    barrier = Barrier(6)

    def append(number: int) -> bool:
        barrier.wait()
        try:
            any_store.append(execution().id, [ev.Queued(at_s=float(number))], 1, None)
        except ConcurrentUpdate:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(append, range(6))) == 1
    assert len(any_store.journal(0, 10)) == 2


def test_an_illegal_event_changes_nothing(any_store: ExecutionStore) -> None:
    submitted = any_store.submit(execution(), "request-1")
    with pytest.raises(IllegalTransition):
        any_store.append(submitted.id, [queued(), ev.Running(at_s=3.0)], 1, None)
    assert any_store.execution(submitted.id) == submitted
    assert any_store.last_journal_id() == any_store.journal(0, 10)[-1].id
    assert len(any_store.journal(0, 10)) == 1


def test_no_events_and_no_execution(any_store: ExecutionStore) -> None:
    with pytest.raises(NotFound):
        any_store.append("nobody", [queued()], 1, None)
    with pytest.raises(ValueError, match="nothing"):
        any_store.append("nobody", [], 1, None)
    for unknown in ("nobody", "no\x00body", "\ud800"):
        with pytest.raises(NotFound):
            any_store.execution(unknown)


def test_only_the_newest_epoch_may_write(open_store: OpenStore) -> None:
    old, new = open_store(), open_store()
    old.submit(execution(), "request-1")
    old_epoch = old.try_lead("old")
    assert old_epoch is not None
    old.append(execution().id, [queued()], 1, old_epoch)
    old.stop_leading()  # it sleeps, and does not know that its lock is gone
    new_epoch = new.try_lead("new")
    with pytest.raises(NotLeader):
        old.append(execution().id, [refused()], 2, old_epoch)
    with pytest.raises(NotLeader):
        old.append("nobody", [refused()], 7, old_epoch)
    with pytest.raises(NotLeader):
        old.set_platform([], 1.0, old_epoch)
    with pytest.raises(NotLeader):
        old.set_capabilities(BackendCapabilities(), None, 1.0, old_epoch)
    new.append(execution().id, [refused()], 2, new_epoch)


def test_without_any_leader_no_epoch_is_right(any_store: ExecutionStore) -> None:
    any_store.submit(execution(), "request-1")
    with pytest.raises(NotLeader):
        any_store.append(execution().id, [queued()], 1, 1)


@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_journal_rebuilds_what_is_stored(any_store: ExecutionStore, data: st.DataObject) -> None:
    number = sum(any_store.counts().values()) + 1
    retries = application(component("main", 2, ends_application=True), component("helper", 0, 2), retries=2)
    stored = any_store.submit(execution(number, application=retries), "request-1")
    events = list(history(stored, data.draw(st.integers(1, 60)), lambda n: data.draw(st.integers(0, n - 1))))
    while events:
        cut = data.draw(st.integers(1, len(events)))
        stored = any_store.append(stored.id, events[:cut], stored.version, None)
        events = events[cut:]
    rebuilt = execution(number, application=retries)
    for entry in any_store.journal(0, 1000, execution_id=stored.id):
        rebuilt = apply(rebuilt, event_of(entry.kind, entry.at_s, entry.cause_id, entry.data))
        assert rebuilt.version == entry.version
    assert rebuilt == stored == any_store.execution(stored.id)
    assert (stored in any_store.active()) is not stored.terminal


# -- lists -------------------------------------------------------------------------------------------------------------
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
    assert names(any_store, tenant="iostack") == ["sums_2", "Sums 100%"]
    assert names(any_store, tenant="iostack", user="bob") == ["sums_2"]
    assert names(any_store, states=frozenset({ExecutionState.QUEUED})) == ["Sums 100%"]
    assert names(any_store, states=frozenset()) == []
    some = frozenset({execution(1).id, execution(3).id, "unknown", "\x00"})
    assert names(any_store, ids=some) == ["Größe", "Sums 100%"]
    assert names(any_store, ids=some, tenant="other") == ["Größe"]
    assert names(any_store, ids=frozenset()) == []
    assert any_store.active_counts() == {("iostack", "ada"): 1, ("iostack", "bob"): 1, ("other", "ada"): 1}
    assert names(any_store, name_contains="SUMS") == ["sums_2", "Sums 100%"]
    assert names(any_store, name_contains="0%") == ["Sums 100%"]
    assert names(any_store, name_contains="s_") == ["sums_2"]
    assert names(any_store, name_contains="GRÖ") == ["Größe"]
    assert names(any_store, name_contains="a\x00") == names(any_store, tenant="\ud800") == []


def test_a_search_by_name_says_where_it_stopped_and_goes_on_there(any_store: ExecutionStore) -> None:
    """Through five at a time, as the limits of this store say; what other filters leave out is not counted."""
    for number in range(1, 15):
        any_store.submit(execution(number, name="needle" if number in (1, 9) else "hay"), "request")
        any_store.submit(execution(100 + number, tenant="other", submitted_at_s=float(number)), "request")
    query, pages = ExecutionQuery(tenant="iostack", name_contains="NEEDLE", limit=2), []
    while True:
        page = any_store.executions(query)
        pages.append(([e.id for e in page.executions], page.searched_to_s))
        if page.next_cursor is None:
            break
        query = replace(query, cursor=page.next_cursor)
    assert pages == [([], 10.0), ([execution(9).id], 5.0), ([execution(1).id], None)]
    unnamed = any_store.executions(ExecutionQuery(tenant="iostack", limit=10))
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


# -- journal -----------------------------------------------------------------------------------------------------------
def test_the_journal_is_read_on_from_an_id(any_store: ExecutionStore) -> None:
    assert any_store.last_journal_id() == 0
    for number in range(1, 6):
        any_store.submit(execution(number), "request")
    ids = [entry.id for entry in any_store.journal(0, 100)]
    assert ids == sorted(set(ids))
    assert [entry.id for entry in any_store.journal(ids[1], 2)] == ids[2:4]
    assert any_store.journal(ids[-1], 10) == []


def test_the_journal_of_a_tenant_has_what_is_nobodys(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request")
    any_store.set_policy(any_store.policy(), 0, 1.0, "admin")
    any_store.submit(execution(2, tenant="other"), "request")
    any_store.submit(execution(3), "request")
    assert [e.tenant for e in any_store.journal(0, 10, tenant="iostack")] == ["iostack", None, "iostack"]
    assert [e.tenant for e in any_store.journal(0, 2, tenant="iostack")] == ["iostack", None]
    assert [e.tenant for e in any_store.journal(0, 10, tenant="other")] == [None, "other"]
    assert [e.tenant for e in any_store.journal(0, 10)] == ["iostack", None, "other", "iostack"]


def test_the_journal_without_data_says_who_changed_when(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request")
    any_store.append(execution(1).id, [refused()], 1, None)
    any_store.set_policy(any_store.policy(), 0, 1.0, "admin")
    full = any_store.journal(0, 10)
    assert any(entry.data for entry in full)
    assert any_store.journal(0, 10, with_data=False) == [replace(entry, data={}) for entry in full]


def test_the_journal_of_one_execution(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request")
    any_store.submit(execution(2), "request")
    any_store.append(execution(1).id, [queued()], 1, None)
    assert [e.kind for e in any_store.journal(0, 10, execution_id=execution(1).id)] == ["submitted", "queued"]
    assert len(any_store.journal(0, 10, tenant="iostack", execution_id=execution(1).id)) == 2
    assert not any_store.journal(0, 10, tenant="other", execution_id=execution(1).id)


def test_a_reader_by_id_misses_nothing(open_store: OpenStore) -> None:
    writers, each = 4, 12
    stores = [open_store() for _ in range(writers)]
    reader = open_store()

    def write(writer: int) -> None:
        for number in range(each):
            stores[writer].submit(execution(100 * (writer + 1) + number), "request")

    seen: list[int] = []
    with ThreadPoolExecutor(writers) as pool:
        done = [pool.submit(write, writer) for writer in range(writers)]
        finished = False
        while not finished:
            all_written = all(future.done() for future in done)
            entries = reader.journal(seen[-1] if seen else 0, 5)
            seen += [entry.id for entry in entries]
            finished = all_written and not entries
        for future in done:
            future.result()
    assert seen == [entry.id for entry in reader.journal(0, 1000)]
    assert len(seen) == writers * each


def test_many_submissions_at_once_are_all_kept(open_store: OpenStore) -> None:
    stores = [open_store(), open_store()]

    def submit(number: int) -> Execution:
        return stores[number % 2].submit(execution(number), f"request-{number}", f"key {number // 3}", "same")

    with ThreadPoolExecutor(12) as pool:
        given = list(pool.map(submit, range(90)))
    stored = {e.id: e for e in open_store().active()}
    assert len(stored) == 30
    assert all(stored[e.id] == e for e in given)
    assert {len({e.id for e in given[third : third + 3]}) for third in range(0, 90, 3)} == {1}
    entries = stores[0].journal(0, 100)
    assert sorted(str(entry.execution_id) for entry in entries) == sorted(stored)
    assert all(entry.cause_id == f"request-{int(str(entry.execution_id)[-4:])}" for entry in entries)
