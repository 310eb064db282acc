"""Connections and transactions, and the conversion of the driver's errors to the store's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, Concatenate, Literal, NoReturn, ParamSpec, Protocol, TypeVar

import psycopg2
from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event, exc, make_url, text

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store import positions
from zoe_lib.store.errors import StoreError, StoreUnavailable, Unstorable
from zoe_lib.store.sql.connection.latency import STORE
from zoe_lib.store.sql.connection.watch import ConnectionWatch

P = ParamSpec("P")
T = TypeVar("T")
IsolationLevel = Literal["REPEATABLE READ", "READ COMMITTED", "AUTOCOMMIT"]

UNDEFINED_TABLE_OR_TYPE = ("42P01", "42704")
READ_ONLY_TRANSACTION = "25006"
# A stopped process within a transaction holds locks that all others wait for, including a new leader: the server ends
# such a session. Keep-alives detect vanished machines, so that their leader lock is released.
SESSION_SETTINGS = {
    "idle_in_transaction_session_timeout": "15s",
    "lock_timeout": "20s",
    "statement_timeout": "60s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "timezone": "UTC",
}
CONNECT_ARGUMENTS: dict[str, Any] = {
    "connect_timeout": 5,
    "application_name": "zoe",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # Keep-alives are sent only on idle connections: a statement to a vanished machine would wait a quarter of an hour.
    "tcp_user_timeout": 25_000,
    "options": " ".join(f"-c {name}={value}" for name, value in SESSION_SETTINGS.items()),
}
# For statements that look up and change rows by their keys. The server keeps the plan of a prepared statement and of a
# foreign key until it has counted the rows anew: a plan made while a table was small would continue to read all of a
# large one.
_BY_KEYS = {"enable_seqscan": "off"}
_TAKES_NO_CHANGES = text("SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'")
# Time limit for a free connection, before StoreUnavailable.
POOL_WAIT_S_MAX = 10.0


class Database:
    """Pools of connections to one database."""

    def __init__(self, url: str, pool_size: int = 10, read_only: bool = False, clock: Clock = SYSTEM_CLOCK) -> None:
        # One pool for each isolation level: if a connection died before its level is changed back on return, its pool
        # would lose it. Reads of several statements must see one snapshot.
        self._clock = clock
        self._reader = _engine(url, "REPEATABLE READ", pool_size, read_only)
        self._writer = _engine(url, "READ COMMITTED", pool_size, read_only, _BY_KEYS)
        self._single = _engine(url, "AUTOCOMMIT", pool_size, read_only, _BY_KEYS)
        self._watch = ConnectionWatch(self._hangs, clock=clock)

    def check_changes(self) -> None:
        """Raise StoreUnavailable unless the database answers, and takes changes: a standby only answers reads."""
        if self.read(lambda connection: connection.execute(_TAKES_NO_CHANGES).scalar_one()):
            raise StoreUnavailable("the database takes no changes: it is a standby, or read-only")

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work on one snapshot of the database. It may run twice."""
        with STORE.labels("read").time():
            return self._run(self._reader, work, commit=False)

    def look(self, work: Callable[[Connection], T]) -> T:
        """Run a single statement that only reads, without the round trips that begin and end a transaction."""
        with STORE.labels("read").time():
            return self._run(self._single, work, commit=False)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run work in one transaction and commit it. It may run twice, but is committed once."""
        with STORE.labels("write").time():
            return self._run(self._writer, work, commit=True)

    def write_repeatable(self, work: Callable[[Connection], T]) -> T:
        """Run a single statement that is its own transaction and may safely run twice."""
        with STORE.labels("submit").time():
            return self._run(self._single, work, commit=False)

    def connect(self) -> psycopg2.extensions.connection:
        """Return a connection outside the pool, with each statement its own transaction; the caller closes it."""
        url = self._writer.url
        arguments, options = self._writer.dialect.create_connect_args(url)
        try:
            connection: psycopg2.extensions.connection = psycopg2.connect(
                *arguments, **{**options, **connect_arguments(url)}
            )
        except psycopg2.OperationalError as error:
            raise StoreUnavailable(_first_line(error)) from error
        connection.autocommit = True
        return connection

    def close(self) -> None:
        """Close every connection of the pools."""
        self._watch.close()
        for engine in (self._reader, self._writer, self._single):
            engine.dispose()

    def _run(self, engine: Engine, work: Callable[[Connection], T], commit: bool) -> T:
        """Run once more if the connection turns out to be dead, as all are after a restart; not once a commit began."""
        for last_try in (False, True):
            committing = False
            if commit:
                positions.begin()
            try:
                with self._watch.under_way() as watch, engine.connect() as connection:
                    watch(connection)
                    result = work(connection)
                    if commit:
                        committing = True
                        connection.commit()
                        positions.commit()
                    return result
            except exc.DBAPIError as error:
                if last_try or committing or not error.connection_invalidated:
                    _raise_store_error(error)
            except exc.TimeoutError as error:
                raise StoreUnavailable("no connection to the database became free in time") from error
            except StoreError:
                raise
            except (UnicodeEncodeError, ValueError) as error:
                _raise_if_unstorable(error)
                raise
        raise AssertionError("unreachable")

    def _hangs(self) -> bool:
        """Try a new connection; return True if the server does not answer it. A refused connection is no sign of a
        hang.
        """
        began_s = self._clock.monotonic_s()
        try:
            self.connect().close()
        except StoreUnavailable:
            return bool(self._clock.monotonic_s() - began_s >= 0.9 * CONNECT_ARGUMENTS["connect_timeout"])
        return False


class OnDatabase(Protocol):
    """Base class of objects with a database."""

    database: Database


def read_method(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[OnDatabase, P], T]:
    """Return the function as a method that runs it on one snapshot of the object's database."""

    @wraps(work)
    def method(holder: OnDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return holder.database.read(lambda connection: work(connection, *args, **kwargs))

    return method


def look_method(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[OnDatabase, P], T]:
    """Return the function, which runs a single statement, as a method."""

    @wraps(work)
    def method(holder: OnDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return holder.database.look(lambda connection: work(connection, *args, **kwargs))

    return method


def write_method(work: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[OnDatabase, P], T]:
    """Return the function as a method that runs it in one transaction of the object's database."""

    @wraps(work)
    def method(holder: OnDatabase, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return holder.database.write(lambda connection: work(connection, *args, **kwargs))

    return method


def with_driver(url: str) -> URL:
    """Return the URL with the installed driver; the meaning of a plain `postgresql://` changes between versions."""
    parsed = make_url(url)
    return parsed.set(drivername="postgresql+psycopg2") if parsed.drivername == "postgresql" else parsed


def connect_arguments(url: URL, settings: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the driver's arguments besides the URL, which take precedence there; `settings` apply to the session."""
    asked = url.query.get("options", ())
    named = [f"-c {name}={value}" for name, value in settings.items()]
    options = " ".join([CONNECT_ARGUMENTS["options"], *named, *([asked] if isinstance(asked, str) else asked)])
    return {name: value for name, value in CONNECT_ARGUMENTS.items() if name not in url.query} | {"options": options}


def _engine(
    url: str,
    isolation_level: IsolationLevel,
    pool_size: int,
    read_only: bool,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Engine:
    parsed = with_driver(url)
    engine = create_engine(
        parsed,
        isolation_level=isolation_level,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=POOL_WAIT_S_MAX,
        connect_args=connect_arguments(parsed, settings),
        executemany_mode="values_plus_batch",
    )
    if read_only:
        event.listen(engine, "connect", _make_read_only)
    else:
        event.listen(engine, "handle_error", _leave_a_standby)
    return engine


def _make_read_only(connection: psycopg2.extensions.connection, _record: object) -> None:
    """Make the session read-only by a statement, not by an option of the connection: a URL with
    `target_session_attrs=read-write` would refuse every server.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    connection.commit()


def _leave_a_standby(context: ExceptionContext) -> None:
    """Drop the connections of the pool if its server accepts no writes any more, since another one does now."""
    if getattr(context.original_exception, "pgcode", None) == READ_ONLY_TRANSACTION:
        context.is_disconnect = True


def _raise_store_error(error: exc.DBAPIError) -> NoReturn:
    if error.connection_invalidated or isinstance(error, exc.OperationalError | exc.InterfaceError):
        raise StoreUnavailable(_first_line(error.orig)) from error
    if isinstance(error, exc.DataError):
        raise Unstorable(_first_line(error.orig)) from error
    if getattr(error.orig, "pgcode", None) in UNDEFINED_TABLE_OR_TYPE:
        raise StoreError(f"the database lacks tables of this version: run the migrations ({_first_line(error.orig)})")
    raise error


def _raise_if_unstorable(error: ValueError) -> None:
    """Raise Unstorable for texts that the driver refuses before it sends them: it has no error of its own for that."""
    if isinstance(error, UnicodeEncodeError) or "NUL" in str(error):
        raise Unstorable(str(error)) from error


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().split("\n", 1)[0]
