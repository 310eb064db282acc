"""Runs migrations: on the connection of zoe_lib.store.postgres.migrate, or for developers on ZOE_DATABASE_URL."""

from __future__ import annotations

import os

from sqlalchemy import Connection, create_engine

from alembic import context
from zoe_lib.store.tables import metadata


def run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    engine = create_engine(os.environ["ZOE_DATABASE_URL"])
    with engine.connect() as own:
        run(own)
    engine.dispose()
