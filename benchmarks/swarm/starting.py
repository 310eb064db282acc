"""The time from `POST /executions` to all containers running, and from cancel to everything removed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.swarm.bare import GRACE_S, Bare
from benchmarks.swarm.stand import Stand
from benchmarks.swarm.table import Figure
from benchmarks.swarm.watch import wait_until

COMMAND = ["sleep", "1000"]
SIZES = (1, 5, 21, 51)
OF_CANCEL = 21
PAUSE_S = 0.5


def application(number: int) -> dict[str, Any]:
    """Return an application of this many containers with a port, for which they get a network."""
    component = {
        "name": "worker",
        "image": "zoe/tiny",
        "command": COMMAND,
        "essential_count": number,
        "total_count": number,
        "resources": {"memory": "16MiB", "cores": 0.01, "limits": {"cores": 0.5}},
        "stop_grace_s": GRACE_S,
        "ports": [{"name": "rpc", "number": 7078}],
    }
    return {"version": 4, "name": "bench", "components": [component]}


def measure(stand: Stand, runs: int) -> list[Figure]:
    """Measure all sizes."""
    figures = []
    for number in SIZES:
        figures += _measure(stand, number, runs)
    return figures


def measure_cancel(stand: Stand, runs: int) -> list[Figure]:
    """Measure the removal of `OF_CANCEL` containers, beside the way that removes fastest, however it starts."""
    bare = Bare(stand.cluster.hosts)
    name, way = min(_ways(bare).items(), key=lambda item: _by_bare(stand, bare, item[1], OF_CANCEL)[1])
    ours, beside = [], []
    for _ in range(runs):
        ours.append(_by_zoe(stand, OF_CANCEL)[1])
        beside.append(_by_bare(stand, bare, way, OF_CANCEL)[1])
    return [Figure(f"cancel of {OF_CANCEL} to everything gone", "s", ours, beside, name, 1.15)]


def _measure(stand: Stand, number: int, runs: int) -> list[Figure]:
    bare = Bare(stand.cluster.hosts)
    name, way = min(_ways(bare).items(), key=lambda item: _by_bare(stand, bare, item[1], number)[0])
    ours, beside = [], []
    for _ in range(runs):
        ours.append(_by_zoe(stand, number))
        beside.append(_by_bare(stand, bare, way, number))
    what = f"POST to {number} containers running"
    starts = Figure(what, "s", [o[0] for o in ours], [b[0] for b in beside], name, 1.10)
    told = Figure("  and `running` in the API", "s", [o[2] for o in ours], [], "", None)
    return [starts, told]


def _ways(bare: Bare) -> dict[str, Callable[[int, list[str]], None]]:
    return {
        "one service of N replicas": bare.one_service,
        "N services by 8 threads": bare.services,
        "N containers by 8 threads": bare.containers,
    }


def _by_zoe(stand: Stand, number: int) -> tuple[float, float, float]:
    time.sleep(PAUSE_S)
    began_s = stand.watch.begin()
    execution = stand.client.submit(application(number)).id
    running_s = stand.watch.last_of("start", number).at_s - began_s
    told_s = wait_until(lambda: stand.client.execution(execution).state.value == "running", execution.__str__) - began_s
    time.sleep(PAUSE_S)
    cancelled_s = time.time()
    stand.client.cancel(execution)
    gone_s = stand.await_removal() - cancelled_s
    stand.client.wait(execution, 60)
    return running_s, gone_s, told_s


def _by_bare(stand: Stand, bare: Bare, way: Callable[[int, list[str]], None], number: int) -> tuple[float, float]:
    time.sleep(PAUSE_S)
    began_s = stand.watch.begin()
    way(number, COMMAND)
    running_s = stand.watch.last_of("start", number).at_s - began_s
    time.sleep(PAUSE_S)
    cancelled_s = time.time()
    bare.remove()
    return running_s, stand.await_removal() - cancelled_s
