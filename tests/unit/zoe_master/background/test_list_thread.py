"""Lists are read beside the loop: each once, one at a time per owner, with a time limit for retries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.support.array_world import World
from tests.support.manual_clock import ManualClock
from tests.support.waiting import until
from zoe_client.vocabulary import ExecutionState, ListProblem
from zoe_lib.domain.applications.entry_reading import ListRefused
from zoe_lib.domain.executions.arrays import Array
from zoe_master.background.list_reading import ListUnavailable
from zoe_master.background.list_thread import GIVEN_UP_S, MISSING_S, EntryListThread


class Read:
    """Results or exceptions of reading lists, by the id of the array."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Exception] = {}
        self.asked: list[str] = []
        self.gates: dict[str, threading.Event] = {}

    def __call__(self, array: Array) -> bytes:
        self.asked.append(array.id)
        if array.id in self.gates:
            self.gates[array.id].wait(10)
        answer = self.answers[array.id]
        if isinstance(answer, Exception):
            raise answer
        return answer


@contextmanager
def reading(world: World, read: Read, entries_max: int = 10_000) -> Iterator[Callable[[float], None]]:
    """Yield a function that lets time pass and makes the thread look."""
    clock = ManualClock()
    thread = EntryListThread(world.master.due_lists, world.store, read, lambda: None, entries_max, clock)
    try:
        yield clock.step
    finally:
        thread.close()


def due(world: World, number: int = 1, user: str = "ada") -> Array:
    array = world.submit_for(["x"], number, user=user)
    world.master.tick()
    return array


def test_entries_are_given_once_the_list_is_read() -> None:
    world, read = World(), Read()
    array = due(world)
    read.answers[array.id] = b'["a", "b"]'
    with reading(world, read) as advance:
        advance(1.0)
        until(lambda: world.store.array(array.id).indices.count == 2)
        world.master.tick()
        assert world.master.due_lists() == []
        advance(100.0)
    assert read.asked == [array.id]
    assert world.arguments(array) == ["a", "b"]


@pytest.mark.parametrize(
    ("answer", "tried_s", "problem"),
    [
        (ListUnavailable("no node"), GIVEN_UP_S, ListProblem.UNREADABLE),
        (ListRefused(ListProblem.MISSING, "gone"), MISSING_S, ListProblem.MISSING),
    ],
)
def test_missing_list_is_awaited_and_given_up_with_the_reason(
    answer: Exception, tried_s: float, problem: ListProblem
) -> None:
    world, read = World(), Read()
    array = due(world)
    read.answers[array.id] = answer
    with reading(world, read) as advance:
        for number in range(1, 4):
            until(lambda n=number: advance(0.3) or len(read.asked) >= n)
        assert world.store.array(array.id).state is ExecutionState.SUBMITTED
        until(lambda: advance(tried_s) or world.store.array(array.id).state is ExecutionState.FAILED)
    entries = world.store.array(array.id).entries
    assert entries is not None
    assert (entries.problem, world.store.array(array.id).message) == (problem, str(answer))


@pytest.mark.parametrize(
    ("content", "problem"), [(b"nonsense", ListProblem.NOT_JSON), (b"[1, 2, 3]", ListProblem.TOO_MANY)]
)
def test_unusable_list_is_refused_at_once(content: bytes, problem: ListProblem) -> None:
    world, read = World(), Read()
    array = due(world)
    read.answers[array.id] = content
    with reading(world, read, entries_max=2) as advance:
        advance(1.0)
        until(lambda: world.store.array(array.id).state is ExecutionState.FAILED)
    entries = world.store.array(array.id).entries
    assert entries is not None
    assert entries.problem is problem
    assert entries.hint


def test_slow_lists_of_one_owner_hold_up_one_worker_only() -> None:
    """Two lists of one owner hang, one after another; another owner's is read meanwhile."""
    world, read = World(), Read()
    slow, next_one, other = due(world, 1), due(world, 2), due(world, 3, "bob")
    read.gates = {slow.id: threading.Event(), next_one.id: threading.Event()}
    read.answers = dict.fromkeys((slow.id, next_one.id, other.id), b"[]")
    with reading(world, read) as advance:
        advance(1.0)
        until(lambda: world.store.array(other.id).ended_at_s is not None)
        advance(1.0)
        assert read.asked.count(next_one.id) == 0
        for gate in read.gates.values():
            gate.set()
        until(lambda: world.store.array(slow.id).ended_at_s is not None)
        world.master.tick()
        advance(1.0)
        until(lambda: world.store.array(next_one.id).ended_at_s is not None)
