"""Programs beside tables of another version: older ones are refused in words, newer ones are used."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import zmq

from tests.support.after_event import AdminsDay
from tests.support.documents import job, sized
from tests.support.installation import REPOSITORY, Installation, free_port
from tests.support.postgres import PostgresServer, connect
from tests.support.waiting import until
from zoe_api import setup
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.postgres import migrate


def set_revision(url: str, revision: str) -> None:
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE alembic_version SET version_num = %s", (revision,))


@pytest.mark.parametrize("tables", ["older", "none"])
def test_new_programs_on_old_tables_say_what_to_run(postgres_server: PostgresServer, tables: str) -> None:
    # Made with the tables of this version, since an installation stores a token; then they go.
    url = postgres_server.create_database()
    with closing(Installation(url)) as installation:
        migrate.downgrade(url, "0057" if tables == "older" else "base")
        master, api = installation.start_master(), installation.start_api(free_port())
        assert (master.wait(60), api.wait(60)) == (2, 2)
        words = "the tables of an older version (0057" if tables == "older" else "no tables of Zoe"
        for log in (installation.log("master"), *(path.read_text() for path in installation.base.glob("api-*.log"))):
            assert words in log
            assert "run zoe-setup" in log
            assert "Traceback" not in log
    postgres_server.drop_database(url)


@pytest.mark.parametrize("tables", ["older", "none"])
def test_a_new_storage_controller_on_old_tables_says_what_to_run(
    postgres_server: PostgresServer, tmp_path: Path, tables: str
) -> None:
    url = postgres_server.create_database()
    migrate.downgrade(url, "0057" if tables == "older" else "base")
    (tmp_path / "token").write_text("a-token")
    (tmp_path / "keys").write_bytes(b"\n".join((*zmq.curve_keypair(), zmq.curve_keypair()[0])))
    settings = {
        "database_url": url,
        "port": free_port(),
        "token_file": tmp_path / "token",
        "key_file": tmp_path / "keys",
        "limits_endpoint": f"ipc://{tmp_path}/limits",
        "usage_endpoint": f"ipc://{tmp_path}/usage",
        "read_bytes_per_s": 1000,
        "write_bytes_per_s": 1000,
        "proxies": '{"p1": 1000}',
    }
    environment = {f"ZOE_SDS_{name.upper()}": str(value) for name, value in settings.items()}
    done = subprocess.run(
        [sys.executable, "-m", "storage_controller"],
        env={**os.environ, **environment},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    words = "the tables of an older version (0057" if tables == "older" else "no tables of Zoe"
    assert done.returncode == 2
    assert done.stderr.startswith(f"zoe-storage: the database has {words}")
    assert "run zoe-setup" in done.stderr
    assert done.stderr.count("\n") == 1
    postgres_server.drop_database(url)


def test_programs_run_beside_newer_ones(installation: Installation, postgres_url: str) -> None:
    set_revision(postgres_url, "9999")
    port = free_port()
    installation.start_master()
    installation.start_api(port)
    with installation.client(f"http://127.0.0.1:{port}") as client:
        assert client.wait(client.submit(job("true")).id, 60).state is ExecutionState.SUCCEEDED
        day = AdminsDay(installation.store, client, client.url)
        day.check(installation.store, client, client.url)


def test_executions_running_during_an_upgrade_are_adopted(
    installation: Installation, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables go back to those of the oldest database that is kept in tests/migration, then zoe-setup comes."""
    port = free_port()
    master, api = installation.start_master(), installation.start_api(port)
    with installation.client(f"http://127.0.0.1:{port}") as client:
        day = AdminsDay(installation.store, client, client.url)
        running = client.submit(job("sh", "-c", "echo begun; until test -e {workspace}/go; do sleep 0.1; done"))
        until(lambda: client.execution(running.id).state is ExecutionState.RUNNING)
        waiting = client.submit(sized(64, "true"))
        until(lambda: client.execution(waiting.id).reason)
        installation.stop(master)
        installation.stop(api)
        migrate.downgrade(postgres_url, "0057")
        monkeypatch.setenv("ZOE_CONFIG", str(installation.config_file))
        monkeypatch.setattr("sys.argv", ["zoe-setup"])
        assert setup.main() == 0
        installation.start_master()
        installation.start_api(port)
        (installation.workspace / "go").touch()
        for execution in (running, waiting):
            ended = client.wait(execution.id, 60)
            assert (ended.state, ended.attempt, len(ended.services)) == (ExecutionState.SUCCEEDED, 1, 1)
        assert b"".join(client.follow_logs(running.id, running.services[0].id)) == b"begun\n"
        day.check(installation.store, client, client.url)
