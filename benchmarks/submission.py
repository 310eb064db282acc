"""Submissions through the API beside the bare PostgreSQL insert of the same rows, in one run."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import psycopg2
from psycopg2.extras import execute_values
from sqlalchemy.engine import make_url

from benchmarks.support import machine, percentile, repeat, tell, temporary_home
from zoe_client import Client
from zoe_embedded.stack import Stack

SEQUENTIAL = 150
PARALLEL = 400
THREADS = 8
RUNS = 5
APPLICATION: dict[str, Any] = {
    "version": 4,
    "name": "bench",
    "components": [
        {
            "name": "worker",
            "image": "zoe/tiny",
            "command": ["true"],
            "essential_count": 1,
            "total_count": 21,
            "resources": {"memory": "1GiB", "cores": 0.01},
        }
    ],
}
_numbers = count()


def main() -> None:
    """Measure and print."""
    print(machine())
    with temporary_home() as home, Stack(home, spark=False, master=False) as stack:
        bare = Bare(stack.database_url)
        with Client(stack.url, stack.token) as client:
            tell("one application of 21 services per submission", repeat(lambda: measure(client, bare), RUNS))


def measure(client: Client, bare: Bare) -> dict[str, float]:
    """Measure one run of both, one after the other."""
    api = [seconds_of(lambda: client.submit(APPLICATION)) for _ in range(SEQUENTIAL)]
    plain = [seconds_of(bare.insert) for _ in range(SEQUENTIAL)]
    api_rate = rate(lambda: client.submit(APPLICATION))
    bare_rate = rate(bare.insert)
    return {
        "api p50 ms": percentile(api, 0.5) * 1e3,
        "api p99 ms": percentile(api, 0.99) * 1e3,
        "bare p50 ms": percentile(plain, 0.5) * 1e3,
        "bare p99 ms": percentile(plain, 0.99) * 1e3,
        "api p50 / bare p50": percentile(api, 0.5) / percentile(plain, 0.5),
        f"api submissions per s, {THREADS} threads": api_rate,
        f"bare inserts per s, {THREADS} connections": bare_rate,
        "api rate / bare rate": api_rate / bare_rate,
    }


def seconds_of(call: Any) -> float:
    """Return the seconds of one call."""
    began_s = time.perf_counter()
    call()
    return time.perf_counter() - began_s


def rate(call: Any) -> float:
    """Return calls per second of several threads."""
    began_s = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda _: call(), range(PARALLEL)))
    return PARALLEL / (time.perf_counter() - began_s)


class Bare:
    """The same rows with psycopg2 alone: one execution, 21 services, one event, in one transaction."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connections: dict[int, Any] = {}
        with self._connection().cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS bare_executions (id text PRIMARY KEY, document jsonb, at float)")
            cursor.execute("CREATE TABLE IF NOT EXISTS bare_services (id text PRIMARY KEY, execution text, state text)")
            cursor.execute(
                "CREATE TABLE IF NOT EXISTS bare_journal (id bigserial PRIMARY KEY, execution text, kind text)"
            )
        self._connection().commit()

    def insert(self) -> None:
        """Insert the rows of one submission."""
        name, connection = f"b{next(_numbers)}", self._connection()
        with connection.cursor() as cursor:
            document = json.dumps(APPLICATION)
            cursor.execute("INSERT INTO bare_executions VALUES (%s, %s, %s)", (name, document, time.time()))
            services = [(f"{name}.{i}", name, "created") for i in range(21)]
            execute_values(cursor, "INSERT INTO bare_services VALUES %s", services)
            cursor.execute("INSERT INTO bare_journal (execution, kind) VALUES (%s, 'submitted')", (name,))
        connection.commit()

    def _connection(self) -> Any:
        me = threading.get_ident()
        if me not in self._connections:
            url = make_url(self.url)
            self._connections[me] = psycopg2.connect(
                user=url.username, password=url.password, dbname=url.database, host=url.query["host"]
            )
        return self._connections[me]


if __name__ == "__main__":
    main()
