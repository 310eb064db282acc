"""SIGKILL of the master at every named step of a run and of a cancellation: the next finishes, nothing runs twice."""

from __future__ import annotations

import signal

import pytest

from tests.support.documents import Document, document, part
from tests.support.installation import Installation, Program
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.state.crash_points import CrashPoint

# Without a storage controller there is nothing to synchronise or to decide; with one: tests/storage.
NEVER_REACHED = {step for step in CrashPoint if step.startswith(("storage_", "slo_", "view_", "inputs_"))}
# A cancellation is journaled by the API, so the master never decides to stop.
NEVER_REACHED_BY_CANCELLING = {*NEVER_REACHED, CrashPoint.STOPPING}


def application(main: str) -> Document:
    """A helper that is ready first, a worker that is core and one that is elastic, and the one that ends it all."""
    note = "echo {name}-{{index}} >> {{workspace}}/{{execution}}; {then}"

    def script(name: str, then: str) -> list[str]:
        return ["sh", "-c", note.format(name=name, then=then)]

    return document(
        part("helper", *script("helper", "exec sleep 600")),
        part("worker", *script("worker", "exec sleep 600"), essential_count=1, total_count=2, startup_order=1),
        part("main", *script("main", main), startup_order=1, ends_application=True),
    )


def until_killed(process: Program, client: Client, execution_id: str) -> None:
    until(lambda: process.poll() is not None, lambda: client.execution(execution_id))
    assert process.returncode == -signal.SIGKILL


def check_end(installation: Installation, client: Client, execution_id: str, state: ExecutionState) -> None:
    execution = client.wait(execution_id, 60)
    assert execution.state is state
    assert {s.state.value for s in execution.services} == {"ended"}
    assert {s.attempt for s in execution.services} == {1}
    ran = installation.ran(execution_id)
    assert len(set(ran)) == len(ran), "something was started twice"
    until(lambda: not [t for t in installation.traces() if "scratch" in t or "control group" in t], installation.traces)


@pytest.mark.parametrize("step", [step for step in CrashPoint if step not in NEVER_REACHED])
def test_killed_on_the_way_to_success(installation: Installation, client: Client, step: CrashPoint) -> None:
    execution_id = client.submit(application("sleep 0.3")).id
    until_killed(installation.start_master(ZOE_CRASH_AT=step), client, execution_id)
    fresh = installation.start_master()
    installation.until_leading(2)
    check_end(installation, client, execution_id, ExecutionState.SUCCEEDED)
    assert {"helper-0", "worker-0", "main-0"} <= set(installation.ran(execution_id))
    assert installation.stop(fresh) == 0


@pytest.mark.parametrize("step", [step for step in CrashPoint if step not in NEVER_REACHED_BY_CANCELLING])
def test_killed_on_the_way_to_a_cancelled_end(installation: Installation, client: Client, step: CrashPoint) -> None:
    execution_id = client.submit(application("exec sleep 600")).id
    process = installation.start_master(ZOE_CRASH_AT=step)
    until(lambda: process.poll() is not None or client.execution(execution_id).state is ExecutionState.RUNNING)
    client.cancel(execution_id)
    until_killed(process, client, execution_id)
    installation.start_master()
    check_end(installation, client, execution_id, ExecutionState.CANCELLED)
