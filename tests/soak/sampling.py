"""Samples of programs, by their pids, and of the tables of a database."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

import psutil
import psycopg2

from tests.soak.growth import LOGS
from tests.support.postgres import connect

_MIB = 2**20
_TABLES = """
SELECT schemaname, tablename FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename <> 'chaos_times' ORDER BY 1, 2
"""


class Samples:
    """Samples, by name of kind and program or table; times since the begin."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._began_s = time.monotonic()
        self.seconds_worked = 0.0
        self.points: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)

    @property
    def seconds(self) -> float:
        """Return how long it goes on."""
        return time.monotonic() - self._began_s

    def take(self, programs: Mapping[str, int], base: Path) -> None:
        """Sample everything once; absent programs are left out.

        `base`: the directory of the installation. A leader has threads and connections that a standby has not, so these
        are counted by role.
        """
        with suppress(psycopg2.Error), closing(connect(self._url)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT holder FROM leader")
            leader = "".join(f"master {holder}" for (holder,) in cursor.fetchall())
            for name, pid in programs.items():
                role = name
                if name.startswith("master "):
                    role = "leader" if name == leader else "standby"
                with suppress(psutil.Error):
                    process = psutil.Process(pid)
                    with process.oneshot():
                        self._add("memory", name, process.memory_info().rss / _MIB)
                        self._add("descriptors", role, process.num_fds())
                        self._add("threads", role, process.num_threads())
            cursor.execute(_TABLES)
            for schema, table in cursor.fetchall():
                cursor.execute(f'SELECT count(*) FROM "{schema}"."{table}"')
                self._add("rows", table if schema == "public" else f"{schema}.{table}", cursor.fetchone()[0])

        logs = sum(path.stat().st_size for path in base.glob("*.log*"))
        self._add("disk", LOGS, logs / _MIB)
        self._add("disk", "installation", (sum(_sizes(base)) - logs) / _MIB)

    def _add(self, kind: str, of: str, value: float) -> None:
        self.points[kind, of].append((self.seconds, float(value)))


def _sizes(base: Path) -> Iterator[int]:
    for place, _, names in os.walk(base):
        for name in names:
            with suppress(OSError):
                yield Path(place, name).lstat().st_size
