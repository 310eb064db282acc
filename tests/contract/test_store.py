"""Contract of every store on submitting executions and appending events."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.applications import application, component, execution
from tests.support.histories import history
from tests.support.store_events import OpenStore, queued, refused
from tests.support.waiting import until
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import event_of
from zoe_lib.store.errors import ConcurrentUpdate, IdempotencyConflict, NotFound, NotLeader, Unstorable


def test_submitted_execution_is_read_back(open_store: OpenStore) -> None:
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
    with pytest.raises(IdempotencyConflict):
        any_store.submit(execution(5, user="bob"), "request-5", "key", "same")
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


def test_unstorable_text_is_refused_or_replaced(any_store: ExecutionStore) -> None:
    for name in ("a\x00b", "half \ud800"):
        with pytest.raises(Unstorable):
            any_store.submit(execution(name=name), "request-1")
    any_store.submit(execution(), "request-1")
    event = ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS, message="odd \x00 \udc80")
    stored = any_store.append(execution().id, [event], 1, None)
    assert stored.message == "odd \ufffd ?"
    assert any_store.execution(stored.id) == stored


def test_events_are_applied_in_order_and_journaled(open_store: OpenStore) -> None:
    store = open_store()
    submitted = store.submit(execution(), "request-1")
    stored = store.append(submitted.id, [queued(), refused()], 1, None)
    assert stored == apply(apply(submitted, queued()), refused())
    assert open_store().execution(submitted.id) == stored
    assert [(e.kind, e.version) for e in store.journal(0, 10)] == [("submitted", 1), ("queued", 2), ("refused", 3)]


def test_state_computed_by_the_caller_is_kept(open_store: OpenStore) -> None:
    store = open_store()
    submitted = store.submit(execution(), "request-1")
    after = apply(submitted, queued())
    assert store.append(submitted.id, [queued()], 1, None, after) == after
    assert open_store().execution(submitted.id) == after
    with pytest.raises(ConcurrentUpdate):
        store.append(submitted.id, [queued()], 1, None, after)


def test_unstorable_text_in_the_callers_state_is_replaced(open_store: OpenStore) -> None:
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
    new_epoch = until(lambda: new.try_lead("new"))  # the server sees a moment later that it has gone
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
