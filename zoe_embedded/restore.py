"""`python -m zoe_embedded.restore FILE`: restore a backup into the embedded database of a stopped stack. The database
before it is kept; `--list-kept` and `--remove-kept` list and remove such databases.
"""

from __future__ import annotations

import argparse
import fcntl
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg2
from psycopg2 import sql
from sqlalchemy import make_url

from zoe_embedded.home import Home, HomeError
from zoe_embedded.postgres import DATABASE, EmbeddedPostgres, EmbeddedPostgresError
from zoe_embedded.runtimes.runtime import CLONE
from zoe_lib.store.backup.restore import Restored, restore
from zoe_lib.store.errors import NotFound, StoreError

_KEPT = f"{DATABASE}_before"
_KEPT_NAME = re.compile(rf"{_KEPT}(_\d{{8}}_\d{{6}})?", re.ASCII)
_NEW = f"{DATABASE}_restoring"
_MOMENT = "%Y%m%d_%H%M%S"


def main() -> int:
    """Do what the arguments ask for; return 1 with an error message if that fails, and then nothing has changed."""
    parser = argparse.ArgumentParser(prog="python -m zoe_embedded.restore", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("file", type=Path, nargs="?", help="backup to restore")
    action.add_argument("--list-kept", action="store_true", help="list the databases that restores have kept")
    action.add_argument("--remove-kept", nargs="+", metavar="NAME", help="remove these for ever")
    parser.add_argument("--signers", type=Path, metavar="FILE", help="as for zoe-setup restore")
    options = parser.parse_args()
    try:
        home = Home.find(CLONE).create()
        if options.list_kept:
            print("\n".join(f"{name} {size}" for name, size in kept_databases(home)) or "no database is kept")
        elif options.remove_kept:
            remove_kept(home, options.remove_kept)
        else:
            _report(*restore_home(home, options.file, options.signers))
    except (StoreError, HomeError, EmbeddedPostgresError, BlockingIOError, psycopg2.Error) as error:
        words = "Zoe runs there: stop `make serve` first" if isinstance(error, BlockingIOError) else str(error).strip()
        print(f"restore: {words}", file=sys.stderr)
        return 1
    return 0


def _report(done: Restored, kept: str) -> None:
    executions = done.manifest.rows("executions")
    signed = f" ({done.signed})" if done.signed else ""
    print(f"restored {executions} executions{signed}; the old database is kept as {kept}. Now run `make serve`.")
    print(f"To remove the old one: python -m zoe_embedded.restore --remove-kept {kept}")


def restore_home(
    home: Home, file: Path, signers: Path | None = None, at_s: float | None = None
) -> tuple[Restored, str]:
    """Restore a backup into the home's database; return the name under which the old database is kept, too.

    The old database stays in its place until the new one is complete, even if this process is killed. The name has the
    time, so that a second restore keeps what the first one kept. Raises BlockingIOError if a stack runs.
    """
    at_s = time.time() if at_s is None else at_s
    kept = f"{_KEPT}_{time.strftime(_MOMENT, time.gmtime(at_s))}"
    with _stopped(home) as url:
        _run(url, ("DROP DATABASE IF EXISTS {}", _NEW))  # of a restore that was killed
        _run(url, ("CREATE DATABASE {}", _NEW))
        try:
            target = make_url(url).set(database=_NEW).render_as_string(hide_password=False)
            done = restore(target, file, home.secrets / "keys", at_s, signers)
            # In one transaction; PostgreSQL refuses it if a database has this name.
            rename = "ALTER DATABASE {} RENAME TO {}"
            _run(url, (rename, DATABASE, kept), (rename, _NEW, DATABASE), together=True)
        except BaseException:
            _run(url, ("DROP DATABASE IF EXISTS {}", _NEW))
            raise
        return done, kept


def kept_databases(home: Home) -> list[tuple[str, str]]:
    """Return the databases that restores have kept, with their sizes, oldest first; BlockingIOError if a stack runs."""
    with _stopped(home) as url:
        return _kept(url)


def remove_kept(home: Home, names: Sequence[str]) -> None:
    """Remove kept databases; NotFound, with nothing removed, if one does not exist. BlockingIOError if a stack runs."""
    with _stopped(home) as url:
        there = {name for name, _ in _kept(url)}
        if unknown := [name for name in names if name not in there]:
            known = ", ".join(sorted(there)) or "none"
            raise NotFound(f"{unknown[0]} is not a database that a restore has kept; these are kept: {known}")
        for name in names:
            _run(url, ("DROP DATABASE {}", name))


@contextmanager
def _stopped(home: Home) -> Iterator[str]:
    """Yield the URL of the home's PostgreSQL, which runs for this time only."""
    postgres = EmbeddedPostgres(home)
    with (home.state / "stack.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            yield postgres.start()
        finally:
            postgres.stop()


def _kept(url: str) -> list[tuple[str, str]]:
    with closing(_connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT datname, pg_size_pretty(pg_database_size(datname)) FROM pg_database ORDER BY datname")
        return [(name, size) for name, size in cursor.fetchall() if _KEPT_NAME.fullmatch(name)]


def _run(url: str, *statements: tuple[str, ...], together: bool = False) -> None:
    """Run statements with names of databases; together: in one transaction."""
    with closing(_connect(url)) as connection:
        connection.autocommit = not together
        with connection.cursor() as cursor:
            for statement, *names in statements:
                cursor.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
        connection.commit()


def _connect(url: str) -> Any:
    plain = make_url(url).set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    return psycopg2.connect(plain)


if __name__ == "__main__":
    sys.exit(main())
