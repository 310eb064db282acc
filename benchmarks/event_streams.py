"""Five hundred followers of the journal at one API process: its CPU time, and the delay of events."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import closing
from functools import partial
from urllib.parse import urlsplit

import psutil

from benchmarks.ranges import Table
from benchmarks.support import machine, percentile, repeat, temporary_home
from tests.support.applications import execution
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.store.postgres.store import PostgresStore

CLIENTS = 500
EVENTS = 92
RUNS = 5
_AT_S = re.compile(rb'"at_s":([0-9.]+)')
_SETTINGS = {
    "api_connections_of_address_max": 2 * CLIENTS,
    "api_streams_of_user_max": 2 * CLIENTS,
    "api_streams_of_token_max": 2 * CLIENTS,
}


class Followers:
    """Reads all streams in this process; counts events, and records the delay of the first in each piece."""

    def __init__(self, url: str, token: str) -> None:
        self._address = urlsplit(url)
        self._request = (
            f"GET /api/v1/events?all_tenants=true HTTP/1.1\r\nHost: {self._address.netloc}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n"
        ).encode()
        self.open, self.events = 0, 0
        self.lags_s: list[float] = []

    async def follow(self) -> None:
        """Read one stream until cancelled."""
        reader, writer = await asyncio.open_connection(self._address.hostname, self._address.port)
        writer.write(self._request)
        await reader.readuntil(b": open")
        self.open += 1
        while piece := await reader.read(1 << 20):
            found = piece.count(b"\nevent: ")
            at_s = _AT_S.search(piece) if found else None
            if at_s is not None:
                self.lags_s.append(time.time() - float(at_s[1]))
            self.events += found


def main() -> int:
    """Measure, and print the figures beside the goals."""
    print(machine())
    table = Table("event streams")
    with temporary_home() as home, Stack(home, spark=False, master=False, settings=_SETTINGS) as stack:
        api = next(p for p in psutil.Process().children(recursive=True) if "zoe_api.main" in p.cmdline())
        with closing(PostgresStore(stack.database_url)) as store:
            for title, step, pause_s in (
                ("in one transaction", EVENTS, 0.0),
                ("one each 2 ms", 1, 0.002),
                ("one each 20 ms", 1, 0.02),
            ):
                figures = repeat(partial(run, stack, api, store, step, pause_s), RUNS)
                for name, values in figures.items():
                    table.row(f"{CLIENTS} clients, {EVENTS} events {title}, {name}", values)
    return table.close()


def run(stack: Stack, api: psutil.Process, store: PostgresStore, step: int, pause_s: float) -> dict[str, float]:
    """Run once in a separate event loop."""
    return asyncio.run(measure(stack, api, store, step, pause_s))


async def measure(
    stack: Stack, api: psutil.Process, store: PostgresStore, step: int, pause_s: float
) -> dict[str, float]:
    """Measure one run: open all streams, write the events, wait until all have them."""
    followers = Followers(stack.url, stack.token)
    tasks = [asyncio.create_task(followers.follow()) for _ in range(CLIENTS)]
    while followers.open < CLIENTS:
        await asyncio.sleep(0.05)
    await asyncio.sleep(2.0)  # at first each reads the journal once
    before = cpu_s(api)
    await asyncio.to_thread(write, store, step, pause_s)
    while followers.events < CLIENTS * (EVENTS + 2):
        await asyncio.sleep(0.01)
    spent_s = cpu_s(api) - before
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {"CPU s": spent_s, "lag p99 s": percentile(followers.lags_s, 0.99)}


def write(store: PostgresStore, step: int, pause_s: float) -> None:
    """Write reasons of one execution, `step` per transaction."""
    number = store.last_journal_id() + 1
    fresh = store.submit(execution(number, submitted_at_s=time.time()), "bench")
    stored = store.append(fresh.id, [ev.Queued(at_s=time.time())], fresh.version, None)
    for first in range(0, EVENTS, step):
        reasons = [
            ev.ReasonChanged(at_s=time.time(), reason=Reason(ReasonCode.NO_RESOURCES, f"no room for {first + more}"))
            for more in range(step)
        ]
        stored = store.append(stored.id, reasons, stored.version, None)
        time.sleep(pause_s)


def cpu_s(process: psutil.Process) -> float:
    """Return the CPU seconds that a process has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    raise SystemExit(main())
