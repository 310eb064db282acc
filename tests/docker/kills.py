"""Kill the master of a stack on one engine while jobs start and end: `python -m tests.docker.kills HOME KILLS SEED`.

Run inside the network of the engine that DOCKER_HOST names. Each job appends a line to a file of its workspace. Prints
what happened as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.support.waiting import pause_s
from zoe_client import Client
from zoe_embedded.home import Home
from zoe_embedded.stack import Stack

_JOBS = 3
_WITHIN_S = 120.0
_OF_A_JOB_S = 2.0


def main() -> None:
    """Submit, kill, and wait for all ends."""
    home, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    settings = {"backend": "docker", "api_port": 0}
    with (
        Stack(Home(home, by_root=True), settings=settings, on_demand=True) as stack,
        Client(stack.url, stack.token) as client,
    ):
        submitted: list[str] = []
        for turn in range(kills):
            names = [f"{turn}.{number}" for number in range(_JOBS)]
            scripts = [f"echo {name} >> {{workspace}}/ran; sleep {chance.random():.2f}" for name in names]
            submitted += [client.submit(job(script)).id for script in scripts]
            time.sleep(chance.random())
            stack.restart(["zoe_master.main"])
        states = _ends(client, submitted)
        lines = (stack.workspace / "ran").read_text().splitlines()
    told = {"jobs": len(submitted), "states": states, "lines": len(lines), "distinct": len(set(lines))}
    print(json.dumps(told))


def job(script: str) -> dict[str, object]:
    """Return a job that runs a shell script."""
    component = {
        "name": "main",
        "image": "zoe/tiny",
        "command": ["sh", "-c", script],
        "resources": {"cores": 0.1, "memory": "32MiB"},
        "ends_application": True,
    }
    return {"version": 4, "name": "job", "components": [component]}


def _ends(client: Client, submitted: list[str]) -> dict[str, int]:
    until_s = time.monotonic() + _WITHIN_S + _OF_A_JOB_S * len(submitted)
    begun_s = time.monotonic()
    while True:
        found = Counter(client.execution(execution).state for execution in submitted)
        if found["succeeded"] + found["failed"] + found["cancelled"] == len(submitted) or time.monotonic() > until_s:
            return {str(state): number for state, number in found.items()}
        time.sleep(pause_s(time.monotonic() - begun_s))


if __name__ == "__main__":
    main()
