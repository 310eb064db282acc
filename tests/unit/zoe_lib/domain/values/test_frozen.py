"""Values compare and hash as frozen dataclasses do, and `changed` gives what `dataclasses.replace` gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import queued, started
from zoe_lib.domain.executions.execution import ExecutionState, ServiceState
from zoe_lib.domain.values.frozen import changed, value


@value(frozen=True, slots=True)
class Spot:
    """A value."""

    x: int
    y: int


def test_the_result_is_that_of_replace_and_the_value_stays_what_it_was() -> None:
    execution = started(queued("x"), "n")
    before = repr(execution)
    result = changed(execution, state=ExecutionState.STOPPING, version=9, message="m")
    assert result == replace(execution, state=ExecutionState.STOPPING, version=9, message="m")
    assert repr(execution) == before
    service = execution.services[0]
    assert changed(service, state=ServiceState.LOST) == replace(service, state=ServiceState.LOST)


def test_equal_values_are_one_key() -> None:
    result = changed(Spot(1, 2), y=3)
    assert {result: "here"}[Spot(1, 3)] == "here"
    assert result != Spot(1, 2)


def test_the_type_checker_keeps_values_frozen() -> None:
    Spot(1, 2).x = 3  # type: ignore[misc]  # an ignore that is not needed is refused there


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="colour"):
        changed(queued("x"), colour=1)  # type: ignore[call-arg]
