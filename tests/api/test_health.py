"""Health is reported while the database hangs, regardless of the requests in progress."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import httpx

from tests.support.api import Api
from tests.support.postgres import connect
from tests.support.waiting import until

REQUESTS = 60
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@contextmanager
def waiting_requests(api: Api) -> Iterator[list[int]]:
    """Send more requests than the process has threads; the list gets the statuses of answered ones."""
    answered: list[int] = []

    def ask() -> None:
        answered.append(api.http().get("/api/v1/executions", timeout=120).status_code)

    threads = [threading.Thread(target=ask) for _ in range(REQUESTS)]
    for thread in threads:
        thread.start()
    try:
        yield answered
    finally:
        for thread in threads:
            thread.join()


def told(http: httpx.Client) -> tuple[int, int]:
    return http.get("/healthz").status_code, http.get("/metrics").status_code


def send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # a session may end by itself meanwhile
            os.kill(pid, number)


def test_strangers_are_told_nothing_but_what_works(shared_api: Api) -> None:
    http = shared_api.http(None)
    assert http.get("/healthz").text == "ok"
    told = http.get("/readyz").json()
    assert told.keys() == {"database", "master"}
    assert set(told.values()) <= {"ok", "not reachable"}


def test_while_tables_are_locked(api: Api, postgres_url: str) -> None:
    with closing(connect(postgres_url)) as other, other.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE tokens, executions IN ACCESS EXCLUSIVE MODE")
        with waiting_requests(api) as answered:
            with closing(connect(postgres_url)) as looker, looker.cursor() as look:

                def waiting() -> int:
                    look.execute(_WAITING)
                    return int((look.fetchone() or (0,))[0])

                until(lambda: waiting() >= 20)
            assert told(api.http(None)) == (200, 200)
            assert answered == []
            cursor.execute("ROLLBACK")
    assert len(answered) == REQUESTS


def test_while_the_database_does_not_answer(api: Api, postgres_url: str) -> None:
    """Its processes are stopped: connections stay open, and nothing comes."""
    api.client().status()
    with closing(connect(postgres_url)) as other, other.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        sessions = [int(pid) for (pid,) in cursor.fetchall()]
    send(sessions, signal.SIGSTOP)
    try:
        http = api.http(None)
        assert told(http) == (200, 200)
        assert http.get("/readyz").json()["database"] == "not reachable"
        assert told(http) == (200, 200)
    finally:
        send(sessions, signal.SIGCONT)
    until(lambda: api.http(None).get("/readyz").json()["database"] == "ok")
