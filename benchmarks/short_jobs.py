"""Short jobs by the back-end `docker` beside docker-py alone: `python -m benchmarks.short_jobs [JOBS] [PAIRS]`.

As root; it makes an engine in namespaces of its own. Both use 8 threads and the same image, init program and limits;
pairs alternate. docker-py creates, starts, awaits, reads and removes each container. A row shows the median seconds of
one job, and the jobs a second of many.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from benchmarks.one_engine import THREADS, Bare
from tests.docker.one_engine import OneEngine
from tests.support.docker_backend import DockerHarness
from tests.support.swarm_backend import small
from zoe_master.backends.base import ObservedState

_turns = count()


def main() -> int:
    """Print both rows."""
    jobs, pairs = (int(sys.argv[place]) if len(sys.argv) > place else usual for place, usual in ((1, 200), (2, 3)))
    engine = OneEngine()
    try:
        harness, bare = DockerHarness(engine, engine_timeout_s=30.0), Bare(engine.url)
        print(f"load {os.getloadavg()[0]:.1f} at first; {pairs} pairs\n| jobs | docker-py | Zoe | ratio |")
        for number in (1, jobs):
            times: tuple[list[float], list[float]] = [], []
            for turn in range(pairs):
                for kind in (0, 1) if turn % 2 else (1, 0):
                    times[kind].append(with_zoe(harness, number) if kind else with_docker_py(bare, number))
            plain, ours = (statistics.median(found) for found in times)
            rates = "" if number == 1 else f" ({number / plain:.1f}/s, {number / ours:.1f}/s)"
            print(f"| {number} | {plain:.2f} | {ours:.2f} | {ours / plain:.2f} |{rates}", flush=True)
        print(f"load {os.getloadavg()[0]:.1f} at last")
        bare.close()
        harness.finish()
    finally:
        engine.remove()
    return 0


def with_docker_py(bare: Bare, number: int) -> float:
    """Return the seconds until all jobs have ended, and are removed."""
    begun_s = time.monotonic()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda _: bare.run(), range(number)))
    return time.monotonic() - begun_s


def with_zoe(harness: DockerHarness, number: int) -> float:
    """Return the seconds until all jobs have ended; each is forgotten at once, as by the master, and removed."""
    services = [f"s{next(_turns)}.c.0.1" for _ in range(number)]
    begun_s = time.monotonic()
    for service in services:
        harness.start(small("true"), service)
    ended: set[str] = set()

    def all_ended() -> bool:
        new = [o.service_id for o in harness.backend.observe() if o.state is ObservedState.ENDED]
        harness.backend.forget([service for service in new if service not in ended])
        ended.update(new)
        return len(ended) == number

    harness.until(all_ended, 600.0)
    took_s = time.monotonic() - begun_s
    harness.until(lambda: not harness.left(), 60.0)
    return took_s


if __name__ == "__main__":
    sys.exit(main())
