"""PostgreSQL goes away under load, orderly and by SIGKILL: nothing acknowledged is lost, nothing runs twice."""

from __future__ import annotations

import threading

from tests.support.documents import Document, job
from tests.support.installation import Installation, free_port
from tests.support.postgres import PostgresServer
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import ExecutionState

SUBMITTERS = 4


def script(then: str) -> Document:
    return job("sh", "-c", f"echo main-{{index}} >> {{workspace}}/{{execution}}; {then}")


def test_restarted_under_load(installation: Installation, postgres_server: PostgresServer) -> None:
    port = free_port()
    master, api = installation.start_master(), installation.start_api(port)
    url = f"http://127.0.0.1:{port}"
    acknowledged: list[str] = []
    stop = threading.Event()
    failures: list[Exception] = []

    def submit() -> None:
        try:
            with installation.client(url) as client:
                while not stop.wait(0.05):
                    acknowledged.append(client.submit(script("true")).id)
        except Exception as error:
            failures.append(error)

    with installation.client(url) as client:
        running = client.submit(script("sleep 8"))
        until(lambda: client.execution(running.id).state is ExecutionState.RUNNING)
        threads = [threading.Thread(target=submit) for _ in range(SUBMITTERS)]
        for thread in threads:
            thread.start()
        try:
            for end in (postgres_server.embedded.stop, postgres_server.kill):
                enough = len(acknowledged) + 10
                until(lambda enough=enough: len(acknowledged) >= enough)  # type: ignore[misc]
                end()
                postgres_server.embedded.start()
            enough = len(acknowledged) + 5
            until(lambda: len(acknowledged) >= enough)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert not failures
        for execution_id in [running.id, *acknowledged]:
            assert client.wait(execution_id, 120).state is ExecutionState.SUCCEEDED, execution_id
            assert installation.ran(execution_id) == ["main-0"]
        page = client.executions(limit=500).executions
        assert sorted(e.id for e in page) == sorted([running.id, *acknowledged])
    assert master.poll() is None
    assert api.poll() is None


def test_both_may_start_before_the_database(installation: Installation, postgres_server: PostgresServer) -> None:
    postgres_server.embedded.stop()
    port = free_port()
    try:
        installation.start_master()
        installation.start_api(port)
        until(lambda: "cannot reach the database" in installation.log("master"), lambda: installation.log("master"))
    finally:
        postgres_server.embedded.start()
    with installation.client(f"http://127.0.0.1:{port}") as client:
        execution = client.submit(script("true"))
        assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED
