"""Submissions and short jobs beside Debian's Slurm and a bare insert, in one run: `python -m benchmarks.beside_slurm`.

Needs root and the packages slurmctld, slurmd, slurm-client and munge. Both sides take turns. Submissions run nothing on
either side: Zoe's master is away, and Slurm's jobs are held.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx

from benchmarks.slurm import Slurm
from benchmarks.submission import APPLICATION as OF_21
from benchmarks.submission import Bare
from benchmarks.submit_to_process import APPLICATION as OF_1
from benchmarks.support import machine, temporary_home
from zoe_client import Client
from zoe_client.wire import SubmitRequest
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions.execution import ExecutionState

RUNS = 5
CLIENTS = 8
SEQUENTIAL = 60
PARALLEL = 240
BATCH = 100
BATCHES = 24
JOBS = 200
JOB_RUNS = 5
_keys = count()

Figures = dict[str, list[float]]
GOALS = (
    ("batches of 21 services by 8 clients / bare inserts by 8 connections", "batch 21, 8", "bare 21, 8", 0.5),
    ("batches of 1 service by 8 clients / sbatch by 8", "batch 1, 8", "sbatch, 8", 3.0),
    ("one by one, 1 client / sbatch", "single 1, 1", "sbatch, 1", 1.0),
    ("one by one, 8 clients / sbatch by 8", "single 1, 8", "sbatch, 8", 1.5),
    ("`true` to the end / Slurm's array", "jobs", "slurm jobs", 1.0),
)


def main() -> None:
    """Measure and print."""
    print(machine())
    figures: Figures = {}
    with Slurm() as slurm:
        print(slurm.version)
        with stack(master=False) as zoe:
            for _ in range(RUNS):
                add(figures, submissions(zoe, slurm))
        with stack(master=True) as zoe:
            for _ in range(JOB_RUNS):
                add(figures, {"jobs": jobs(zoe), "slurm jobs": rate(JOBS, lambda: slurm.run_array(JOBS))})
    print("\n| a second | median | least | greatest |\n|---|---|---|---|")
    for name, values in figures.items():
        print(f"| {name} | {statistics.median(values):.1f} | {min(values):.1f} | {max(values):.1f} |")
    print("\n| ratio of each run | median | least | greatest | goal |\n|---|---|---|---|---|")
    for title, ours, theirs, goal in GOALS:
        ratios = [a / b for a, b in zip(figures[ours], figures[theirs], strict=True)]
        print(f"| {title} | {statistics.median(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} | >= {goal:g} |")
    print(f"\nafter: {machine()}")


@contextmanager
def stack(master: bool) -> Iterator[Stack]:
    """Yield a separate stack."""
    with temporary_home() as home, Stack(home, spark=False, master=master) as made:
        yield made


def submissions(zoe: Stack, slurm: Slurm) -> dict[str, float]:
    """Return submissions per second, each kind in turn."""
    bare = Bare(zoe.database_url)
    with Client(zoe.url, zoe.token, timeout_s=60) as client, minimal(zoe) as plain:
        figures = {
            "sbatch, 1": calls_per_s(1, SEQUENTIAL, slurm.submit),
            "single 1, 1": calls_per_s(1, SEQUENTIAL, lambda: client.submit(OF_1)),
            "single 21, 1": calls_per_s(1, SEQUENTIAL, lambda: client.submit(OF_21)),
            "sbatch, 8": calls_per_s(CLIENTS, PARALLEL, slurm.submit),
            "single 1, 8": calls_per_s(CLIENTS, PARALLEL, lambda: client.submit(OF_1)),
            "single 21, 8": calls_per_s(CLIENTS, PARALLEL, lambda: client.submit(OF_21)),
            "bare 21, 8": calls_per_s(CLIENTS, BATCH * BATCHES, bare.insert),
            "batch 21, 8": BATCH * calls_per_s(CLIENTS, BATCHES, lambda: batch(plain, OF_21)),
            "batch 1, 8": BATCH * calls_per_s(CLIENTS, BATCHES, lambda: batch(plain, OF_1)),
        }
    slurm.clear()
    return figures


def jobs(zoe: Stack) -> float:
    """Return jobs per second from the submission of the first to the end of the last."""
    with Client(zoe.url, zoe.token, timeout_s=60) as client:

        def run() -> None:
            ids = [text for _ in range(JOBS // BATCH) for text in submit_batch(client)]
            while client.executions(states=[*_GOING_ON], limit=1).executions:
                time.sleep(0.05)
            ended = [client.execution(text).state for text in (ids[0], ids[-1])]
            assert ended == [ExecutionState.SUCCEEDED] * 2

        return rate(JOBS, run)


_GOING_ON = (
    ExecutionState.SUBMITTED,
    ExecutionState.QUEUED,
    ExecutionState.STARTING,
    ExecutionState.RUNNING,
    ExecutionState.STOPPING,
)


def submit_batch(client: Client, application: dict[str, Any] = OF_1) -> list[str]:
    """Submit one batch of the largest size."""
    return client.submit_batch([SubmitRequest(application=application)] * BATCH).ids


@contextmanager
def minimal(zoe: Stack) -> Iterator[httpx.Client]:
    """Yield a client that requests no representations."""
    headers = {"Authorization": f"Bearer {zoe.token}", "Prefer": "return=minimal"}
    with httpx.Client(base_url=f"{zoe.url}/api/v1", headers=headers, timeout=60, trust_env=False) as client:
        yield client


def batch(client: httpx.Client, application: dict[str, Any]) -> None:
    """Submit a batch, with a key as the SDK does."""
    body = {"executions": [{"application": application}] * BATCH}
    client.post("/executions:batch", json=body, headers={"Idempotency-Key": f"b{next(_keys)}"}).raise_for_status()


def calls_per_s(clients: int, number: int, call: Callable[[], object]) -> float:
    """Return calls per second, by so many threads."""
    if clients == 1:
        return 1 / statistics.median(seconds_of(call) for _ in range(number))
    with ThreadPoolExecutor(clients) as pool:
        return rate(number, lambda: list(pool.map(lambda _: call(), range(number))))


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds of one call."""
    began_s = time.perf_counter()
    call()
    return time.perf_counter() - began_s


def rate(number: int, run: Callable[[], object]) -> float:
    """Return the rate of so many operations per second."""
    return number / seconds_of(run)


def add(figures: Figures, values: dict[str, float]) -> None:
    """Store the figures of a run, and print them."""
    for name, value in values.items():
        figures.setdefault(name, []).append(value)
    print("  ".join(f"{name}: {value:.1f}" for name, value in values.items()), flush=True)


if __name__ == "__main__":
    main()
