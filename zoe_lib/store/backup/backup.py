"""Write backups: one file with every row of Zoe's tables at one moment, and the key of stored credentials.

The file is a zip archive with one member for each table, in PostgreSQL's COPY format, which every version of PostgreSQL
reads. `manifest.json` names the tables and their revision.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import psycopg2
from sqlalchemy import Connection, Engine, MetaData, Table, create_engine, exc, func, select, text

from zoe_lib.sealing import KEY_FILE
from zoe_lib.store.backup.manifest import FORMAT, MANIFEST, Manifest, TableRows
from zoe_lib.store.errors import StoreError, StoreUnavailable
from zoe_lib.store.postgres.revision import REVISION, read_revision
from zoe_lib.store.sql.connection.database import with_driver
from zoe_lib.store.sql.journal.journal import last_id
from zoe_lib.store.tables import metadata

REVISION_TABLE = "alembic_version"
# Copying millions of rows takes longer than the statement limit of programs that serve users.
_OPTIONS = "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=20s -c timezone=UTC"


def back_up(url: str, path: Path, key_file: Path, version: str, at_s: float) -> Manifest:
    """Write a backup to a new file of mode 0600, while Zoe runs or not; StoreError if that fails."""
    key = _key(key_file)
    with _new_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with one_transaction(url, "REPEATABLE READ") as connection:
            connection.execute(text("SET TRANSACTION READ ONLY"))
            manifest = _copy_tables(connection, archive, version, at_s)
        if _key(key_file) != key:
            raise StoreError("the key of credentials was replaced during the backup; repeat it when zoe-keys has ended")
        if key is not None:
            archive.writestr(KEY_FILE, key)
        archive.writestr(MANIFEST, json.dumps(asdict(manifest)))
    return manifest


@contextmanager
def one_transaction(url: str, isolation_level: Any = "READ COMMITTED") -> Iterator[Connection]:
    """Yield a connection with one transaction, committed at the end, without time limits for statements."""
    arguments = {"application_name": "zoe-setup", "connect_timeout": 5, "options": _OPTIONS}
    engine: Engine = create_engine(with_driver(url), isolation_level=isolation_level, connect_args=arguments)
    try:
        with engine.begin() as connection:
            yield connection
    except exc.DBAPIError as error:
        words = str(error.orig).strip()
        raise (StoreUnavailable if isinstance(error, exc.OperationalError) else StoreError)(words) from error
    finally:
        engine.dispose()


class UnfitRows(StoreError):  # noqa: N818 - the name is the fact
    """The database rejects the contents of a copy's rows."""


def quote_names(connection: Connection, *names: str) -> str:
    """Return names quoted for SQL."""
    return ", ".join(connection.dialect.identifier_preparer.quote_identifier(name) for name in names)


def copy(connection: Connection, statement: str, file: Any) -> int:
    """Run a COPY from or to the file; return the number of rows."""
    cursor: Any = connection.connection.cursor()
    with closing(cursor):
        try:
            cursor.copy_expert(statement, file)
        except (psycopg2.DataError, psycopg2.IntegrityError) as error:
            raise UnfitRows(_first_line(error)) from error
        except psycopg2.Error as error:
            raise StoreError(_first_line(error)) from error
        return int(cursor.rowcount)


def _copy_tables(connection: Connection, archive: zipfile.ZipFile, version: str, at_s: float) -> Manifest:
    revision = read_revision(connection)
    if revision is None:
        raise StoreError("the database has no tables of Zoe")
    tables = [table for table in _tables(connection) if is_zoes(table.name, revision)]
    copied = tuple(_copy_table(connection, archive, table) for table in tables)
    # Sequences are not transactional, so they are read last: no copied row has a higher number.
    numbers = {f"{table.name}.{name}": number for table in tables for name, number in _numbers(connection, table)}
    return Manifest(FORMAT, version, revision, at_s, last_id(connection), copied, numbers)


def is_zoes(table: str, revision: str) -> bool:
    """Return whether a table is Zoe's, at a revision of the database. Tables of newer revisions are not known, so all
    of them are taken.
    """
    return table != REVISION_TABLE and (revision > REVISION or table in metadata.tables)


def foreign_tables(url: str) -> list[str]:
    """Return the tables of the database that are not Zoe's, which backups leave out."""
    with one_transaction(url) as connection:
        revision = read_revision(connection) or ""
        names = [table.name for table in _tables(connection) if table.name != REVISION_TABLE]
        return [name for name in names if not is_zoes(name, revision)]


def _tables(connection: Connection) -> list[Table]:
    found = MetaData()
    found.reflect(connection)
    return found.sorted_tables


def _copy_table(connection: Connection, archive: zipfile.ZipFile, table: Table) -> TableRows:
    columns = tuple(table.columns.keys())
    statement = f"COPY {quote_names(connection, table.name)} ({quote_names(connection, *columns)}) TO STDOUT"
    with archive.open(f"tables/{table.name}", "w", force_zip64=True) as member:
        return TableRows(table.name, columns, copy(connection, statement, member))


def _numbers(connection: Connection, table: Table) -> Iterator[tuple[str, int]]:
    for column in table.columns:
        if column.identity is not None:
            sequence = connection.execute(select(func.pg_get_serial_sequence(table.name, column.name))).scalar_one()
            used = text(f"SELECT last_value FROM {sequence} WHERE is_called")  # noqa: S608 - PostgreSQL quotes the name
            number = connection.execute(used).scalar_one_or_none()
            if number is not None:
                yield column.name, number


def _key(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None


def _first_line(error: psycopg2.Error) -> str:
    return str(error).strip().split("\n", 1)[0]


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a draft beside the path, which is renamed to it once it is complete and on the disk."""
    if not path.name:
        raise StoreError("a backup needs a file name")
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        if path.exists():
            raise StoreError(f"{path} exists already; choose another name, or move it away")
        with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # it may not have been made
            draft.unlink()
