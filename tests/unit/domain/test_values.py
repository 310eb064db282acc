"""`changed` gives what `dataclasses.replace` gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import queued, started
from zoe_lib.domain.execution import ExecutionState, ServiceState
from zoe_lib.domain.values import changed


def test_the_result_is_that_of_replace_and_the_value_stays_what_it_was() -> None:
    execution = started(queued("x"), "n")
    before = repr(execution)
    result = changed(execution, state=ExecutionState.STOPPING, version=9, message="m")
    assert result == replace(execution, state=ExecutionState.STOPPING, version=9, message="m")
    assert repr(execution) == before
    service = execution.services[0]
    assert changed(service, state=ServiceState.LOST) == replace(service, state=ServiceState.LOST)


def test_the_result_is_frozen_too() -> None:
    with pytest.raises(AttributeError):
        changed(queued("x"), version=2).version = 3  # type: ignore[misc]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no field colour"):
        changed(queued("x"), colour=1)  # type: ignore[call-arg]
