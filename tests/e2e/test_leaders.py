"""Two masters: the second waits, takes over when the first dies, and a paused one is refused."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import psutil
import pytest

from tests.support.documents import Document, job
from tests.support.installation import TENANT, Installation, free_port
from tests.support.postgres import connect
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.descriptions import parse
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.sql.journal.journal import LEADER_LOCK


def script(then: str) -> Document:
    return job("sh", "-c", f"echo main-{{index}} >> {{workspace}}/{{execution}}; {then}")


def until_running(client: Client, execution_id: str) -> None:
    until(lambda: client.execution(execution_id).state is ExecutionState.RUNNING)


def end_session_of_leader(url: str) -> None:
    """What the database does to a leader whose machine has vanished."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
            " AND objid = %s AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            (LEADER_LOCK,),
        )
        assert cursor.fetchall() == [(True,)]


def test_the_second_takes_over_and_lets_run_what_runs(installation: Installation, client: Client) -> None:
    first = installation.start_master(ZOE_MASTER_NAME="first")
    installation.until_leading()
    second = installation.start_master(ZOE_MASTER_NAME="second")
    running = client.submit(script("sleep 3"))
    until_running(client, running.id)
    waiting = client.submit(script("true"))
    assert client.wait(waiting.id, 60).state is ExecutionState.SUCCEEDED
    assert leader(client) == "first"
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: leader(client) == "second")
    assert client.wait(running.id, 60).state is ExecutionState.SUCCEEDED
    assert installation.ran(running.id) == ["main-0"]
    assert installation.stop(second) == 0


def leader(client: Client) -> str | None:
    master = client.status().master
    return None if master is None else str(master["leader"])


def test_a_leader_that_is_paused_is_deposed_and_the_api_asks_the_other_one(
    installation: Installation, client: Client
) -> None:
    endpoints = [f"ipc://{installation.secrets}/{name}" for name in ("first", "second")]
    first, second = (
        installation.start_master(ZOE_MASTER_NAME=endpoint.rpartition("/")[2], ZOE_MASTER_ENDPOINT=endpoint)
        for endpoint in endpoints
    )
    installation.until_leading()
    until(lambda: leader(client) is not None)
    name = leader(client)
    leading, standby = (first, second) if name == "first" else (second, first)
    running = client.submit(script("exec sleep 600"))
    until_running(client, running.id)
    os.kill(leading.pid, signal.SIGSTOP)
    until(lambda: leader(client) not in (None, name))
    later = client.submit(script("true"))
    assert client.wait(later.id, 60).state is ExecutionState.SUCCEEDED
    os.kill(leading.pid, signal.SIGCONT)
    until(lambda: "no longer the leader" in installation.log("master"))
    assert client.execution(running.id).state is ExecutionState.RUNNING
    assert leader(client) != name
    client.cancel(running.id)
    assert client.wait(running.id, 60).state is ExecutionState.CANCELLED
    assert installation.ran(running.id) == ["main-0"]
    assert (installation.stop(leading), installation.stop(standby)) == (0, 0)


@pytest.mark.parametrize("meanwhile", ["it runs", "it has ended"])
def test_a_paused_leader_is_refused_when_it_wakes_up(postgres_url: str, meanwhile: str) -> None:
    """It is paused between journaling a start and handing it over, and wakes up when another one has done that.

    All the time it keeps the endpoint for questions, so the other one leads without answering until then.
    """
    installation = Installation(postgres_url, master_endpoint=f"tcp://127.0.0.1:{free_port()}")
    try:
        paused_leader(installation, postgres_url, "exec sleep 600" if meanwhile == "it runs" else "true")
    finally:
        installation.close()


def paused_leader(installation: Installation, url: str, then: str) -> None:
    store, seen = installation.store, lambda: installation.log("master")
    pause = {"ZOE_CRASH_AT": "service_starting", "ZOE_CRASH_SIGNAL": "SIGSTOP"}
    first = installation.start_master(ZOE_MASTER_NAME="first", **pause)
    installation.until_leading()
    handed_over = submit(store, 1, script(then))
    until(lambda: psutil.Process(first.pid).status() == psutil.STATUS_STOPPED)
    second = installation.start_master(ZOE_MASTER_NAME="second")
    end_session_of_leader(url)
    state = ExecutionState.SUCCEEDED if then == "true" else ExecutionState.RUNNING
    until(lambda: store.execution(handed_over).state is state, seen)
    assert "cannot answer questions yet" in seen()
    os.kill(first.pid, signal.SIGCONT)
    until(lambda: "no longer the leader" in seen(), seen)
    later = submit(store, 2, script("true"))
    until(lambda: store.execution(later).state is ExecutionState.SUCCEEDED, seen)
    assert store.execution(handed_over).state is state
    assert installation.ran(handed_over) == ["main-0"]
    assert installation.ran(later) == ["main-0"]
    assert (installation.stop(first), installation.stop(second)) == (0, 0)


def submit(store: ExecutionStore, number: int, document: Document) -> str:
    execution = Execution(f"x{number}", "job", TENANT, "root", parse(document), float(number))
    return store.submit(execution, "test").id
