"""Differences between two executions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import application, component, execution
from tests.support.plain_api import after
from tests.support.scheduling import started
from zoe_api.executions import diffing
from zoe_api.executions.diffing import diff_of
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark
from zoe_lib.store.values import ExecutionUse


def differences(before: Any, later: Any, hidden: bool = False, **use: ExecutionUse) -> dict[str, tuple[Any, Any, Any]]:
    told = diff_of(before, later, use, hidden)
    return {entry.path: (entry.part.value, entry.before, entry.after) for entry in told.entries}


ONE = execution(1, name="x")


def test_the_same_differs_in_nothing() -> None:
    told = diff_of(ONE, ONE, {}, False)
    assert (told.entries, told.complete, told.before, told.after) == ([], True, ONE.id, ONE.id)


def test_outcome_times_and_use_are_compared() -> None:
    first = execution(
        1,
        state=ExecutionState.FAILED,
        cause=Cause.EXITED,
        exit_code=3,
        message="bye",
        priority=2,
        marks={Mark.STARTED: 11.0, Mark.ENDED: 31.00049},
    )
    second = execution(1, id="later", attempt=2, user="bob", marks={Mark.STARTED: 4.5})
    told = differences(first, second, **{first.id: ExecutionUse(first.id, 5.0)})
    assert told["state"] == ("outcome", "failed", "submitted")
    assert told["cause"] == ("outcome", "exited", None)
    assert (told["exit_code"][1], told["message"][1], told["attempt"][1:], told["user"][1:]) == (
        3,
        "bye",
        (1, 2),
        ("ada", "bob"),
    )
    assert told["priority"][1:] == (2, 0)
    assert told["waited_s"] == ("times", 10.0, 3.5)
    assert told["run_s"] == ("times", 20.0, None)
    assert told["cpu_s"] == ("use", 5.0, None)
    assert "submitted_at_s" not in told
    placed = started(after(ONE, ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)), "n2", "n1", "n1")
    assert differences(ONE, placed)["nodes"] == ("outcome", [], ["n1", "n2"])


@pytest.mark.parametrize(
    ("changes", "path", "part", "values"),
    [
        ({"image": "b"}, "/components/main/image", "image", ("zoe/test", "b")),
        ({"environment": (("KEY", "b"),)}, "/components/main/environment/KEY", "environment", ("value", "b")),
        ({"environment": (("B", "b"),)}, "/components/main/environment/KEY", "environment", ("value", None)),
        ({"environment": ()}, "/components/main/environment", "environment", ({"KEY": "value"}, None)),
        ({"total_count": 3}, "/components/main/total_count", "resources", (1, 3)),
        ({"command": ("y",)}, "/components/main/command", "description", (["run", "{host:self}"], ["y"])),
    ],
)
def test_fields_of_descriptions_are_found_by_names(
    changes: dict[str, Any], path: str, part: str, values: tuple[Any, Any]
) -> None:
    before = execution(1, application=application(component("main")))
    later = execution(1, application=application(component("main", **changes)))
    assert differences(before, later)[path] == (part, *values)


def test_the_order_of_components_says_nothing() -> None:
    a, b = component("a"), component("b")
    before, later = (execution(1, application=application(*some)) for some in ((a, b), (b, a)))
    assert differences(before, later) == {}
    assert any("/components/b" in path for path in differences(before, execution(1, application=application(a))))


def test_values_are_hidden_from_those_who_may_not_see_them() -> None:
    before, later = (
        execution(1, application=application(component("main", environment=(("KEY", value),)))) for value in "ab"
    )
    assert differences(before, later, hidden=True) == {}
    assert diff_of(before, later, {}, True).hidden
    assert len(differences(before, later)) == 1


def test_a_thousand_differences_are_told() -> None:
    assert diffing.ENTRIES_MAX == 1000
    for number, complete in ((1000, True), (1001, False)):
        values = (("A", ""), *((f"K{n:04}", "v") for n in range(number)))
        later = execution(1, application=application(component("main", environment=values)))
        before = execution(1, application=application(component("main", environment=(("A", ""),))))
        told = diff_of(before, later, {}, False)
        assert (len(told.entries), told.complete) == (1000, complete)


def test_types_tell_values_apart_and_long_texts_are_cut() -> None:
    assert list(diffing._walk("", {"a": 1}, {"a": True})) == [("/a", 1, True)]
    assert list(diffing._walk("", {"a": 1}, {"a": 1.0})) == [("/a", 1, 1.0)]
    assert list(diffing._walk("", {"a": [1]}, {"a": [1]})) == []
    assert diffing._shorten_value("x" * 4000) == "x" * 4000
    assert diffing._shorten_value("x" * 4001) == "x" * 4000 + "..."
    assert diffing._shorten_value(diffing._MISSING) is None
    assert diffing._by_name([]) == []
    assert diffing._by_name([{"name": "a"}, 5]) == [{"name": "a"}, 5]
