"""Views of arrays: by state, page by page, and without details for owners."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import application, component, execution
from zoe_api.arrays import views as array_views
from zoe_client.vocabulary import DependencyKind, Holder, IndexState
from zoe_client.wire import IndexView
from zoe_lib.domain.executions.arrays import CODES, Array, count_by_state
from zoe_lib.domain.executions.execution import Cause, ExecutionState
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.values.conditions import Conditions, Dependency

WAITING, ACTIVE, SUCCEEDED, FAILED = (
    IndexState.WAITING,
    IndexState.ACTIVE,
    IndexState.SUCCEEDED,
    IndexState.FAILED,
)
FULL = application(component("main", environment=(("KEY", "secret"),)))
STATES = bytes(CODES[state] for state in (SUCCEEDED, ACTIVE, WAITING, WAITING, FAILED))

RUNNING = {ExecutionState.RUNNING: 1}


def array(indices: str = "2-10:2", states: bytes = STATES, **changes: Any) -> Array:
    found, at_once = parse_array(indices, 100_000)
    given = {"corr": ("a0123456789abce",), "notes": ("note",), **changes}
    return Array(
        "a0123456789abcd", "many", "iostack", "ada", FULL, 1.0, found, at_once, counts=count_by_state(states), **given
    )


def test_a_summary_tells_indices_and_their_states() -> None:
    told = array_views.array_summary(
        array("2-10:2%3", priority=4, deadline_s=9.0, late_count=1, run=2, version=3), RUNNING
    )
    assert (told.id, told.name, told.application, told.tenant, told.user) == (
        "a0123456789abcd",
        "many",
        "sums",
        "iostack",
        "ada",
    )
    assert (told.indices, told.size, told.at_once_max, told.state) == ("2-10:2", 5, 3, ExecutionState.RUNNING)
    assert (told.priority, told.deadline_s, told.late_count, told.run, told.version) == (4, 9.0, 1, 2, 3)
    assert (told.notes, told.reason) == (["note"], None)
    assert told.counts == {SUCCEEDED: 1, ACTIVE: 1, WAITING: 2, FAILED: 1}
    assert told.active_states == {ExecutionState.RUNNING: 1}


def test_a_summary_is_queued_while_its_executions_are() -> None:
    assert array_views.array_summary(array(), {ExecutionState.QUEUED: 1}).state is ExecutionState.QUEUED
    waiting = array(states=bytes(5))
    told = array_views.array_summary(waiting, {ExecutionState.QUEUED: 1})  # a promise is decided first
    assert (told.state, told.active_states) == (ExecutionState.SUBMITTED, {})


def test_a_hold_is_a_reason_until_all_has_ended() -> None:
    held = array(conditions=Conditions(held=Holder.USER))
    reason = array_views.array_summary(held, {}).reason
    assert reason is not None
    assert reason.code == "held"
    assert array_views.array_summary(replace(held, ended_at_s=5.0), {}).reason is None


def test_indices_are_told_by_state() -> None:
    told = array_views.array_view(array(), STATES, {})
    assert told.ranges == {WAITING: "6,8", ACTIVE: "4", SUCCEEDED: "2", FAILED: "10"}
    assert (told.corr, told.promise) == (["a0123456789abce"], None)
    assert told.description["components"][0]["environment"] == {"KEY": "secret"}


def test_others_see_neither_values_nor_what_it_runs_after() -> None:
    after = (Dependency(DependencyKind.OK, "x"),)
    one = array(conditions=Conditions(Holder.USER, 7.0, after, keep=True))
    told = array_views.array_view(one, STATES, {}, with_secrets=False)
    assert told.corr == []
    assert told.description["components"][0]["environment"] == {"KEY": ""}
    assert told.conditions is not None
    assert (told.conditions.held, told.conditions.begin_at_s, list(told.conditions.after)) == ("user", 7.0, [])


def test_a_long_list_of_ranges_is_cut_behind_a_whole_one() -> None:
    states = bytes([CODES[WAITING], CODES[WAITING], CODES[FAILED]] * 3333 + [CODES[WAITING]])
    one = array("0-9999", states)
    text = array_views.array_view(one, states, {}).ranges[WAITING]
    assert text.endswith(",...")
    assert 3980 < len(text) <= 4004
    assert all(part == "..." or part.replace("-", "").isdigit() for part in text.split(","))


@pytest.mark.parametrize(
    ("wanted", "after", "limit", "found"),
    [
        (None, None, 10, [2, 4, 6, 8, 10]),
        (None, None, 2, [2, 4]),
        (None, 4, 10, [6, 8, 10]),
        (None, 3, 1, [4]),
        (None, 10, 10, []),
        ({WAITING}, None, 10, [6, 8]),
        ({WAITING}, 6, 10, [8]),
        ({SUCCEEDED, FAILED}, None, 10, [2, 10]),
        ({IndexState.CANCELLED}, None, 10, []),
    ],
)
def test_indices_are_found_by_state_behind_an_index(
    wanted: set[IndexState] | None, after: int | None, limit: int, found: list[int]
) -> None:
    chosen = None if wanted is None else frozenset(wanted)
    assert [index for index, _ in array_views.indices_found(array(), STATES, chosen, after, limit)] == found


def test_index_zero_is_the_first() -> None:
    assert array_views.indices_found(array("0-1", STATES[:2]), STATES[:2], None, None, 1) == [(0, SUCCEEDED)]
    assert array_views.indices_found(array("0-1", STATES[:2]), STATES[:2], None, 0, 5) == [(1, ACTIVE)]


def test_a_brief_page_is_json() -> None:
    found = [(2, SUCCEEDED), (10, FAILED)]
    assert json.loads(array_views.brief_text(found, 10)) == {
        "indices": [{"index": 2, "state": "succeeded"}, {"index": 10, "state": "failed"}],
        "next_after": 10,
    }
    assert json.loads(array_views.brief_text([], None)) == {"indices": [], "next_after": None}
    assert json.loads(array_views.brief_text([], 0))["next_after"] == 0


def test_an_index_tells_its_newest_execution() -> None:
    view = IndexView(index=1, state=FAILED)
    assert array_views.with_execution(view, None) is view
    one = execution(1, state=ExecutionState.FAILED, exit_code=3, cause=Cause.EXITED, message="bye")
    told = array_views.with_execution(view, one)
    assert (told.execution_id, told.execution_state, told.exit_code) == (one.id, "failed", 3)
    assert (told.cause, told.message, told.index) == ("exited", "bye", 1)
