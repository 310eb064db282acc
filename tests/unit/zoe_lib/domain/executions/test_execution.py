"""Run time of an execution."""

from __future__ import annotations

from functools import reduce

from tests.support.applications import application, component, execution
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome, new_services, ran_s
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.frozen import changed


def ended(program_ends_s: float, noted_s: float) -> Execution:
    """An execution placed at 10 whose program ended then, which the master saw later."""
    sums = application(component("main", ends_application=True))
    one = execution(application=sums)
    one = changed(one, services=new_services(one.id, sums, 1))
    (service,) = one.services
    told: list[ev.Event] = [
        ev.Queued(at_s=5.0),
        ev.StartPlanned(at_s=10.0, placements=(ev.Placement(service_id=service.id, node="n"),)),
        ev.ServiceStarting(at_s=10.0, service_id=service.id),
        ev.ServiceStarted(at_s=11.0, service_id=service.id),
        ev.ServiceEnded(at_s=program_ends_s, service_id=service.id, cause=Cause.EXITED, exit_code=0),
        ev.Stopping(at_s=noted_s, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED, exit_code=0),
        ev.Ended(at_s=noted_s),
    ]
    return reduce(apply, told, one)


def test_it_ran_until_its_program_ended_though_the_master_was_away() -> None:
    assert ran_s(ended(30.0, 30.1)) == 20.0
    assert ran_s(ended(30.0, 900.0)) == 20.0


def test_a_clock_of_a_node_that_is_ahead_or_behind_makes_no_odd_run_time() -> None:
    assert ran_s(ended(35.0, 30.0)) == 20.0
    assert ran_s(ended(9.0, 30.0)) == 0.0


def test_unplaced_or_unfinished_execution_has_no_run_time() -> None:
    waits = apply(execution(), ev.Queued(at_s=5.0))
    assert ran_s(waits) is None
    assert ran_s(apply(waits, ev.Refused(at_s=9.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED))) is None
