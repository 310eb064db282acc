"""Migrate a database to the tables of this version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, exc, text

import zoe_lib
from alembic import command
from zoe_lib.store.errors import StoreError, StoreUnavailable
from zoe_lib.store.postgres.revision import FIRST, before_first
from zoe_lib.store.sql.connection.database import with_driver

# Held while a process migrates, so that processes that start at the same time wait for it.
MIGRATION_LOCK = 0x5A6F65_03


def scripts_directory() -> Path:
    """Return the directory of the migrations: inside an installed package, or beside it in a clone."""
    package = Path(zoe_lib.__file__).parent
    for directory in (package / "migrations", package.parent / "alembic"):
        if (directory / "env.py").is_file():
            return directory
    raise StoreError(
        f"the migrations of the database are missing in {package}: install the package zoe-analytics again"
    )


def upgrade(url: str, revision: str = "head") -> None:
    """Upgrade to a revision; do nothing if the database is already there. StoreError if it is older than FIRST."""
    with _connect_locked(url) as connection:
        present = MigrationContext.configure(connection).get_current_revision()
        if present is not None and present < FIRST:
            raise StoreError(before_first(present))
        connection.rollback()
        command.upgrade(_config(connection), revision)


def downgrade(url: str, revision: str) -> None:
    """Downgrade to a revision; `base` is an empty database. The contents of the newer tables are lost."""
    with _connect_locked(url) as connection:
        command.downgrade(_config(connection), revision)


def up_to_date(url: str) -> bool:
    """Return whether the database has the tables of this version."""
    newest = ScriptDirectory.from_config(_config(None)).get_current_head()
    with _connect_locked(url) as connection:
        return MigrationContext.configure(connection).get_current_revision() == newest


def has_migrations_to(revision: str) -> bool:
    """Return whether this version has the migrations up to a revision."""
    return revision in {script.revision for script in ScriptDirectory.from_config(_config(None)).walk_revisions()}


def lock_until_the_end(connection: Connection) -> None:
    """Block other processes' migrations until the end of the connection's transaction."""
    connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))


def upgrade_within(connection: Connection, revision: str) -> None:
    """Upgrade to a revision within the connection's transaction."""
    command.upgrade(_config(connection), revision)


def _config(connection: Connection | None) -> Config:
    config = Config(attributes={} if connection is None else {"connection": connection})
    # A percent sign is syntax in these options, and legal in a path.
    config.set_main_option("script_location", str(scripts_directory()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def _connect_locked(url: str) -> Iterator[Connection]:
    engine = create_engine(with_driver(url))
    try:
        with engine.connect() as connection:
            connection.execute(text(f"SELECT pg_advisory_lock({MIGRATION_LOCK})"))
            connection.commit()
            try:
                yield connection
            finally:
                connection.rollback()
                connection.execute(text(f"SELECT pg_advisory_unlock({MIGRATION_LOCK})"))
                connection.commit()
    except exc.OperationalError as error:
        raise StoreUnavailable(str(error.orig).strip()) from error
    finally:
        engine.dispose()
