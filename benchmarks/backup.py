"""Time of a backup of 100,000 executions, and of its restoration into an empty database."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path

from benchmarks.api_reads import STORED, store_ended_execution
from benchmarks.support import machine, temporary_home
from tests.support.statements import copy_execution
from zoe_embedded.restore import restore_home
from zoe_embedded.stack import Stack
from zoe_lib.sealing import KEY_FILE
from zoe_lib.store.backup.backup import back_up
from zoe_lib.store.postgres.store import PostgresStore


def main() -> int:
    """Fill a database, back it up while the API runs, stop, restore, and print the seconds."""
    print(machine())
    with temporary_home() as home:
        file = Path(home.path) / "zoe.backup"
        with Stack(home, spark=False, master=False) as stack:
            with closing(PostgresStore(stack.database_url)) as store:
                copy_execution(stack.database_url, store_ended_execution(store), STORED)
            began_s = time.perf_counter()
            made = back_up(stack.database_url, file, home.secrets / "keys" / KEY_FILE, "benchmark", time.time())
            backup_s = time.perf_counter() - began_s
        rows = sum(table.rows for table in made.tables)
        print(f"{made.rows('executions'):,} executions, {rows:,} rows, {file.stat().st_size / 2**20:.0f} MiB")
        began_s = time.perf_counter()
        restore_home(home, file)
        print(f"backup {backup_s:.1f} s, restore {time.perf_counter() - began_s:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
