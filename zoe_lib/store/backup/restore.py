"""Restore a backup into an empty database, in one transaction: programs see all of it or none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, MetaData, inspect, text, update

from zoe_lib.sealing import KEY_FILE
from zoe_lib.store.backup.backup import REVISION_TABLE, UnfitRows, copy, one_transaction, quote_names
from zoe_lib.store.backup.file import BackupFile, damage_message, member_of, open_backup
from zoe_lib.store.backup.manifest import Manifest, TableRows
from zoe_lib.store.errors import StoreError
from zoe_lib.store.postgres import migrate
from zoe_lib.store.sql.journal.journal import write_fact
from zoe_lib.store.tables.installation import leader, lease

_NO_BACKUP = "the file is not a backup of Zoe"
# The lost database had used higher numbers than the backup has. None of them is used again: so no client, API or master
# of that time takes a new entry for one that it has seen, and no epoch of that time can write. The same backup may be
# restored again, after hours of use: so a later restore skips more, by what those hours can have used at most.
_SKIPPED_JOURNAL_IDS = 10**9
_JOURNAL_IDS_PER_S = 10_000
_SKIPPED_EPOCHS = 10**6
_EPOCHS_PER_S = 10
_PROGRAMS = text("""
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'zoe' AND pid <> pg_backend_pid()
""")


@dataclass(frozen=True, slots=True)
class Restored:
    """Result of a restore. signed: a sentence about its signature, empty if it has none. left_out: tables in the file
    that are not Zoe's, as backups of version 1.0.0 contain.
    """

    manifest: Manifest
    signed: str
    left_out: Sequence[str] = ()


def restore(url: str, path: Path, keys_dir: Path, at_s: float, signers: Path | None = None) -> Restored:
    """Restore a file of `back_up` of this or an older version; StoreError, with nothing changed, if that fails.

    The key of credentials goes to `keys_dir` unless it exists there. With `signers`, a file of allowed signers of
    OpenSSH, one of them must have signed the backup.
    """
    key_file = keys_dir / KEY_FILE
    with open_backup(path, signers) as backup:
        _check_key(backup.key, key_file)
        with one_transaction(url) as connection:
            _check_empty(connection)
            left_out = _fill(connection, backup, at_s)
            if backup.key is not None and not key_file.exists():
                write_key(backup.key, key_file)
        return Restored(backup.manifest, backup.signed, left_out)


def _check_key(key: bytes | None, key_file: Path) -> None:
    try:
        present = key_file.read_bytes() if key is not None and key_file.exists() else key
    except OSError as error:
        raise StoreError(f"cannot read {key_file}: {error.strerror}") from error
    if present != key:
        raise StoreError(
            f"{key_file} is not the key of the backup, so the restored credentials could not be decrypted: move it away"
        )


def _check_empty(connection: Connection) -> None:
    migrate.lock_until_the_end(connection)
    if programs := connection.execute(_PROGRAMS).scalar_one():
        raise StoreError(
            f"masters or APIs are connected to the database ({programs} connections): stop them, then restore"
        )
    if tables := inspect(connection).get_table_names():
        raise StoreError(
            f"the database is not empty (it has {len(tables)} tables, such as {min(tables)}): "
            "make a new one, and name it in database_url"
        )


def _fill(connection: Connection, backup: BackupFile, at_s: float) -> list[str]:
    manifest = backup.manifest
    migrate.upgrade_within(connection, manifest.revision)
    left_out = _check_tables(connection, manifest)
    for table in manifest.tables:
        if table.name in left_out:
            continue
        connection.execute(text(f"DELETE FROM {quote_names(connection, table.name)}"))  # noqa: S608 - what migrations insert
        rows = _copy(connection, backup, table)
        if rows != table.rows:
            raise StoreError(f"the backup has {rows} rows of {table.name}, and its manifest says {table.rows}")
    for name, number in manifest.numbers.items():
        table_name, column = name.split(".")
        if table_name not in left_out:
            _set_number(connection, table_name, column, number)
    migrate.upgrade_within(connection, "head")
    age_s = max(int(at_s - manifest.at_s), 0)
    skipped_ids = _SKIPPED_JOURNAL_IDS + age_s * _JOURNAL_IDS_PER_S
    _set_number(connection, "journal", "id", manifest.journal_id + skipped_ids)
    skipped_epochs = _SKIPPED_EPOCHS + age_s * _EPOCHS_PER_S
    connection.execute(update(leader).values(epoch=leader.c.epoch + skipped_epochs))
    connection.execute(update(lease).values(epoch=lease.c.epoch + skipped_epochs))
    write_fact(connection, "restored", at_s, "zoe-setup", {"backup_at_s": manifest.at_s})
    connection.execute(text("ANALYZE"))
    return left_out


def _check_tables(connection: Connection, manifest: Manifest) -> list[str]:
    """Return the tables that the revision does not have. Raises StoreError unless the manifest names each table and
    column of its revision, once.
    """
    metadata = MetaData()
    metadata.reflect(connection)
    expected = {table.name: table for table in metadata.sorted_tables if table.name != REVISION_TABLE}
    given = [table.name for table in manifest.tables]
    left_out = sorted(set(given) - expected.keys())
    if sorted(given) != sorted([*expected, *left_out]):
        different = min(expected.keys() - set(given), default="a table twice")
        raise StoreError(f"{_NO_BACKUP}: its tables are not those of revision {manifest.revision} ({different})")
    for table in (table for table in manifest.tables if table.name in expected):
        if sorted(table.columns) != sorted(expected[table.name].columns.keys()):
            raise StoreError(f"{_NO_BACKUP}: the columns of {table.name} are not those of revision {manifest.revision}")
    identities = {f"{t.name}.{c.name}" for t in expected.values() for c in t.columns if c.identity is not None}
    unknown = {name for name in manifest.numbers.keys() - identities if name.partition(".")[0] in expected}
    if unknown:
        raise StoreError(f"{_NO_BACKUP}: the column {min(unknown)} has no sequence of numbers")
    return left_out


def _copy(connection: Connection, backup: BackupFile, table: TableRows) -> int:
    """Fill a table; return the number of rows."""
    statement = f"COPY {quote_names(connection, table.name)} ({quote_names(connection, *table.columns)}) FROM STDIN"
    with backup.rows(table.name) as member:
        try:
            return copy(connection, statement, member)
        except UnfitRows as error:
            raise StoreError(f"{damage_message(member_of(table.name))} ({error})") from error
        except StoreError:
            if member.error is not None:
                raise StoreError(damage_message(member_of(table.name))) from member.error
            raise


def _set_number(connection: Connection, table: str, column: str, number: int) -> None:
    statement = text("SELECT setval(pg_get_serial_sequence(:table, :column), :number)")
    connection.execute(statement, {"table": table, "column": column, "number": number})


def write_key(key: bytes, path: Path) -> None:
    """Write the key file, as the last step before the commit, for the owner of the directory, who runs Zoe.

    It is renamed once it is complete and on the disk, so a failure leaves no file that refuses the next try.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = path.parent.stat()
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            os.link(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write {path.parent}: {error.strerror}") from error
