"""The guaranteed rate of a promise: never below the terms, and as in the terms again in the next attempt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Outcome
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.finish_times import FinishTerms, Promise
from zoe_lib.domain.values.storage import StorageDemand, StorageObject

DEMAND = StorageDemand(inputs=(StorageObject("in", "swift2d://c.zoe/in"),))
TERMS = FinishTerms(1000.0, 0.9, 0, 100.0, 0.0, read_bytes_per_s=10)


def running(terms: FinishTerms = TERMS) -> Execution:
    asks = application(component(essential=1, total=1), storage=DEMAND)
    submitted = replace(execution(), application=asks)
    promised = apply(submitted, ev.Promised(at_s=1.0, terms=terms))
    return replace(promised, state=ExecutionState.RUNNING)


def read_rate(one: Execution) -> int | None:
    rates = required_rates(one.application)
    return None if rates is None else rates.read


def test_guaranteed_rate_is_required_of_the_store() -> None:
    one = running()
    higher = apply(one, ev.PromiseAdjusted(at_s=2.0, elastic=0, read_bytes_per_s=30))
    assert (read_rate(one), read_rate(higher)) == (10, 30)
    assert higher.promise is not None
    assert [higher.promise.rate(attempt) for attempt in (1, 2)] == [30, 10]
    back = apply(higher, ev.PromiseAdjusted(at_s=3.0, elastic=0))
    assert read_rate(back) == 10, "an event of before had no rate"


def test_it_never_guarantees_less_than_promised_nor_a_rate_that_was_not_promised() -> None:
    with pytest.raises(IllegalTransition):
        apply(running(), ev.PromiseAdjusted(at_s=2.0, elastic=0, read_bytes_per_s=9))
    without = running(replace(TERMS, read_bytes_per_s=None))
    with pytest.raises(IllegalTransition):
        apply(without, ev.PromiseAdjusted(at_s=2.0, elastic=0, read_bytes_per_s=9))


def test_the_next_attempt_has_the_promised_rate() -> None:
    higher = apply(running(), ev.PromiseAdjusted(at_s=2.0, elastic=0, read_bytes_per_s=30))
    stopping = replace(higher, state=ExecutionState.STOPPING, outcome=Outcome.FAILED, services=())
    again = apply(stopping, ev.Requeued(at_s=4.0))
    assert isinstance(again.promise, Promise)
    assert (again.attempt, read_rate(again), again.promise.rate(again.attempt)) == (2, 10, 10)
