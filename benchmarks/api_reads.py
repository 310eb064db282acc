"""Cost of API requests with many stored executions, and with many queued ones."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import closing

import psutil

from benchmarks.ranges import Table
from benchmarks.support import machine, temporary_home
from tests.support.applications import execution
from tests.support.statements import copy_execution
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.store.postgres.store import PostgresStore

STORED = 100_000
QUEUED = 50_000
RUNS = 5


def main() -> int:
    """Fill a database, measure, and print the figures beside the goals."""
    print(machine())
    with temporary_home() as home, Stack(home, spark=False, master=False) as stack:
        api = next(p for p in psutil.Process().children(recursive=True) if "zoe_api.main" in p.cmdline())
        with closing(PostgresStore(stack.database_url)) as store:
            copy_execution(stack.database_url, store_ended_execution(store), STORED)
            began_s = time.perf_counter()
            while store.sum_up():
                pass
            print(f"{STORED:,} executions stored; summed up in {time.perf_counter() - began_s:.1f} s")
        table = Table("reads")
        with Client(stack.url, stack.token) as client:
            measure(table, api, client)
    with temporary_home() as home, Stack(home, spark=False, master=False) as stack:
        with closing(PostgresStore(stack.database_url)) as store:
            copy_execution(stack.database_url, store.submit(execution(), "bench").id, QUEUED)
        with Client(stack.url, stack.token) as client:
            for title, ask in {"nodes": client.nodes, "quota": client.quota}.items():
                table.row(f"GET /{title}, {QUEUED:,} queued, s", [seconds_of(ask) for _ in range(RUNS)])
    return table.close()


def measure(table: Table, api: psutil.Process, client: Client) -> None:
    """Send each request several times."""
    before = api.memory_info().rss
    questions: dict[str, Callable[[], object]] = {
        "GET /usage/daily": lambda: client.daily_use(0.0),
        "GET /status, master away": client.status,
        "GET /executions?name=, nothing has it": lambda: client.executions(name="nothing", all_tenants=True),
    }
    for title, ask in questions.items():
        table.row(f"{title}, s", [seconds_of(ask) for _ in range(RUNS)])
    table.row("memory of the API grown by, MiB", [(api.memory_info().rss - before) / 2**20])


def seconds_of(ask: Callable[[], object]) -> float:
    """Return the seconds of one request."""
    began_s = time.perf_counter()
    ask()
    return time.perf_counter() - began_s


def store_ended_execution(store: PostgresStore) -> str:
    """Run one execution of two services for a minute, in the journal."""
    now_s = time.time() - 3600
    fresh = store.submit(execution(submitted_at_s=now_s), "bench")
    services = fresh.core_services()
    placed = tuple(ev.Placement(service_id=service.id, node="n") for service in services)
    events: list[ev.Event] = [ev.Queued(at_s=now_s), ev.StartPlanned(at_s=now_s, placements=placed)]
    for service in services:
        events.append(ev.ServiceStarting(at_s=now_s, service_id=service.id))
        events.append(ev.ServiceStarted(at_s=now_s, service_id=service.id))
    events.append(ev.Stopping(at_s=now_s + 60, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED))
    events += [
        ev.ServiceEnded(at_s=now_s + 60, service_id=service.id, cause=Cause.EXITED) for service in fresh.services
    ]
    return store.append(fresh.id, [*events, ev.Ended(at_s=now_s + 60)], fresh.version, None).id


if __name__ == "__main__":
    sys.exit(main())
