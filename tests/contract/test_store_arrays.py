"""Contract of every store on arrays."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import reduce

import pytest

from tests.support.applications import application
from tests.support.store_events import OpenStore
from zoe_client.vocabulary import Cause, ExecutionState, IndexState, Outcome
from zoe_lib.domain.applications.entries import Entry, EntryList
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, again, cancel, count_by_state, execution_of
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import ConcurrentUpdate, IdempotencyConflict, NotFound, NotLeader
from zoe_lib.store.values import ArrayChange, ArrayQuery, ArrayRuns, ExecutionChange, ExecutionQuery


def array(number: int = 1, indices: str = "0-9", user: str = "ada", tenant: str = "red") -> Array:
    """Return a new array."""
    numbers, at_once = parse_array(indices, 10**6)
    return Array(f"a{number:014}", "sweep", tenant, user, application(), float(number), numbers, at_once)


def lead(store: ExecutionStore) -> int:
    """Return the epoch of a leader."""
    epoch = store.try_lead("test")
    assert epoch is not None
    return epoch


def made(store: ExecutionStore, one: Array, positions: range, epoch: int) -> list[Execution]:
    """Make executions for the indices at these positions."""
    wanted = [(position, execution_of(one, position, 50.0)) for position in positions]
    stored = store.make_of_array(one, wanted, "plan", epoch)
    assert stored is not None
    return list(stored)


def refused(outcome: Outcome = Outcome.CANCELLED) -> ev.Event:
    """Return the event with which an execution ends that waits."""
    return ev.Refused(at_s=60.0, cause_id="request", outcome=outcome, cause=Cause.CANCELLED)


def test_it_comes_back_as_it_was_stored(open_store: OpenStore) -> None:
    one = open_store().submit_array(array(indices="1,5,7-20:2%3"), "request")
    assert open_store().array_with_states(one.id) == (one, bytes(9))
    assert (one.at_once, dict(one.counts)) == (3, {IndexState.WAITING: 9})
    with pytest.raises(NotFound):
        open_store().array("a99999999999999")


def awaiting(number: int = 1) -> Array:
    """Return a new array that awaits its list."""
    return changed(array(number, "0"), entries=EntryList("part", "parts.json"))


@pytest.mark.parametrize(
    "entries", [(), ("a",), ("a", 0.1, 1e22, True), tuple({"n": n, "x": "ü"} for n in range(5000))]
)
def test_a_list_is_written_once_with_all_its_entries(any_store: ExecutionStore, entries: tuple[Entry, ...]) -> None:
    one = any_store.submit_array(awaiting(), "request")
    after = any_store.list_array(one.id, entries, 20.0, "list")
    assert any_store.list_array(one.id, ("other",), 30.0, "again") == after
    assert any_store.array_with_states(one.id) == (after, bytes(len(entries)))
    assert (after.indices.count, after.entries) == (len(entries), EntryList("part", "parts.json", len(entries)))
    assert (after.state, after.ended_at_s) == (
        (ExecutionState.SUBMITTED, None) if entries else (ExecutionState.SUCCEEDED, 20.0)
    )
    found = any_store.array_entries(one.id, range(len(entries) + 1))
    assert [(found[n], type(found[n])) for n in sorted(found)] == [(entry, type(entry)) for entry in entries]
    kinds = [entry.kind for entry in any_store.journal(0, 10) if entry.execution_id == one.id]
    ends = [] if entries else [ArrayEventKind.ENDED]
    assert kinds == [ArrayEventKind.SUBMITTED, ArrayEventKind.LISTED, *ends]


def test_a_list_comes_too_late_for_an_array_that_has_ended(any_store: ExecutionStore) -> None:
    one = any_store.submit_array(awaiting(), "request")
    any_store.change_array(
        one.id, lambda a, s: ArrayChange(cancel(a, s, "ada"), ArrayEventKind.CANCELLED, {}), 10.0, "request"
    )
    after = any_store.list_array(one.id, ("a", "b"), 20.0, "list")
    assert (after.state, after.indices.count) == (ExecutionState.CANCELLED, 1)
    assert any_store.array_entries(one.id, [0]) == {}


def test_the_same_key_returns_the_first(any_store: ExecutionStore) -> None:
    first = any_store.submit_array(array(), "request", "key", "print")
    assert any_store.submit_array(array(2), "request", "key", "print").id == first.id
    with pytest.raises(IdempotencyConflict):
        any_store.submit_array(array(3), "request", "key", "other")
    with pytest.raises(IdempotencyConflict):
        any_store.submit_array(array(4, user="bob"), "request", "key", "print")
    assert [array.id for array in any_store.arrays(ArrayQuery()).arrays] == [first.id]


def test_an_index_has_one_execution(any_store: ExecutionStore) -> None:
    epoch, one = lead(any_store), any_store.submit_array(array(), "request")
    executions = made(any_store, one, range(3), epoch)
    assert [execution.id for execution in executions] == [f"{one.id}_{index}" for index in range(3)]
    assert (
        any_store.make_of_array(one, [(2, execution_of(one, 2, 51.0)), (3, execution_of(one, 3, 51.0))], "p", epoch)
        is None
    )
    assert dict(any_store.array(one.id).counts) == {IndexState.WAITING: 7, IndexState.ACTIVE: 3}
    assert {execution.id for execution in any_store.active()} == {execution.id for execution in executions}
    with pytest.raises(NotLeader):
        any_store.make_of_array(one, [(5, execution_of(one, 5, 51.0))], "p", epoch + 1)


def test_changed_array_makes_no_execution(any_store: ExecutionStore) -> None:
    epoch, one = lead(any_store), any_store.submit_array(array(), "request")
    after = any_store.change_array(
        one.id, lambda it, states: ArrayChange(cancel(it, states, "ada"), ArrayEventKind.CANCELLED, {}), 55.0, "request"
    )
    assert (after.state, after.ended_at_s, after.version) == (ExecutionState.CANCELLED, 55.0, 2)
    assert any_store.make_of_array(one, [(0, execution_of(one, 0, 56.0))], "plan", epoch) is None
    assert not any_store.active()


def test_ends_are_noted_with_them(any_store: ExecutionStore) -> None:
    epoch, one = lead(any_store), any_store.submit_array(array(indices="0-3"), "request")
    first, second, third, fourth = made(any_store, one, range(4), epoch)
    any_store.append(first.id, [refused()], first.version, None)
    changes = [
        ExecutionChange(it, [refused(outcome)], reduce(apply, [refused(outcome)], it))
        for it, outcome in ((second, Outcome.FAILED), (third, Outcome.SUCCEEDED))
    ]
    outdated = ExecutionChange(first, [refused()], reduce(apply, [refused()], first))
    any_store.append_all([*changes, outdated], epoch)
    found, states = any_store.array_with_states(one.id)
    assert states == bytes([4, 3, 2, 1])
    assert (found.state, found.ended_at_s) == (ExecutionState.QUEUED, None)
    any_store.append(fourth.id, [refused()], fourth.version, None)
    done = any_store.array(one.id)
    assert (done.state, done.ended_at_s) == (ExecutionState.FAILED, 60.0)
    kinds = [entry.kind for entry in any_store.journal(0, 100, execution_id=one.id)]
    assert kinds == ["array_submitted", "array_ended"]
    after = any_store.change_array(
        one.id, lambda it, s: ArrayChange(again(it, s), ArrayEventKind.AGAIN, {}), 70.0, "request"
    )
    assert (dict(after.counts), after.ended_at_s) == ({IndexState.WAITING: 3, IndexState.SUCCEEDED: 1}, None)
    assert [it.id for it in made(any_store, after, range(1), epoch)] == [f"{one.id}_0r2"]


def test_lists_and_journal_are_the_owners(any_store: ExecutionStore) -> None:
    mine, _, foreign = (
        any_store.submit_array(array(1), "r"), any_store.submit_array(array(2, user="bob"), "r"),
        any_store.submit_array(array(3, tenant="blue"), "r"),
    )  # fmt: skip
    ada, red = Visibility("red", "ada"), Visibility("red")
    assert [array.id for array in any_store.arrays(ArrayQuery(visibility=ada)).arrays] == [mine.id]
    assert len(any_store.arrays(ArrayQuery(visibility=red)).arrays) == 2
    assert {entry.execution_id for entry in any_store.journal(0, 100, ada)} == {mine.id}
    assert foreign.id not in {entry.execution_id for entry in any_store.journal(0, 100, red)}
    first = any_store.arrays(ArrayQuery(limit=2))
    second = any_store.arrays(ArrayQuery(limit=2, cursor=first.next_cursor))
    assert [array.id for array in (*first.arrays, *second.arrays)] == [f"a{n:014}" for n in (3, 2, 1)]
    assert second.next_cursor is None


def test_executions_are_listed_apart(any_store: ExecutionStore) -> None:
    epoch, one = lead(any_store), any_store.submit_array(array(), "request")
    executions = made(any_store, one, range(2), epoch)
    other = made(any_store, any_store.submit_array(array(2), "request"), range(1), epoch)
    found = any_store.executions(ExecutionQuery(array_id=one.id)).executions
    assert {it.id for it in found} == {it.id for it in executions}
    assert any_store.executions(ExecutionQuery(alone=True)).executions == []
    assert len(any_store.executions(ExecutionQuery()).executions) == len(executions) + len(other)


def test_unfinished_executions_are_counted_by_state(any_store: ExecutionStore) -> None:
    epoch, one = lead(any_store), any_store.submit_array(array(), "request")
    first, second, third = made(any_store, one, range(3), epoch)
    made(any_store, any_store.submit_array(array(2), "request"), range(1), epoch)
    any_store.append(first.id, [ev.Queued(at_s=51.0)], first.version, None)
    any_store.append(second.id, [refused()], second.version, None)
    found = any_store.active_of_arrays([one.id, "unknown", "\x00"])
    assert {key: dict(counts) for key, counts in found.items()} == {one.id: {ExecutionState.QUEUED: 1, third.state: 1}}
    assert dict(any_store.active_of_arrays([])) == {}


def run_for(store: ExecutionStore, one: Execution, from_s: float, to_s: float | None) -> None:
    """Let an execution have places from one time to another, or until now."""
    placed = tuple(ev.Placement(service_id=service.id, node="n1") for service in one.services)
    events: list[ev.Event] = [ev.Queued(at_s=51.0), ev.StartPlanned(at_s=from_s, placements=placed)]
    kinds = ev.ServiceStarting, ev.ServiceStarted
    events += [kind(at_s=from_s, service_id=service.id) for service in one.services for kind in kinds]
    if to_s is not None:
        events.append(ev.Stopping(at_s=to_s, outcome=Outcome.FAILED, cause=Cause.EXITED))
        events += [ev.ServiceEnded(at_s=to_s, service_id=s.id, cause=Cause.EXITED) for s in one.services]
        events.append(ev.Ended(at_s=to_s))
    store.append(one.id, events, one.version, None)


def test_time_between_the_runs_of_its_indices_does_not_count(any_store: ExecutionStore) -> None:
    epoch, one, other = lead(any_store), *(any_store.submit_array(array(number), "request") for number in (1, 2))
    first, second, third, fourth = made(any_store, one, range(4), epoch)
    wanted = {one.id: 1, other.id: 1, "unknown": 1, "\x00": 1}
    assert not any(found.ran_s or found.causes for found in any_store.runs_of_arrays(wanted, 99.0).values())
    for execution, from_s, to_s in (
        (first, 52.0, 70.0),
        (second, 55.0, 60.0),
        (third, 65.0, 75.0),
        (fourth, 90.0, None),
    ):
        run_for(any_store, execution, from_s, to_s)
    assert any_store.runs_of_arrays(wanted, 94.0) == {one.id: ArrayRuns(23.0 + 4.0, frozenset({Cause.EXITED}))}
    assert any_store.runs_of_arrays({one.id: 2}, 94.0) == {one.id: ArrayRuns(27.0)}  # that of an earlier run


def test_shares_of_an_array_are_found(any_store: ExecutionStore) -> None:
    one = any_store.submit_array(array(), "request")
    shares = any_store.shares_of([one.id, "x1", "a99999999999999"])
    assert {key: (given.tenant, given.owner) for key, given in shares.items()} == {one.id: ("red", "ada")}


def test_a_leader_and_users_at_the_same_time(open_store: OpenStore) -> None:
    """A leader makes and ends executions while users cancel single ones and change the array: all adds up."""
    store, users = open_store(), open_store()
    epoch, one = lead(store), store.submit_array(array(indices="0-299"), "request")

    def cancels() -> int:
        done = 0
        for _ in range(60):
            for execution in list(users.active())[:3]:
                with suppress(ConcurrentUpdate, IllegalTransition):
                    users.append(execution.id, [refused()], execution.version, None)
                    done += 1
            users.change_array(one.id, lambda it, _: ArrayChange(it, ArrayEventKind.MODIFIED, {}), 61.0, "request")
        return done

    with ThreadPoolExecutor(1) as pool:
        cancelling = pool.submit(cancels)
        for first in range(0, 300, 10):
            while True:
                present = store.array(one.id)
                wanted = [(position, execution_of(present, position, 50.0)) for position in range(first, first + 10)]
                fresh = store.make_of_array(present, wanted, "plan", epoch)
                if fresh is not None:
                    break
            changes = [
                ExecutionChange(it, [refused(Outcome.FAILED)], apply(it, refused(Outcome.FAILED))) for it in fresh[:5]
            ]
            store.append_all(changes, epoch)
        cancelled = cancelling.result(60)
    found, states = store.array_with_states(one.id)
    executions = store.executions(ExecutionQuery(array_id=one.id, limit=300)).executions
    assert len(executions) == 300
    by_state = Counter(it.state for it in executions)
    assert found.count(IndexState.CANCELLED) == by_state[ExecutionState.CANCELLED] == cancelled
    assert found.count(IndexState.FAILED) == by_state[ExecutionState.FAILED]
    assert found.count(IndexState.ACTIVE) == sum(not it.terminal for it in executions)
    assert dict(found.counts) == dict(count_by_state(states))
