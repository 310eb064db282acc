"""Many short executions of one container each, beside a docker-py loop that runs as many with the same limits."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.swarm.bare import THREADS, Bare
from benchmarks.swarm.stand import Stand
from benchmarks.swarm.table import Figure
from benchmarks.swarm.watch import wait_until
from zoe_lib.domain.executions.execution import ExecutionState

EXECUTIONS = 200
COMMAND = ["true"]
PAUSE_S = 1.0
_TERMINAL = (ExecutionState.SUCCEEDED, ExecutionState.FAILED, ExecutionState.CANCELLED)
APPLICATION: dict[str, Any] = {
    "version": 4,
    "name": "bench-batch",
    "components": [
        {
            "name": "main",
            "image": "zoe/tiny",
            "command": COMMAND,
            "resources": {"memory": "16MiB", "cores": 0.25, "limits": {"cores": 0.5}},
            "ends_application": True,
        }
    ],
}


def measure(stand: Stand, runs: int) -> list[Figure]:
    """Measure rates beside plain containers and beside Swarm services; anything lost or left behind fails the run."""
    bare = Bare(stand.cluster.hosts)
    ways = {"containers by 8 threads": bare.run_container, "services by 8 threads": bare.run_service}
    ours: list[float] = []
    beside: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        ours.append(_by_zoe(stand))
        for name, way in ways.items():
            beside[name].append(_rate(stand, way, EXECUTIONS))
    what = f"{EXECUTIONS} batch executions, 0 lost, 0 left"
    return [Figure(what, "/s", ours, values, name, 0.9, at_most=False) for name, values in beside.items()]


def _by_zoe(stand: Stand) -> float:
    time.sleep(PAUSE_S)
    began_s = stand.watch.begin()
    with ThreadPoolExecutor(THREADS) as pool:
        ids = list(pool.map(lambda _: stand.client.submit(APPLICATION).id, range(EXECUTIONS)))
    # Constant polling of the state would use the cores of the measured processes.
    stand.watch.last_of("die", EXECUTIONS)
    done_s = wait_until(lambda: _active(stand) == 0, lambda: f"{_active(stand)} executions are not over")
    lost = [id_ for id_ in ids if stand.client.execution(id_).state is not ExecutionState.SUCCEEDED]
    assert not lost, f"{len(lost)} executions were lost"
    stand.await_removal()
    return EXECUTIONS / (done_s - began_s)


def _active(stand: Stand) -> int:
    counts = stand.client.status().executions
    return sum(number for state, number in counts.items() if state not in _TERMINAL)


def _rate(stand: Stand, run: Any, number: int) -> float:
    time.sleep(PAUSE_S)
    began_s = time.time()
    with ThreadPoolExecutor(THREADS) as pool:
        codes = list(pool.map(lambda position: run(position, COMMAND), range(number)))
    took_s = time.time() - began_s
    assert codes == [0] * number
    stand.await_removal()
    return number / took_s
