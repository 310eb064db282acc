"""Tests that need a real database: slow committers, lost connections, restarts, plans of queries."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import Event
from typing import Any

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import postgresql

from tests.support.applications import GIB, application, execution
from tests.support.limits import Quota, set_quota
from tests.support.postgres import PostgresServer, connect
from tests.support.statements import copy_execution, rows_read, statements_of
from tests.support.waiting import until
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.documents.codec import event_of
from zoe_lib.store.documents.cursors import encode_cursor
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.errors import (
    ConcurrentUpdate,
    IdempotencyConflict,
    NotLeader,
    StoreError,
    StoreUnavailable,
    TimeLimitTooLong,
)
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.batch import submitting
from zoe_lib.store.sql.connection.database import Database
from zoe_lib.store.sql.executions import executions as reading
from zoe_lib.store.sql.journal import journal
from zoe_lib.store.values import ExecutionQuery, StoreLimits

WAIT_S_MAX = 60.0


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def kill_sessions(url: str) -> None:
    rows(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
    )


def wait_until(condition: Callable[[], bool]) -> None:
    give_up_at_s = time.monotonic() + WAIT_S_MAX
    while not condition():
        assert time.monotonic() < give_up_at_s
        time.sleep(0.02)


def test_a_fast_committer_does_not_overtake_a_delayed_one(store: PostgresStore, postgres_url: str) -> None:
    delayed = Database(postgres_url)
    written, may_commit = Event(), Event()

    def commit_late(connection: Any) -> None:
        submitting.write(connection, [submitting.prepare(Applications(), execution(1), "slow", None, "")])
        written.set()
        assert may_commit.wait(WAIT_S_MAX)

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(delayed.write, commit_late)
        assert written.wait(WAIT_S_MAX)
        fast: Future[Execution] = pool.submit(store.submit, execution(2), "fast")
        time.sleep(0.2)
        assert store.journal(0, 10) == []
        assert not fast.done()
        may_commit.set()
        slow.result(WAIT_S_MAX)
        fast.result(WAIT_S_MAX)
    assert [entry.cause_id for entry in store.journal(0, 10)] == ["slow", "fast"]
    delayed.close()


def test_a_submission_waits_for_a_quota_that_is_being_changed(store: PostgresStore, postgres_url: str) -> None:
    store.accounts.add_tenant("iostack")
    set_quota(store, "iostack", Quota(time_limit_s_max=120.0))
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool, closing(connect(postgres_url)) as admin, admin.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("UPDATE limits SET amounts = '{\"time_limit_s\": 60}' WHERE user_name = ''")
        asked = execution(application=application(time_limit_s=120.0))
        submitted: Future[Execution] = pool.submit(store.submit, asked, "request")
        wait_until(lambda: submitted.done() or rows(postgres_url, waiting) == [(1,)])
        cursor.execute("COMMIT")
        with pytest.raises(TimeLimitTooLong, match="60 s"):
            submitted.result(WAIT_S_MAX)
    assert store.active() == []


def test_a_stopped_writer_holds_nobody_up_for_ever(store: PostgresStore, postgres_url: str) -> None:
    with closing(connect(postgres_url)) as stopped, stopped.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = '300ms'")  # as all sessions of a store, but shorter
        cursor.execute("BEGIN")
        cursor.execute(f"SELECT pg_advisory_xact_lock({journal.JOURNAL_LOCK})")
        assert store.submit(execution(), "request").version == 1
    ((setting,),) = rows_of_store(store, "SHOW idle_in_transaction_session_timeout")
    assert setting == "15s"


def rows_of_store(store: PostgresStore, statement: str) -> list[tuple[Any, ...]]:
    with closing(store.database.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def test_a_leader_that_lost_its_connection_is_fenced(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as old, closing(PostgresStore(postgres_url)) as new:
        old.submit(execution(), "request")
        epoch = old.try_lead("old")
        assert epoch is not None
        kill_sessions(postgres_url)
        assert not old.still_leading(epoch)
        assert not old.still_leading(epoch)
        assert until(lambda: new.try_lead("new")) == epoch + 1
        assert old.try_lead("old") is None
        with pytest.raises(NotLeader):
            old.append(execution().id, [ev.Queued(at_s=1.0)], 1, epoch)


def test_idle_connections_may_be_cut(store: PostgresStore, postgres_url: str) -> None:
    for number in range(1, 4):
        store.submit(execution(number), "request")
        kill_sessions(postgres_url)
        assert len(store.active()) == number
        kill_sessions(postgres_url)


def test_a_listener_comes_back_and_says_so(store: PostgresStore, postgres_url: str) -> None:
    told = Event()
    store.subscribe(told.set)
    kill_sessions(postgres_url)
    assert told.wait(WAIT_S_MAX)  # it is connected again, and may have missed something
    told.clear()
    store.submit(execution(), "request")
    assert told.wait(WAIT_S_MAX)


def test_a_subscriber_that_fails_disturbs_no_other(store: PostgresStore, caplog: pytest.LogCaptureFixture) -> None:
    told = Event()
    store.subscribe(lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    store.subscribe(told.set)
    store.submit(execution(), "request")
    assert told.wait(WAIT_S_MAX)
    assert "ZeroDivisionError" in caplog.text


def test_a_database_without_tables_is_named(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_empty_database()
    with closing(PostgresStore(url)) as empty, pytest.raises(StoreError, match="migrations"):
        empty.submit(execution(), "request")
    postgres_server.drop_database(url)


def test_the_platform_says_what_is_free(store: PostgresStore, postgres_url: str) -> None:
    started = store.submit(execution(), "request")
    placements = tuple(ev.Placement(service_id=s.id, node="a") for s in started.core_services())
    ending = ev.ServiceEnded(at_s=3.0, service_id=started.services[0].id, cause=Cause.STOPPED)
    store.append(started.id, [ev.Queued(at_s=1.0), ev.StartPlanned(at_s=2.0, placements=placements)], 1, None)
    nodes = [Node("a", Resources(4000, 8 * GIB), Resources(500, GIB)), Node("b", Resources(1000, GIB))]
    free = "SELECT cores_free_milli, memory_free_bytes FROM platform ORDER BY name"
    store.set_platform(nodes, 4.0, None)
    assert rows(postgres_url, free) == [(1500, 5 * GIB), (1000, GIB)]
    store.append(started.id, [ending], 3, None)
    store.set_platform(nodes, 5.0, None)
    assert rows(postgres_url, free) == [(2500, 6 * GIB), (1000, GIB)]


# -- restarts ----------------------------------------------------------------------------------------------------------
class Load:
    """Clients that submit and push executions on, and repeat what the database did not answer."""

    def __init__(self, url: str) -> None:
        self.store = PostgresStore(url)
        self.stop = Event()
        self.acknowledged: list[Execution] = []
        self.failures = 0

    def submit(self, client: int) -> None:
        number = 0
        while not self.stop.is_set():
            number += 1
            wanted = execution(10_000 * (client + 1) + number)
            stored = self._insist(lambda wanted=wanted: self.store.submit(wanted, "request", wanted.id, "same"))
            self.acknowledged.append(stored)
            self._insist(lambda stored=stored: self._queue(stored))

    def _queue(self, stored: Execution) -> None:
        present = self.store.execution(stored.id)
        if present.version == 1:
            self.store.append(stored.id, [ev.Queued(at_s=2.0)], 1, None)

    def _insist(self, call: Callable[[], Any]) -> Any:
        while True:
            try:
                return call()
            except StoreUnavailable:
                if self.stop.is_set():  # the test has failed and waits for the threads
                    raise
                self.failures += 1
                time.sleep(0.02)
            except ConcurrentUpdate:  # the unanswered append was done
                continue


def test_a_database_that_only_answers_reads_is_not_ready(postgres_server: PostgresServer, postgres_url: str) -> None:
    postgres_server.make_read_only(postgres_url)
    store = PostgresStore(postgres_url)
    with pytest.raises(StoreUnavailable, match="takes no changes"):
        store.ping()
    store.close()


@pytest.fixture
def load(postgres_url: str) -> Iterator[Load]:
    load = Load(postgres_url)
    yield load
    load.store.close()


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_restart_under_load_loses_nothing(load: Load, postgres_server: PostgresServer, end: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        clients = [pool.submit(load.submit, client) for client in range(3)]
        try:
            for _ in range(2):
                restart_once(load, postgres_server, end)
            after = len(load.acknowledged)
            wait_until(lambda: len(load.acknowledged) > after + 20)
        finally:
            load.stop.set()
        for client in clients:
            client.result(WAIT_S_MAX)
    check_everything_is_whole(load)


def restart_once(load: Load, postgres_server: PostgresServer, end: str) -> None:
    before = len(load.acknowledged)
    wait_until(lambda: len(load.acknowledged) > before + 20)
    failures = load.failures
    if end == "stopped":
        postgres_server.embedded.stop()
    else:
        postgres_server.kill()
    wait_until(lambda: load.failures > failures)
    postgres_server.embedded.start()


def check_everything_is_whole(load: Load) -> None:
    rebuilt = {stored.id: execution(int(stored.id.split("-")[1])) for stored in load.acknowledged}
    last_id = 0
    while entries := load.store.journal(last_id, 500):
        last_id = entries[-1].id
        for entry in entries:
            assert entry.execution_id is not None
            event = event_of(entry.kind, entry.at_s, entry.cause_id, entry.data)
            rebuilt[entry.execution_id] = apply(rebuilt[entry.execution_id], event)
            assert rebuilt[entry.execution_id].version == entry.version
    stored = {e.id: e for e in load.store.active()}
    assert stored == rebuilt
    assert {e.state for e in stored.values()} == {ExecutionState.QUEUED}
    assert len(stored) == len(load.acknowledged)


# -- plans of queries --------------------------------------------------------------------------------------------------
CURSOR = encode_cursor(execution(1))
LISTS: dict[str, Select[Any]] = {
    "newest": reading.page_query(ExecutionQuery(), 100),
    "next page": reading.page_query(ExecutionQuery(cursor=CURSOR), 100),
    "of a tenant": reading.page_query(ExecutionQuery(visibility=Visibility("t"), cursor=CURSOR), 100),
    "of a user": reading.page_query(ExecutionQuery(user="u"), 100),
    "in a state": reading.page_query(ExecutionQuery(states=frozenset({ExecutionState.RUNNING})), 100),
    "with a name": reading.page_query(ExecutionQuery(visibility=Visibility("t"), name_contains="sums"), 100),
    "active": reading.active_query(),
    "services": reading.services_query(["a", "b"]),
    "journal": journal.query(5, 10, ALL, None),
    "journal of an execution": journal.query(5, 10, ALL, "e"),
    "journal of a tenant": journal.query(5, 10, Visibility("t"), None),
    "journal of a user": journal.query(5, 10, Visibility("t", "u"), None),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_read_in_the_order_of_an_index(postgres_url: str, name: str) -> None:
    compiled = LISTS[name].compile(dialect=postgresql.dialect(), compile_kwargs={"render_postcompile": True})
    with closing(connect(postgres_url)) as connection, connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {compiled}", compiled.params)
        plan = json.dumps(cursor.fetchall())
    assert "Index" in plan
    assert "Seq Scan" not in plan
    assert '"Sort"' not in plan, plan


def test_a_name_that_nothing_has_reads_as_many_as_a_search_may(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url, StoreLimits(searched_max=200))) as store:
        copy_execution(postgres_url, store.submit(execution(1), "request").id, 1500)
        with statements_of(store) as asked:
            page = store.executions(ExecutionQuery(visibility=Visibility("iostack"), name_contains="nothing has this"))
        assert (page.executions, page.searched_to_s) == ([], execution(1).submitted_at_s - 199)
        assert len(asked) == 2
        assert rows_read(postgres_url, asked) <= 2 * 200


def test_batches_with_one_key_at_the_same_time_do_not_wait_in_a_circle(store: PostgresStore) -> None:
    """One is stored; the others find its keys taken, whatever their sizes. None ends by a deadlock."""
    sizes = range(20, 28)

    def submit(number: int, size: int) -> bool:
        batch = [execution(number * 10_000 + size * 100 + index) for index in range(size)]
        try:
            return len(store.submit_all(batch, "request", f"key {number}", f"of {size}")) == size
        except IdempotencyConflict:
            return False

    with ThreadPoolExecutor(len(sizes)) as pool:
        for number in range(12):
            assert sum(pool.map(submit, [number] * len(sizes), sizes)) == 1
