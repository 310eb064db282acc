"""Events that follow from the states of services: all of one tick, in order."""

from __future__ import annotations

from functools import reduce

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.domain.lifecycle.lifecycle import apply

ONE = application(component("main", ends_application=True))
TWO = application(component("main", ends_application=True), component("other"))


def starting(made: Execution) -> Execution:
    made = apply(made, ev.Submitted(at_s=1.0))
    placed = tuple(ev.Placement(service_id=service.id, node="n") for service in made.services)
    events: list[ev.Event] = [ev.Queued(at_s=1.0), ev.StartPlanned(at_s=1.0, placements=placed)]
    events += [ev.ServiceStarting(at_s=1.0, service_id=service.id) for service in made.services]
    return reduce(apply, events, made)


def ran(one: Execution, number: int, exit_code: int | None) -> Execution:
    """A service that started, and ended with this code, between two looks of the master; None: it still runs."""
    service_id = one.services[number].id
    events: list[ev.Event] = [kind(at_s=2.0, service_id=service_id) for kind in (ev.ServiceStarted, ev.ServiceReady)]
    if exit_code is not None:
        events += [ev.ServiceEnded(at_s=2.1, service_id=service_id, cause=Cause.EXITED, exit_code=exit_code)]
    return reduce(apply, events, one)


@pytest.mark.parametrize(("code", "state"), [(0, ExecutionState.SUCCEEDED), (3, ExecutionState.FAILED)])
def test_an_execution_that_ran_between_two_looks_has_run(code: int, state: ExecutionState) -> None:
    """Its user hears of its start, and then of its end."""
    after, events = settle(ran(starting(execution(1, application=ONE)), 0, code), 3.0, Policy(), "plan")
    assert [event.kind for event in events] == ["running", "stopping", "ended"]
    assert (after.state, after.marks[Mark.READY]) == (state, 3.0)


def test_an_execution_whose_other_services_were_never_ready_has_not_run() -> None:
    one = ran(starting(execution(1, application=TWO)), 0, 3)
    assert [event.kind for event in settle(one, 3.0, Policy(), "plan")[1]][:1] == ["stopping"]
    both = ran(one, 1, None)
    assert [event.kind for event in settle(both, 3.0, Policy(), "plan")[1]][:2] == ["running", "stopping"]
