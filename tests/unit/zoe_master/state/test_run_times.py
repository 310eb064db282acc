"""Recorded executions are learned by other threads, in their original order."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources
from zoe_master.state.run_times import LearnedRunTimes

WORK = application(component("worker", 1, 6, reservation=Resources(2000, 1)))
TENANT, USER = execution().tenant, execution().user


def submitted(number: int, **changes: object) -> Execution:
    return execution(number, application=WORK, **changes)


def ended(number: int, run_s: float, state: ExecutionState = ExecutionState.SUCCEEDED) -> Execution:
    """Return an execution that was placed ten seconds after its submission."""
    at_s = float(number) + 10
    marks = {Mark.PLACED: at_s, Mark.READY: at_s, Mark.ENDED: at_s + run_s}
    return submitted(number, state=state, marks=marks)


def learned(executions: Sequence[Execution]) -> LearnedRunTimes:
    times = LearnedRunTimes()
    for ended in executions:
        times.note(ended)
    assert times.work_off(10_000) == len(executions)
    return times


def test_choices_are_powers_of_two_and_all() -> None:
    times = learned([ended(number, 100.0) for number in range(1, 4)])
    found = times.choices(WORK, TENANT, USER)
    assert [choice.elastic for choice in found] == [0, 1, 2, 4, 5]
    assert [choice.cores for choice in found] == [2, 4, 6, 10, 12]
    assert found[0].p50_s == pytest.approx(100)
    assert all(choice.samples == 3 and choice.wide for choice in found)
    rigid = changed(WORK, components=(component("worker", 1),))
    assert [choice.elastic for choice in times.choices(rigid, TENANT, USER)] == [0]


def test_other_tenants_and_failed_executions_teach_no_run_time() -> None:
    times = learned([ended(1, 100.0), ended(2, 100.0, ExecutionState.FAILED)])
    assert times.choices(WORK, "other", USER) == ()
    assert all(choice.wide for choice in times.choices(WORK, TENANT, "other")), "of another user in the tenant"
    assert times.choices(WORK, TENANT, USER)[0].samples == 1


def test_recalled_executions_come_first_in_their_order() -> None:
    times = LearnedRunTimes()
    times.note(submitted(9))
    # All were submitted before the first had ended: none could learn from an earlier one.
    times.recall([ended(3, 300.0), ended(1, 100.0), ended(2, 200.0)])
    order = [(execution.id, is_end) for execution, is_end in times._news]
    first, second, third = (execution(number).id for number in (1, 2, 3))
    assert order == [
        (first, False), (second, False), (third, False), (first, True), (second, True), (third, True),
        (execution(9).id, False),
    ]  # fmt: skip


def test_the_loop_never_waits_for_who_learns() -> None:
    """News push out the oldest, and several threads read and learn at once."""
    times = LearnedRunTimes()
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(300):
                times.choices(WORK, TENANT, USER)
                times.work_off(5)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 30_000):
        times.note(ended(number, 10.0) if number % 50 == 0 else submitted(number))
    for thread in threads:
        thread.join()
    assert not errors
    assert len(times._news) <= 20_000


def test_an_end_that_is_told_twice_is_learned_once() -> None:
    """Its reads are known later; a fit takes milliseconds."""
    times, one = LearnedRunTimes(), ended(1, 100.0)
    times.note(one)
    times.note(ended(2, 100.0))
    times.note(changed(one, marks={**one.marks, Mark.ENDED: one.marks[Mark.PLACED] + 200.0}))
    assert times.work_off(10) == 3
    assert [found.samples for found in times.choices(WORK, TENANT, USER)][:1] == [2]
    assert times.choices(WORK, TENANT, USER)[0].p50_s > 100.0
