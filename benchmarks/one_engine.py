"""Containers by the back-end `docker` beside the same ones by docker-py alone: `python -m benchmarks.one_engine`.

As root; it makes an engine in namespaces of its own. Both use 8 threads, one bridge network, the same image, init
program and limits; pairs alternate. A row shows seconds until all containers run, as medians, and their ratio.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any

import docker

from tests.docker.one_engine import OneEngine
from tests.support.docker_backend import USER, DockerHarness
from tests.support.swarm_backend import small
from zoe_master.backends.base import ObservedState

THREADS = 8
COUNTS = (1, 5, 21)


def main() -> int:
    """Print a row for each number of containers."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    engine = OneEngine()
    try:
        harness = DockerHarness(engine)
        bare = Bare(engine.url)
        print(f"load {os.getloadavg()[0]:.1f} at first; {pairs} pairs\n| containers | docker-py | Zoe | ratio |")
        for count in COUNTS:
            times: tuple[list[float], list[float]] = [], []
            for turn in range(pairs):
                for kind in (0, 1) if turn % 2 else (1, 0):
                    times[kind].append((bare.start, lambda n: start_services(harness, n))[kind](count))
            plain, ours = (statistics.median(found) for found in times)
            print(f"| {count} | {plain:.2f} | {ours:.2f} | {ours / plain:.2f} |", flush=True)
        print(f"load {os.getloadavg()[0]:.1f} at last")
        bare.close()
        harness.finish()
    finally:
        engine.remove()
    return 0


class Bare:
    """One client of docker-py in each thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._own = local()
        self._pool = ThreadPoolExecutor(THREADS)

    def start(self, count: int) -> float:
        """Return the seconds until this many containers run, and remove them."""
        begun_s = time.monotonic()
        network = self._api().create_network("bare", "bridge")["Id"]
        made = list(self._pool.map(self._start_one, range(count)))
        took_s = time.monotonic() - begun_s
        self._all(lambda entry: self._api().remove_container(entry, force=True), made)
        self._api().remove_network(network)
        return took_s

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def run(self) -> None:
        """Run one job to its end, read its output, and remove it."""
        made, api = self._start_one(0, ["true"], "bridge"), self._api()
        api.wait(made)
        api.logs(made)
        api.remove_container(made)

    def _start_one(
        self, number: int, command: Sequence[str] = ("sh", "-c", "exec sleep 1000"), network: str = "bare"
    ) -> str:
        api = self._api()
        limits = api.create_host_config(
            init=True, mem_limit=32 * 2**20, memswap_limit=32 * 2**20, nano_cpus=5 * 10**8, pids_limit=4096,
            cap_drop=["ALL"], security_opt=["no-new-privileges"], network_mode=network,
            log_config={"type": "local", "config": {}},
        )  # fmt: skip
        made = str(
            api.create_container(
                "shell", list(command), hostname=f"c-{number}", host_config=limits,
                user=f"{USER.uid}:{USER.gid}",
            )["Id"]
        )  # fmt: skip
        api.start(made)
        return made

    def _all(self, job: Callable[[str], Any], entries: list[str]) -> None:
        list(self._pool.map(job, entries))

    def _api(self) -> Any:
        if not hasattr(self._own, "api"):
            self._own.api = docker.APIClient(self._url, version="1.41", timeout=60)
        return self._own.api


_executions = iter(range(10**6))


def start_services(harness: DockerHarness, count: int) -> float:
    """Return the seconds until this many services of one execution are ready, and remove them."""
    execution = f"x{next(_executions)}"
    services = [f"{execution}.c.{number}.1" for number in range(count)]
    begun_s = time.monotonic()
    for service in services:
        harness.start(small("exec sleep 1000"), service)
    harness.until(lambda: all(o.state is ObservedState.READY for o in harness.backend.observe()))
    took_s = time.monotonic() - begun_s
    harness.backend.stop(services)
    harness.until(lambda: all(o.state is ObservedState.ENDED for o in harness.backend.observe()))
    harness.backend.forget(services)
    harness.until(lambda: not harness.left())
    return took_s


if __name__ == "__main__":
    sys.exit(main())
