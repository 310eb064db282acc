"""The table revision that this version needs, so that a program can report it before it fails."""

from __future__ import annotations

from sqlalchemy import Connection, text

REVISION = "0071"
"""The newest migration in alembic/versions. Names of migrations sort by age."""
FIRST = "0057"
"""The oldest supported revision, of FIRST_VERSION, which upgrades older tables."""
FIRST_VERSION = "0.3.0"


class TablesTooOld(Exception):  # noqa: N818 - the name is the fact
    """The database has no tables of Zoe, or those of an older version; the message names the command to run."""


def check_tables(revision: str | None) -> None:
    """Raise TablesTooOld if a database at this revision (None: without tables) cannot serve this version.

    Newer tables are accepted: during an upgrade, programs of the previous version run beside new ones.
    """
    if revision is None:
        raise TablesTooOld("the database has no tables of Zoe: run zoe-setup, then start this program again")
    if revision < FIRST:
        raise TablesTooOld(before_first(revision))
    if revision < REVISION:
        raise TablesTooOld(
            f"the database has the tables of an older version ({revision}, this version needs {REVISION}): "
            "run zoe-setup, then start this program again"
        )


def before_first(revision: str) -> str:
    """Return the sentence for tables that this version cannot bring up to date."""
    return (
        f"the database has the tables of a version before {FIRST_VERSION} ({revision}): "
        f"run zoe-setup of Zoe {FIRST_VERSION}, then that of this version"
    )


def read_revision(connection: Connection) -> str | None:
    """Return the revision of the database; None without tables of Zoe."""
    if connection.execute(text("SELECT to_regclass('alembic_version')")).scalar_one() is None:
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return revision
