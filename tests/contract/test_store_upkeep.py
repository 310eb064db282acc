"""Contract of every store on use, and on the removal of old data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.applications import GIB, execution
from tests.support.stores import LIMITS
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome
from zoe_lib.domain.executions.use import DAY_S, DayOfUser, ResourceSeconds
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressReading
from zoe_lib.domain.values.store_queries import StoreQuery
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotFound, NotLeader
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import TickRecord, UsageSample, UsePoint

RETENTION_S = LIMITS.retention_s


def sample(number: int, service_id: str = "s1", execution_id: str = "e1") -> UsageSample:
    return UsageSample(execution_id, service_id, "node-1", float(number), number / 2, number * 100)


def start_events(fresh: Execution) -> list[ev.Event]:
    placements = tuple(ev.Placement(service_id=s.id, node="n") for s in fresh.services if s.core)
    return [ev.Queued(at_s=1.0), ev.StartPlanned(at_s=1.0, placements=placements)]


def end(store: ExecutionStore, number: int, at_s: float) -> None:
    store.submit(execution(number), "request", f"key {number}")
    refused = ev.Refused(at_s=at_s, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    store.append(execution(number).id, [refused], 1, None)


def test_usage_is_bounded_per_service(bounded_store: PostgresStore) -> None:
    bounded_store.add_usage([sample(1), sample(2, "s2"), sample(3, "s3", "e2")])
    bounded_store.add_usage([])
    for number in (4, 6, 5, 8, 7):
        bounded_store.add_usage([sample(number)])
    assert list(bounded_store.usage("e1")) == [sample(2, "s2"), sample(6), sample(7), sample(8)]
    assert list(bounded_store.usage("e2")) == [sample(3, "s3", "e2")]
    assert not bounded_store.usage("unknown")
    bounded_store.add_usage([sample(number, "s4", "e3") for number in range(10)])
    assert [s.at_s for s in bounded_store.usage("e3")] == [7.0, 8.0, 9.0]


def test_use_over_time_is_averaged_by_stretch(bounded_store: PostgresStore) -> None:
    """Of each service first: two of them in a stretch add up, one sample alone tells memory and no cores."""
    one = bounded_store.submit(execution(1, name="sums"), "request").id
    two = bounded_store.submit(execution(2, name="sums"), "request").id
    bounded_store.add_usage(
        [
            UsageSample(one, "a", "n1", at_s=100.0, cpu_s=5.0, memory_bytes=100),
            UsageSample(one, "a", "n1", at_s=110.0, cpu_s=15.0, memory_bytes=300),
            UsageSample(one, "b", "n2", at_s=101.0, cpu_s=0.0, memory_bytes=50),
            UsageSample(one, "b", "n2", at_s=105.0, cpu_s=2.0, memory_bytes=50),
            UsageSample(two, "c", "n1", at_s=119.0, cpu_s=7.0, memory_bytes=1000),
            UsageSample(two, "c", "n1", at_s=125.0, cpu_s=7.0, memory_bytes=1000),
            UsageSample(two, "c", "n1", at_s=140.0, cpu_s=9.0, memory_bytes=1),
        ]
    )
    by_node = bounded_store.use_over_time(100.0, 140.0, 20.0, by_node=True)
    assert by_node == [
        UsePoint(100.0, "n1", 1.0, 1200.0),
        UsePoint(100.0, "n2", 0.5, 50.0),
        UsePoint(120.0, "n1", 0.0, 1000.0),
    ]
    by_name = bounded_store.use_over_time(100.0, 140.0, 20.0, by_node=False)
    assert by_name == [UsePoint(100.0, "sums", 1.5, 1250.0), UsePoint(120.0, "sums", 0.0, 1000.0)]
    assert bounded_store.use_over_time(0.0, 50.0, 20.0, by_node=True) == []


def run(store: ExecutionStore, number: int, from_s: float, to_s: float) -> None:
    """An execution that runs one of its services for that time."""
    fresh = store.submit(execution(number), "request")
    service = fresh.services[0].id
    events: list[ev.Event] = [
        ev.Queued(at_s=from_s),
        ev.StartPlanned(
            at_s=from_s, placements=tuple(ev.Placement(service_id=s.id, node="n") for s in fresh.services if s.core)
        ),
        ev.ServiceStarting(at_s=from_s, service_id=service),
        ev.ServiceStarted(at_s=from_s, service_id=service),
        ev.Stopping(at_s=to_s, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED),
        *(ev.ServiceEnded(at_s=to_s, service_id=s.id, cause=Cause.EXITED) for s in fresh.services),
        ev.Ended(at_s=to_s),
    ]
    store.append(fresh.id, events, fresh.version, None)


def test_old_ends_are_pruned_with_all_that_hangs_on_them(any_store: ExecutionStore) -> None:
    end(any_store, 1, at_s=50.0)
    end(any_store, 2, at_s=150.0)
    any_store.submit(execution(3), "request")
    samples = [sample(1, "s", execution(1).id), sample(1, "s", execution(2).id)]
    if isinstance(any_store, PostgresStore):
        any_store.add_usage(samples)
    newest = any_store.last_journal_id()
    assert any_store.prune(now_s=1100.0) == 1
    assert any_store.prune(now_s=1100.0) == 0
    with pytest.raises(NotFound):
        any_store.execution(execution(1).id)
    with pytest.raises(NotFound):
        any_store.append(execution(1).id, [ev.Queued(at_s=1.0)], 2, None)
    assert not any_store.journal(0, 10, execution_id=execution(1).id)
    if isinstance(any_store, PostgresStore):
        assert not any_store.usage(execution(1).id)
        assert any_store.usage(execution(2).id)
    assert len(any_store.execution(execution(3).id).services) == 4
    assert sum(any_store.counts().values()) == 2
    any_store.submit(execution(4), "request", "key 1")
    assert any_store.journal(newest, 10)[0].execution_id == execution(4).id


def test_the_last_use_of_an_application_goes_with_it(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request")
    for at_s in (5.0, 7.0, 6.0):
        any_store.add_use_of(execution(1).id, at_s)
    any_store.add_use_of("nobody", 1.0)
    any_store.add_use_of("nul\0", 1.0)
    assert any_store.last_uses([execution(1).id, "nobody"]) == {execution(1).id: 7.0}


def test_active_executions_count_as_used_if_their_use_is_unknown(any_store: ExecutionStore) -> None:
    fresh = [any_store.submit(execution(number), "request", f"key {number}") for number in (1, 2, 3)]
    for one in fresh[:2]:
        any_store.append(one.id, start_events(one), one.version, None)
    any_store.add_use_of(execution(2).id, 40.0)
    any_store.set_policy(Policy(idle_after_s=9.0), 0, 30.0, "admin")
    ids = [one.id for one in fresh]
    assert any_store.last_uses(ids) == {ids[0]: 30.0, ids[1]: 40.0}
    any_store.set_policy(Policy(idle_after_s=8.0), 1, 50.0, "admin")
    if isinstance(any_store, PostgresStore):
        any_store.add_usage([sample(100, "s", ids[0]), sample(99, "s", ids[1])])
        any_store.add_use_of_active(160.0, 100.0)
        assert any_store.last_uses(ids) == {ids[0]: 30.0, ids[1]: 160.0}


def test_progress_is_replaced_and_goes_with_its_execution(any_store: ExecutionStore) -> None:
    for number in (1, 2):
        any_store.submit(execution(number), "request", f"key {number}")
    ids = [execution(1).id, execution(2).id, "nobody"]
    first = ExecutionProgress(ids[0], 1, 5.0, (ProgressReading(5.0, 1, 8),), "1 of 8", "")
    any_store.set_progress(
        [first, ExecutionProgress(ids[1], 2, 5.0, (), "", "it is negative"), replace(first, execution_id="nobody")]
    )
    newer = replace(first, at_s=9.0, readings=(*first.readings, ProgressReading(9.0, 2, 8)))
    any_store.set_progress([newer, ExecutionProgress(ids[1], 1, 7.0, (ProgressReading(7.0, 0.5),))])
    any_store.set_progress([])
    assert any_store.progress_of(ids) == {
        ids[0]: newer,
        ids[1]: ExecutionProgress(ids[1], 2, 5.0, (), "", "it is negative"),
    }
    assert any_store.progress_of([]) == {}
    any_store.append(ids[0], [ev.Refused(at_s=50.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)], 1, None)
    assert any_store.prune(now_s=51.0 + RETENTION_S) == 1
    assert list(any_store.progress_of(ids)) == [ids[1]]


def test_the_newest_queries_are_kept_and_go_with_their_execution(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request", "key 1")
    id_ = execution(1).id
    queries = [StoreQuery(number, 1000, number, ("why",) if number % 2 else (), 5.0) for number in range(150)]
    for at in range(0, 150, 50):
        any_store.add_queries(id_, queries[at : at + 50])
    any_store.add_queries("nobody", queries[:1])
    assert tuple(any_store.queries_of(id_)) == tuple(queries[50:])
    assert tuple(any_store.queries_of("nobody")) == ()
    any_store.append(id_, [ev.Refused(at_s=50.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)], 1, None)
    assert any_store.prune(now_s=51.0 + RETENTION_S) == 1
    assert tuple(any_store.queries_of(id_)) == ()


def test_the_use_of_what_is_removed_is_kept_by_day(any_store: ExecutionStore) -> None:
    """A service of a core and a GiB from shortly before midnight on; removal changes nothing of the sums."""
    run(any_store, 1, DAY_S - 10, DAY_S + 30)
    run(any_store, 2, DAY_S + 10, DAY_S + 20)
    before = any_store.daily_use(0, 9)
    assert before == {
        DayOfUser(0, "iostack", "ada"): ResourceSeconds(10.0, 10.0 * GIB),
        DayOfUser(1, "iostack", "ada"): ResourceSeconds(40.0, 40.0 * GIB),
    }
    assert any_store.cut_s() == 0.0
    assert any_store.prune(now_s=DAY_S + 25 + RETENTION_S) == 1
    assert any_store.daily_use(0, 9) == before
    assert any_store.prune(now_s=DAY_S + 31 + RETENTION_S) == 1
    assert any_store.daily_use(0, 9) == before
    assert any_store.daily_use(1, 1) == {DayOfUser(1, "iostack", "ada"): ResourceSeconds(40.0, 40.0 * GIB)}
    assert any_store.cut_s() == DAY_S + 31
    any_store.prune(now_s=DAY_S)
    assert any_store.cut_s() == DAY_S + 31


def test_ticks_are_kept_from_the_last_whole_one_before_the_cut_on(any_store: ExecutionStore) -> None:
    epoch = any_store.try_lead("test")
    assert epoch is not None
    assert any_store.ticks_from_s() is None
    kept = [
        TickRecord(f"plan-{i}", i * 10.0, epoch, i, whole=i % 3 == 0, inputs={"nodes": {"n": {"i": i}}})
        for i in range(9)
    ]
    for tick in kept:
        any_store.add_tick(tick, epoch)
    assert list(any_store.ticks(40.0, 65.0)) == kept[3:7]
    assert list(any_store.ticks(60.0, 60.0)) == kept[6:7]
    assert not any_store.ticks(-1.0, 60.0)
    assert any_store.ticks_from_s() == 0.0
    any_store.prune(now_s=RETENTION_S + 40.0)
    assert any_store.ticks_from_s() == 30.0
    assert list(any_store.ticks(40.0, 99.0)) == kept[3:]
    assert not any_store.ticks(20.0, 99.0)
    with pytest.raises(NotLeader):
        any_store.add_tick(kept[0], epoch - 1)


def test_old_keys_are_forgotten(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request", "key", "one")
    any_store.prune(now_s=100.0)
    assert any_store.submit(execution(2), "request", "key", "one").id == execution(1).id
    any_store.prune(now_s=102.0)
    assert any_store.submit(execution(2), "request", "key", "two").id == execution(2).id
