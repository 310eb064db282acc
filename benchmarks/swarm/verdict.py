"""The time from the exit of the container that ends the application to the outcome in the API, beside the engine's own
event.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.swarm.stand import Stand
from benchmarks.swarm.table import Figure

EXECUTIONS_A_RUN = 4
EXIT_CODE = 3
APPLICATION: dict[str, Any] = {
    "version": 4,
    "name": "bench-verdict",
    "components": [
        {
            "name": "main",
            "image": "zoe/tiny",
            "command": ["sh", "-c", f"sleep 1; exit {EXIT_CODE}"],
            "resources": {"memory": "16MiB", "cores": 0.1},
            "ends_application": True,
        },
        {
            "name": "other",
            "image": "zoe/tiny",
            "command": ["sleep", "1000"],
            "resources": {"memory": "16MiB", "cores": 0.1},
        },
    ],
}


def measure(stand: Stand, runs: int) -> list[Figure]:
    """Measure; this process receives both: the engine's event by Docker's stream, the outcome by the API's."""
    added = [1e3 * _added_s(stand) for _ in range(runs * EXECUTIONS_A_RUN)]
    return [Figure("exit to verdict, beyond the engine's event", "ms", added, [], "", 100, of_ratio=False)]


def _added_s(stand: Stand) -> float:
    stand.watch.begin()
    execution = stand.client.submit(APPLICATION).id
    with ThreadPoolExecutor(1) as pool:
        verdict = pool.submit(_verdict_s, stand, execution)
        exit_s = stand.watch.last_of("die", 1).heard_at_s
        added_s = verdict.result(60) - exit_s
    stand.client.wait(execution, 60)
    stand.await_removal()
    return added_s


def _verdict_s(stand: Stand, execution: str) -> float:
    for event, _ in stand.client.follow(execution, deadline_s=time.monotonic() + 60):
        if event.kind == "stopping":
            assert event.data["outcome"] == "failed"
            assert event.data["exit_code"] == EXIT_CODE
            return time.time()
    raise AssertionError("there was no verdict")
