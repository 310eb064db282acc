"""What is said of the services of a placed execution."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import after
from tests.support.scheduling import node, started
from zoe_api.access.service_conditions import service_conditions
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Service, ServiceState

QUEUED = after(execution(1), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0))
NODES = (node("n1"), node("n2", ready=False, message="cannot reach its engine: no route to host"))


def service(**changes: Any) -> Service:
    made = Service("e.c.0.1", "c", 0, True, state=ServiceState.READY, node="n1", started_at_s=1.0)
    return replace(made, **changes)


def running(*services: Service, state: ExecutionState = ExecutionState.RUNNING) -> Execution:
    return replace(QUEUED, state=state, services=services)


def said(placed: Execution, told: Any = None, operates: bool = False) -> list[tuple[str, str]]:
    return [(one.name, one.sentence) for one in service_conditions(placed, told or {}, NODES, operates)]


KILLED = service(state=ServiceState.ENDED, cause=Cause.KILLED, exit_code=137, message="killed from outside")
AGAIN = service(id="e.c.0.2", attempt=2, state=ServiceState.STARTING)


@pytest.mark.parametrize(
    ("services", "sentences"),
    [
        ([service()], []),
        ([service(state=ServiceState.STARTING)], [("c-0", "it is being started")]),
        ([service(node="n2")], [("c-0", "node n2 is not ready")]),
        ([service(state=ServiceState.STOPPING)], [("c-0", "it is being stopped")]),
        ([KILLED], [("c-0", "it ended: killed (exit code 137): killed from outside")]),
        (
            [KILLED, AGAIN],
            [
                ("c-0", "it ended: killed (exit code 137): killed from outside"),
                ("c-0 (attempt 2)", "it is being started"),
            ],
        ),
        ([KILLED, replace(AGAIN, state=ServiceState.READY)], []),
        ([service(state=ServiceState.ENDED, cause=Cause.EXITED, exit_code=0)], []),
        ([service(state=ServiceState.ENDED, cause=Cause.SCALED_DOWN)], []),
        (
            [service(state=ServiceState.LOST, message="node n1 is down")],
            [("c-0", "it was lost with node n1: node n1 is down")],
        ),
    ],
)
def test_services_without_trouble_are_left_out(services: list[Service], sentences: list[tuple[str, str]]) -> None:
    assert said(running(*services)) == sentences


def test_the_back_ends_sentence_comes_first_and_details_are_for_operators() -> None:
    told = {"e.c.0.1": {"message": "its container is paused", "detail": "10.0.0.1"}}
    away = running(service(node="n2"))
    assert said(away, told) == [("c-0", "its container is paused; node n2 is not ready")]
    [seen] = service_conditions(away, told, NODES, operates=True)
    assert seen.sentence.endswith("node n2 is not ready: cannot reach its engine: no route to host")
    assert (seen.detail, service_conditions(away, told, NODES, operates=False)[0].detail) == ("10.0.0.1", "")


@pytest.mark.parametrize("state", [ExecutionState.QUEUED, ExecutionState.FAILED])
def test_nothing_is_said_before_it_is_placed_and_after_its_end(state: ExecutionState) -> None:
    assert said(running(KILLED, state=state)) == []
    assert started(QUEUED, "n1", "n1", "n1", "n1").state is ExecutionState.STARTING
