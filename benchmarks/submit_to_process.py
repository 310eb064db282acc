"""The time from a submission by the SDK to the first process of the application, and the memory of master and API."""

from __future__ import annotations

import statistics
import time
from typing import Any

import psutil

from benchmarks.support import machine, percentile, repeat, tell, temporary_home
from zoe_client import Client
from zoe_embedded.stack import Stack

SUBMISSIONS = 20
RUNS = 5
APPLICATION: dict[str, Any] = {
    "version": 4,
    "name": "bench",
    "components": [
        {"name": "main", "image": "zoe/tiny", "command": ["true"], "resources": {"memory": "16MiB", "cores": 0.01}}
    ],
}


def main() -> None:
    """Measure and print."""
    print(machine())
    with temporary_home() as home, Stack(home, spark=False) as stack, Client(stack.url, stack.token) as client:
        title = f"{SUBMISSIONS} submissions, one after the other, and the memory of both processes after them"
        tell(title, repeat(lambda: {**measure(client), **memory(stack)}, RUNS))


def memory(stack: Stack) -> dict[str, float]:
    """Return the memory of master and API, with shared pages divided among their users."""
    return {f"{name} MiB": pss_mib(pid) for name, pid in stack.processes.items()}


def measure(client: Client) -> dict[str, float]:
    """Measure; every submission waits for the end of the previous one."""
    to_process, to_end = [], []
    for _ in range(SUBMISSIONS):
        began_s = time.time()
        execution = client.wait(client.submit(APPLICATION).id, timeout_s=60)
        started_at_s = execution.services[0].started_at_s
        assert started_at_s is not None
        to_process.append(started_at_s - began_s)
        to_end.append(execution.marks["ended"] - began_s)  # type: ignore[index]
    return {
        "submit to first process p50 ms": statistics.median(to_process) * 1e3,
        "submit to first process p95 ms": percentile(to_process, 0.95) * 1e3,
        "submit to ended p50 ms": statistics.median(to_end) * 1e3,
    }


def pss_mib(pid: int) -> float:
    """Return the memory of a process, with shared pages divided among their users."""
    return float(psutil.Process(pid).memory_full_info().pss) / 2**20


if __name__ == "__main__":
    main()
