"""Requirements of the programs: memory and CPU at rest, with waiting executions, and with services; disk by
execution.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing

import psutil
from sqlalchemy import create_engine, text

from benchmarks.ranges import Table
from benchmarks.support import machine, temporary_home
from zoe_client import Client
from zoe_client.wire import SubmitRequest
from zoe_client.wire.executions.executions import BATCH_MAX
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions.execution import ExecutionState

WAITING = (1_000, 10_000)
SERVICES = 20
ENDED = 200
SAMPLES = 5
SAMPLE_S = 5.0
SETTLE_S = 15.0
MIB = 2**20
NEVER = 86_400


def main() -> int:
    """Measure, and print the figures."""
    print(machine())
    table = Table("sizing")
    with temporary_home() as home, Stack(home, spark=False) as stack, Client(stack.url, stack.token) as client:
        programs = Programs(stack)
        programs.rows(table, "at rest")
        before = database_bytes(stack.database_url)
        submitted = 0
        client.submit(job(memory_share(client)))
        wait_until(lambda: client.status().executions[ExecutionState.RUNNING] == 1)
        for wanted in WAITING:
            submit(client, wanted - submitted, job(memory_share(client)))
            submitted = wanted
            until_queued(client, wanted)
            programs.rows(table, f"{wanted:,} waiting")
        grown = database_bytes(stack.database_url) - before
        table.row("database, KiB for each execution of one service that waits", [grown / submitted / 1024])
    with temporary_home() as home, Stack(home, spark=False) as stack, Client(stack.url, stack.token) as client:
        submit(client, SERVICES, job(16 * MIB))
        wait_until(lambda: client.status().executions[ExecutionState.RUNNING] >= SERVICES)
        programs = Programs(stack)
        programs.rows(table, f"{SERVICES} services")
        found = [
            p
            for p in psutil.process_iter()
            if "supervisor" in " ".join(_line(p)) and str(home.path) in " ".join(_line(p))
        ]
        table.row("supervisor of a local service, MiB", [pss(p) / MIB for p in found] or [0.0])
        before = database_bytes(stack.database_url)
        submit(client, ENDED, {**job(16 * MIB), "components": [{**part(16 * MIB), "command": ["true"]}]})
        wait_until(lambda: client.status().executions[ExecutionState.SUCCEEDED] >= ENDED)
        grown = database_bytes(stack.database_url) - before
        table.row("database, KiB for each execution of one service that ended", [grown / ENDED / 1024])
    return table.close()


class Programs:
    """The processes of a stack, by program."""

    def __init__(self, stack: Stack) -> None:
        children = psutil.Process().children(recursive=True)
        found = {name: [p for p in children if module in _line(p)] for name, module in _MODULES.items()}
        server = [
            p for p in psutil.process_iter() if str(stack.home.path) in " ".join(_line(p)) and "postgres" in p.name()
        ]
        family = [child for p in server for child in (p, *p.children(recursive=True))]
        self._found = {**found, "PostgreSQL": list({p.pid: p for p in family}.values())}

    def rows(self, table: Table, when: str) -> None:
        """Print memory and CPU of each over some seconds."""
        time.sleep(SETTLE_S)
        used: dict[str, list[float]] = {name: [] for name in self._found}
        for _ in range(SAMPLES):
            before = {name: seconds(processes) for name, processes in self._found.items()}
            time.sleep(SAMPLE_S)
            for name, processes in self._found.items():
                used[name].append((seconds(processes) - before[name]) / SAMPLE_S * 100)
        for name, processes in self._found.items():
            table.row(f"{name}, {when}, MiB", [sum(map(pss, processes)) / MIB])
            table.row(f"{name}, {when}, % of a core", used[name])


_MODULES = {"master": "zoe_master.main", "API": "zoe_api.main"}


def job(memory_bytes: int) -> dict[str, object]:
    """Return an application of one service that runs for a day."""
    return {"version": 4, "name": "job", "components": [part(memory_bytes)]}


def part(memory_bytes: int) -> dict[str, object]:
    """Return its component."""
    return {
        "name": "main",
        "image": "zoe/tiny",
        "command": ["sleep", str(NEVER)],
        "ends_application": True,
        "resources": {"memory": memory_bytes, "cores": 0.01},
    }


def memory_share(client: Client) -> int:
    """Return more than half of the memory of the node: one job runs, and the others wait."""
    return client.nodes().nodes[0].memory_bytes * 55 // 100


def submit(client: Client, count: int, application: dict[str, object]) -> None:
    """Submit so many."""
    for begin in range(0, count, BATCH_MAX):
        client.submit_batch([SubmitRequest(application=application)] * min(BATCH_MAX, count - begin))


def until_queued(client: Client, wanted: int) -> None:
    """Wait until the master has queued all of them."""
    wait_until(lambda: client.status().executions[ExecutionState.QUEUED] >= wanted)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until the condition is true, five minutes at most."""
    ends_s = time.monotonic() + 300
    while not condition():
        if time.monotonic() > ends_s:
            raise TimeoutError("the condition did not become true")
        time.sleep(0.5)


def seconds(processes: Sequence[psutil.Process]) -> float:
    """Return the CPU seconds that they have used."""
    times = [p.cpu_times() for p in processes if p.is_running()]
    return sum(time_.user + time_.system for time_ in times)


def pss(process: psutil.Process) -> float:
    """Return the memory of a process; shared memory is divided among its users."""
    return float(process.memory_full_info().pss)


def database_bytes(url: str) -> int:
    """Return the size of the database."""
    with closing(create_engine(url).connect()) as connection:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


if __name__ == "__main__":
    sys.exit(main())
