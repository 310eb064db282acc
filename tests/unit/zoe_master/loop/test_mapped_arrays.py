"""An array over a list makes one execution for each entry, in order, exactly once."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.applications import application, component
from tests.support.array_world import Killed, World
from tests.support.checks import of_checks
from zoe_client.vocabulary import DependencyKind, ExecutionState, IndexState, ListProblem
from zoe_lib.domain.applications.entries import ENTRIES_MAX
from zoe_lib.domain.applications.entry_reading import ListRefused
from zoe_lib.domain.cluster.policy import with_limits
from zoe_lib.domain.executions.arrays import ArrayEventKind, again, cancel, list_refused
from zoe_lib.domain.executions.limits import EVERY, Limits
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.store.values import ArrayChange
from zoe_master.state.arrays import MADE_MAX, WINDOW_MAX
from zoe_master.state.crash_points import CrashPoint

SCALARS = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)


def text(entry: Any) -> str:
    return json.dumps(entry) if isinstance(entry, bool) else str(entry)


@settings(max_examples=of_checks(0.2, 200), deadline=None)
@given(st.lists(SCALARS, max_size=12), st.integers(0, 2**32), st.sampled_from([None, 1, 3]))
def test_each_entry_runs_once_whatever_ends_the_master(entries: list[Any], seed: int, at_once: int | None) -> None:
    world, chosen = World(), random.Random(seed)

    def hit(_: CrashPoint) -> None:
        if chosen.random() < 0.02:
            raise Killed

    world.hit = hit
    array = world.submit_for(entries, at_once=at_once)
    world.rest()
    done = world.store.array(array.id)
    assert done.state is ExecutionState.SUCCEEDED
    assert done.indices.count == len(entries)
    assert world.arguments(array) == [text(entry) for entry in entries]
    world.check_once_each(done)


def test_a_list_that_was_written_before_the_master_died_is_not_written_again() -> None:
    world = World()
    array = world.submit_for(["a", "b"])
    world.master.tick()
    world.read_lists()
    world.lead()
    world.lists[array.id] = b'["other"]'
    world.rest()
    assert world.arguments(array) == ["a", "b"]


def test_fields_of_an_object_are_filled_in_as_text() -> None:
    world = World()
    each = component("main", readiness=None, command=("run", "{each:part.name}"))
    fields = [{"name": "{workspace} {each:part}", "n": 1}]
    array = world.submit_for(fields, application=application(each))
    world.rest()
    [execution] = world.store._state.executions.values()
    assert world.arguments(array) == ["{workspace} {each:part}"]
    assert execution.id == f"{array.id}_0"


def test_an_empty_list_is_a_success_for_what_runs_after_it() -> None:
    world = World()
    array = world.submit_for([])
    after = world.submit("0", 2, conditions=Conditions(after=(Dependency(DependencyKind.OK, array.id),)))
    world.rest()
    assert world.store.array(array.id).state is ExecutionState.SUCCEEDED
    assert world.store.array(after.id).state is ExecutionState.SUCCEEDED
    assert world.started == [f"{after.id}_0"]


def test_the_list_is_read_when_what_makes_it_has_succeeded() -> None:
    world = World()
    producer = world.submit("0", 2)
    array = world.submit_for(["a"], conditions=Conditions(after=(Dependency(DependencyKind.OK, producer.id),)))
    world.master.tick()
    assert world.master.due_lists() == []
    world.rest()
    assert world.started == [f"{producer.id}_0", f"{array.id}_0"]


def test_no_list_is_read_when_what_makes_it_has_failed() -> None:
    world = World()
    producer = world.submit("0", 2)
    world.failing.add(0)
    array = world.submit_for(["a"], conditions=Conditions(after=(Dependency(DependencyKind.OK, producer.id),)))
    world.lists.clear()
    world.rest()
    assert world.store.array(array.id).state is ExecutionState.FAILED
    assert world.started == [f"{producer.id}_0"]


def test_array_cancelled_before_its_list_makes_no_executions() -> None:
    world = World()
    array = world.submit_for(["a"])
    world.store.change_array(
        array.id, lambda a, s: ArrayChange(cancel(a, s, "ada"), ArrayEventKind.CANCELLED, {}), 1.0, "request"
    )
    world.rest()
    assert (world.store.array(array.id).state, world.started) == (ExecutionState.CANCELLED, [])


def test_a_list_that_is_refused_fails_the_array_with_the_reason() -> None:
    world = World()
    array = world.submit_for(["a"])
    why = ListRefused(ListProblem.BAD_ENTRY, "entry 3 is null", "write texts")

    world.store.change_array(
        array.id, lambda a, s: ArrayChange(list_refused(a, s, why), ArrayEventKind.LIST_REFUSED, {}), 1.0, "list"
    )
    world.rest()
    done = world.store.array(array.id)
    assert (done.state, done.message) == (ExecutionState.FAILED, "entry 3 is null")
    assert done.entries is not None
    assert (done.entries.problem, done.entries.hint) == (ListProblem.BAD_ENTRY, "write texts")
    assert world.started == []


def test_all_must_have_ended_by_the_deadline_whether_they_wait_or_run() -> None:
    world = World(cores=1000)
    array = world.submit_for(["a", "b", "c"], at_once=1, conditions=Conditions(end_by_s=1001.6))
    world.rest()
    done = world.store.array(array.id)
    assert done.state is ExecutionState.FAILED
    assert done.count(IndexState.SUCCEEDED) == 1
    assert "had not ended at the required time" in done.message


def test_ten_thousand_entries_do_not_hold_up_what_others_submit() -> None:
    """They become executions as the queue takes them; none starts here, since there is no room."""
    world = World(cores=0)
    array = world.submit_for(list(range(ENTRIES_MAX)))
    for _ in range(5):
        world.read_lists()
        world.master.tick()
    stored = world.store.array(array.id)
    assert stored.count(IndexState.WAITING) == ENTRIES_MAX - WINDOW_MAX
    assert stored.count(IndexState.ACTIVE) == WINDOW_MAX <= MADE_MAX
    assert world.arguments(array) == [str(n) for n in range(WINDOW_MAX)]
    other = world.submit("0", 2)
    world.read_lists()
    world.master.tick()
    assert world.store.array(other.id).count(IndexState.ACTIVE) == 1


def test_limits_of_executions_hold_for_entries() -> None:
    world = World(cores=0)
    world.store._state.policy = with_limits(world.store.policy(), Limits(tenants={EVERY: {"executions": 4}}))
    array = world.submit_for(list(range(10)))
    for _ in range(5):
        world.read_lists()
        world.master.tick()
    assert world.store.array(array.id).count(IndexState.ACTIVE) == 4


@pytest.mark.parametrize("entries", [["a"], ["a", "b", "c"]])
def test_failed_entries_run_again_with_the_same_list(entries: list[Any]) -> None:
    world = World()
    world.failing.add(0)
    array = world.submit_for(entries)
    world.rest()
    assert world.store.array(array.id).state is ExecutionState.FAILED
    world.failing.clear()
    world.lists.clear()
    world.store.change_array(array.id, lambda a, s: ArrayChange(again(a, s), ArrayEventKind.AGAIN, {}), 1.0, "request")
    world.rest()
    assert world.store.array(array.id).state is ExecutionState.SUCCEEDED
    assert world.arguments(array) == ["a", *entries]
