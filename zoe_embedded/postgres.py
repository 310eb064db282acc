"""An embedded PostgreSQL: one server per home, reached by a Unix socket that only its account and root can use."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import psycopg2
from psycopg2 import sql

from zoe_embedded.home import Account, Home, make_directory, write_private
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.runtimes.binaries import MAJOR_VERSION, Programs

DATABASE = "zoe"
ROLE = "zoe"
SUPERUSER = "postgres"
PORT = 5432  # only part of the socket's name
# A socket's path has at most 107 bytes; some are reserved for the server's lock file beside it.
SOCKET_PATH_BYTES_MAX = 100
START_S_MAX = 60
STOP_S_MAX = 30
RETRY_S = 0.2
STORY_CHARACTERS = 2000
_LOG_FILE = "postgresql.log"
# Messages of a server that is stopping, recovering, or was just killed.
PASSING_TROUBLES = (
    "closed the connection",
    "Connection reset by peer",
    "Connection refused",
    "No such file",
    "starting up",
    "shutting down",
    "recovery mode",
    "pre-existing shared memory",
    "already exists",
)

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    # The log is bounded outside: the server's own collector bounds either the size of a file or their number.
    "logging_collector": "off",
}


class EmbeddedPostgresError(Exception):
    """The server failed; the message contains the end of its log."""


class EmbeddedPostgres:
    """The database server of a home.

    Several processes may call `start` and `stop` any number of times. A server left by a crashed process is found and
    used again (`reused` is then true); `stop` stops the server whichever process started it.
    """

    def __init__(self, home: Home, settings: Mapping[str, str] | None = None) -> None:
        self._home = home
        self._settings = {**SETTINGS, **(settings or {})}
        self._programs = Programs(home)
        self.reused = False

    @property
    def url(self) -> str:
        """Return the database's URL for SQLAlchemy; it contains the password, so keep it out of logs and command
        lines.
        """
        password = self._home.secret("postgres-password")
        return f"postgresql+psycopg2://{ROLE}:{password}@/{DATABASE}?host={self.socket_directory}"

    @property
    def socket_directory(self) -> Path:
        """Return the socket's directory: in the home, or a short separate directory if the home's path is too long."""
        inside = self._home.postgres / "run"
        if len(os.fsencode(inside / f".s.PGSQL.{PORT}")) < SOCKET_PATH_BYTES_MAX:
            return inside
        name = hashlib.sha256(os.fsencode(self._home.path)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"zoe-{name}"

    def start(self) -> str:
        """Start the server, with its data directory, role and database; return its URL."""
        self._home.create()
        with self._lock():
            self._prepare()
            self._start_until_it_answers()
        return self.url

    def stop(self) -> None:
        """Stop the server, aborting running statements; do nothing if it is not running."""
        if not self._home.state.exists():
            return
        with self._lock():
            if not self.running():
                return
            options = ("stop", "-D", str(self.data_directory), "-w", "-t", str(STOP_S_MAX), "-m")
            if (
                self._programs.run("pg_ctl", *options, "fast").returncode
                and self._programs.run("pg_ctl", *options, "immediate").returncode
            ):
                raise EmbeddedPostgresError(f"PostgreSQL in {self.data_directory} does not stop")

    def running(self) -> bool:
        """Return whether a server runs on this home's data."""
        return self._server() is not None

    @property
    def data_directory(self) -> Path:
        """Return the directory of PostgreSQL's data."""
        return self._home.postgres / "data"

    @property
    def _log(self) -> Path:
        return self._home.postgres / "log"

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with (self._home.state / "postgres.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _server(self) -> psutil.Process | None:
        """Return the server's process; a process id in a stale file may belong to any program by now."""
        try:
            pid = int((self.data_directory / "postmaster.pid").read_text().split("\n", 1)[0])
            process = psutil.Process(pid)
            return process if Path(process.cwd()) == self.data_directory.resolve() else None
        except (FileNotFoundError, ValueError, psutil.Error):
            return None

    def _prepare(self) -> None:
        account = self._home.server_account
        for directory in (self.socket_directory, self._log):
            make_directory(directory, 0o700, account)
        if not self.running():
            for collected in self._log.glob("postgresql-?.log"):  # from versions without a bound on their size
                collected.unlink()
        if not self.data_directory.exists():
            self._make_data(account)
        version = (self.data_directory / "PG_VERSION").read_text().strip()
        if version != MAJOR_VERSION:
            raise EmbeddedPostgresError(
                f"{self.data_directory} was created by PostgreSQL {version}, and this is {MAJOR_VERSION}: "
                f"dump it with the old version and restore it, or choose another ZOE_HOME"
            )

    def _make_data(self, account: Account | None) -> None:
        """Create the data directory beside its final place, so that an incomplete one is never taken for a database."""
        draft = self._home.postgres / "data.draft"
        password = self._home.postgres / "password.draft"
        if draft.exists():
            shutil.rmtree(draft)
        password.unlink(missing_ok=True)
        write_private(password, self._home.secret("postgres-superuser-password"))
        if account is not None:
            os.chown(password, account.uid, account.gid, follow_symlinks=False)
        try:
            # The locale sorts by code point as Python does, and knows upper and lower case of all letters. Thousands of
            # iterations would slow down guessing a weak password; this one is random, and each connection would cost 2
            # ms of CPU time.
            done = self._programs.run(
                *("initdb", "-D", str(draft), f"--username={SUPERUSER}", f"--pwfile={password}", "--encoding=UTF8"),
                *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
                *("--auth-local=scram-sha-256", "--auth-host=reject", "--set=scram_iterations=1"),
            )
        finally:
            password.unlink()
        if done.returncode:
            raise EmbeddedPostgresError(f"initdb failed: {done.stderr.strip()}")
        draft.rename(self.data_directory)

    def _start_until_it_answers(self) -> None:
        """Retry for a while: a found server may be stopping or recovering, and a killed one may still hold its
        memory.
        """
        give_up_at_s = time.monotonic() + START_S_MAX
        while True:
            try:
                self.reused = self.running()
                if not self.reused:
                    self._start_server()
                return self._make_database()
            except (psycopg2.OperationalError, EmbeddedPostgresError) as error:
                if time.monotonic() > give_up_at_s or not any(sign in str(error) for sign in PASSING_TROUBLES):
                    raise EmbeddedPostgresError(
                        f"PostgreSQL in {self.data_directory} cannot be used: {error}"
                    ) from error
            time.sleep(RETRY_S)

    def _start_server(self) -> None:
        if self._other_process_took_the_pid():
            (self.data_directory / "postmaster.pid").unlink()
        options = ("-D", str(self.data_directory), "-w", "-t", str(START_S_MAX), "-o", self._options())
        with log_to(self._log / _LOG_FILE) as log:
            done = self._programs.run("pg_ctl", "start", *options, log=log)
        if done.returncode:
            time.sleep(RETRY_S)  # until its last messages are in the file
            raise EmbeddedPostgresError(f"PostgreSQL does not start: {self._story()}")

    def _other_process_took_the_pid(self) -> bool:
        """Return whether another process has that pid; the server would refuse to start because of it."""
        try:
            pid = int((self.data_directory / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return False
        return psutil.pid_exists(pid) and self._server() is None

    def _options(self) -> str:
        settings = {**self._settings, "unix_socket_directories": str(self.socket_directory), "port": str(PORT)}
        return " ".join(f"-c {name}={_quote(value)}" for name, value in settings.items())

    def _story(self) -> str:
        """Return the end of its log."""
        try:
            return (self._log / _LOG_FILE).read_text(errors="replace")[-STORY_CHARACTERS:] or "it wrote nothing"
        except FileNotFoundError:
            return "it left no log"

    def _make_database(self) -> None:
        with contextlib.closing(self._connect_as_superuser()) as connection, connection.cursor() as cursor:
            connection.autocommit = True
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,))
            if cursor.fetchone() is None:
                role = sql.SQL("CREATE ROLE {} LOGIN CREATEDB PASSWORD {}")
                password = sql.Literal(self._home.secret("postgres-password"))
                cursor.execute(role.format(sql.Identifier(ROLE), password))
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
            if cursor.fetchone() is None:
                database = sql.SQL("CREATE DATABASE {} OWNER {}")
                cursor.execute(database.format(sql.Identifier(DATABASE), sql.Identifier(ROLE)))

    def _connect_as_superuser(self) -> psycopg2.extensions.connection:
        return psycopg2.connect(
            host=str(self.socket_directory),
            port=PORT,
            user=SUPERUSER,
            password=self._home.secret("postgres-superuser-password"),
            dbname="postgres",
            connect_timeout=10,
        )


def _quote(value: str) -> str:
    """Quote a value for the shell with which pg_ctl starts the server."""
    return "'" + value.replace("'", "'\\''") + "'"
