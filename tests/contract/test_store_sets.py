"""Contract of every store on changes of many executions in one transaction."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from threading import Barrier

import pytest

from tests.support.applications import application, component, execution
from tests.support.histories import history
from tests.support.store_events import OpenStore
from tests.support.waiting import until
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import event_of
from zoe_lib.store.errors import NotLeader
from zoe_lib.store.values import ExecutionChange

BEHIND = Reason(ReasonCode.BEHIND_IN_QUEUE, "Others come first.", {"n": 1}, "wait")


def change(before: Execution, *events: ev.Event) -> ExecutionChange:
    return ExecutionChange(before, events, reduce(apply, events, before))


def queued(cause_id: str = "tick") -> ev.Event:
    return ev.Queued(at_s=2.0, cause_id=cause_id)


def told(reason: Reason = BEHIND) -> ev.Event:
    return ev.ReasonChanged(at_s=3.0, cause_id="tick", reason=reason)


def cancelled() -> ev.Event:
    return ev.Refused(at_s=4.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)


def submitted(store: ExecutionStore, count: int) -> list[Execution]:
    return [store.submit(execution(number), "request") for number in range(1, count + 1)]


def test_each_submission_of_a_set_is_written_as_if_it_were_alone(open_store: OpenStore) -> None:
    store = open_store()
    first, second, third = submitted(store, 3)
    changes = [change(first, queued()), change(second, queued(), told()), change(third, cancelled())]
    written = store.append_all(changes, None)
    assert written == {c.after.id: c.after for c in changes}
    for entry in changes:
        assert open_store().execution(entry.after.id) == entry.after
    assert [e.state for e in open_store().active()] == [ExecutionState.QUEUED] * 2
    assert store.counts()[ExecutionState.CANCELLED] == 1


def test_events_are_journaled_in_the_order_of_the_changes(any_store: ExecutionStore) -> None:
    first, second, third = submitted(any_store, 3)
    before = any_store.last_journal_id()
    any_store.append_all(
        [change(third, queued("c")), change(first, queued("a"), told()), change(second, queued())], None
    )
    entries = any_store.journal(before, 10)
    assert [(e.execution_id, e.version, e.kind, e.cause_id) for e in entries] == [
        (third.id, 2, "queued", "c"),
        (first.id, 2, "queued", "a"),
        (first.id, 3, "reason_changed", "tick"),
        (second.id, 2, "queued", "tick"),
    ]
    assert [e.id for e in entries] == sorted({e.id for e in entries})
    assert {e.tenant for e in entries} == {first.tenant}
    assert event_of("reason_changed", entries[2].at_s, "tick", entries[2].data) == told()


def test_concurrently_changed_execution_is_left_out(open_store: OpenStore) -> None:
    store = open_store()
    first, second, third = submitted(store, 3)
    open_store().append(second.id, [cancelled()], 1, None)
    before = store.last_journal_id()
    unknown = apply(execution(99), ev.Submitted(at_s=1.0))
    changes = [change(e, queued()) for e in (first, second, unknown, third)]
    assert list(store.append_all(changes, None)) == [first.id, third.id]
    assert [e.execution_id for e in store.journal(before, 10)] == [first.id, third.id]
    assert open_store().execution(second.id).state is ExecutionState.CANCELLED
    assert store.append_all(changes, None) == {}  # all of them are over
    assert len(store.journal(before, 10)) == 2


def test_services_follow(open_store: OpenStore) -> None:
    store = open_store()
    two = application(component("main", 2))
    before = [store.submit(execution(n, application=two), "request") for n in (1, 2)]
    waiting = list(store.append_all([change(e, queued()) for e in before], None).values())
    starts = []
    for entry in waiting:
        places = tuple(ev.Placement(service_id=s.id, node="node1") for s in entry.services)
        starting = [ev.ServiceStarting(at_s=5.0, service_id=s.id) for s in entry.services]
        starts.append(change(entry, ev.StartPlanned(at_s=5.0, placements=places), *starting))
    store.append_all(starts, None)
    assert [open_store().execution(c.after.id) for c in starts] == [c.after for c in starts]
    assert {s.node for c in starts for s in open_store().execution(c.after.id).services} == {"node1"}


@pytest.mark.parametrize("seed", range(5))
def test_the_journal_rebuilds_what_sets_have_stored(open_store: OpenStore, seed: int) -> None:
    chance, store = random.Random(seed), open_store()
    shape = application(component("main", 2, ends_application=True), component("helper", 0, 2), retries=2)
    fresh = {e.id: e for e in (execution(number, application=shape) for number in range(1, 7))}
    stored = {e.id: store.submit(e, "request") for e in fresh.values()}
    left = {e.id: list(history(e, chance.randint(1, 40), chance.randrange)) for e in stored.values()}
    while any(left.values()):
        changes = []
        for execution_id in chance.sample(sorted(left), chance.randint(1, len(left))):
            cut = chance.randint(1, 5)
            some, left[execution_id] = left[execution_id][:cut], left[execution_id][cut:]
            if some:
                changes.append(change(stored[execution_id], *some))
        stored |= store.append_all(changes, None)
    for execution_id, after in stored.items():
        assert rebuilt(store, fresh[execution_id]) == after == open_store().execution(execution_id)


def rebuilt(store: ExecutionStore, one: Execution) -> Execution:
    """The execution that its journal leads to."""
    for entry in store.journal(0, 1000, execution_id=one.id):
        one = apply(one, event_of(entry.kind, entry.at_s, entry.cause_id, entry.data))
        assert one.version == entry.version
    return one


def test_unstorable_text_is_replaced(open_store: OpenStore) -> None:
    (one,) = submitted(open_store(), 1)
    odd = ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS, message="odd \x00")
    written = open_store().append_all([change(one, odd)], None)
    assert written[one.id].message == "odd \ufffd"
    assert open_store().execution(one.id) == written[one.id]


def test_empty_set_is_accepted_and_empty_events_are_refused(any_store: ExecutionStore) -> None:
    assert any_store.append_all([], None) == {}
    (one,) = submitted(any_store, 1)
    with pytest.raises(ValueError, match="nothing"):
        any_store.append_all([ExecutionChange(one, [], one)], None)


def test_two_changes_of_one_execution_are_refused(any_store: ExecutionStore) -> None:
    one, other = submitted(any_store, 2)
    with pytest.raises(ValueError, match="once"):
        any_store.append_all([change(one, queued()), change(other, queued()), change(one, cancelled())], None)
    assert [any_store.execution(e.id) for e in (one, other)] == [one, other]


def test_only_the_newest_epoch_writes_sets(open_store: OpenStore) -> None:
    old, new = open_store(), open_store()
    (one,) = submitted(old, 1)
    old_epoch = old.try_lead("old")
    old.stop_leading()
    new_epoch = until(lambda: new.try_lead("new"))
    with pytest.raises(NotLeader):
        old.append_all([change(one, queued())], old_epoch)
    with pytest.raises(NotLeader):
        old.append_all([], old_epoch)
    assert new.execution(one.id) == one
    assert list(new.append_all([change(one, queued())], new_epoch)) == [one.id]


def test_of_sets_and_single_changes_at_the_same_time_each_execution_takes_one(open_store: OpenStore) -> None:
    count, barrier = 40, Barrier(3)
    before = submitted(open_store(), count)

    def in_a_set(ordered: list[Execution]) -> int:
        barrier.wait()
        return len(open_store().append_all([change(e, queued()) for e in ordered], None))

    def alone() -> int:
        barrier.wait()
        return sum(bool(open_store().append_all([change(e, cancelled())], None)) for e in before[::4])

    store = open_store()
    with ThreadPoolExecutor(3) as pool:
        # Both in one order: it is the order of rows that keeps two sets from waiting for each other in a ring.
        jobs = [pool.submit(in_a_set, before), pool.submit(in_a_set, before), pool.submit(alone)]
        assert sum(job.result() for job in jobs) == count
    versions = [(e.execution_id, e.version) for e in store.journal(0, 1000)]
    assert len(versions) == len(set(versions)) == 2 * count
