"""`python -m zoe_embedded.restore FILE`: restore a backup into the embedded database of a stopped stack."""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from contextlib import closing
from pathlib import Path

import psycopg2
from psycopg2 import sql
from sqlalchemy import make_url

from zoe_embedded.home import Home, HomeError
from zoe_embedded.postgres import DATABASE, EmbeddedPostgres, EmbeddedPostgresError
from zoe_embedded.runtimes.runtime import CLONE
from zoe_lib.store.backup.restore import Restored, restore
from zoe_lib.store.errors import StoreError

_KEPT = f"{DATABASE}_before"
_MOMENT = "%Y%m%d_%H%M%S"


def main() -> int:
    """Restore the file; return 1 with an error message if that fails, and then the old database is in its place."""
    parser = argparse.ArgumentParser(prog="python -m zoe_embedded.restore", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--signers", type=Path, metavar="FILE", help="as for zoe-setup restore")
    options = parser.parse_args()
    try:
        done, kept = restore_home(Home.find(CLONE).create(), options.file, options.signers)
    except (StoreError, HomeError, EmbeddedPostgresError, BlockingIOError, psycopg2.Error) as error:
        words = "Zoe runs there: stop `make serve` first" if isinstance(error, BlockingIOError) else str(error).strip()
        print(f"restore: {words}", file=sys.stderr)
        return 1
    executions = done.manifest.rows("executions")
    signed = f" ({done.signed})" if done.signed else ""
    print(f"restored {executions} executions{signed}; the old database is kept as {kept}. Now run `make serve`.")
    return 0


def restore_home(
    home: Home, file: Path, signers: Path | None = None, at_s: float | None = None
) -> tuple[Restored, str]:
    """Restore a backup into the home's database; return the name under which the old database is kept, too.

    The name has the time, so that a second restore keeps what the first one kept. Raises BlockingIOError if a stack
    runs.
    """
    postgres = EmbeddedPostgres(home)
    at_s = time.time() if at_s is None else at_s
    kept = f"{_KEPT}_{time.strftime(_MOMENT, time.gmtime(at_s))}"
    with (home.state / "stack.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        url = postgres.start()
        try:
            _rename(url, DATABASE, kept)  # refused by PostgreSQL if a database has this name
            postgres.start()
            try:
                return restore(url, file, home.secrets / "keys", at_s, signers), kept
            except BaseException:
                _rename(url, DATABASE, None)
                _rename(url, kept, DATABASE)
                raise
        finally:
            postgres.stop()


def _rename(url: str, name: str, new_name: str | None) -> None:
    """Rename a database; None: drop it, if it exists."""
    plain = make_url(url).set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    with closing(psycopg2.connect(plain)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        if new_name is None:
            cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        else:
            statement = sql.SQL("ALTER DATABASE {} RENAME TO {}")
            cursor.execute(statement.format(sql.Identifier(name), sql.Identifier(new_name)))


if __name__ == "__main__":
    sys.exit(main())
