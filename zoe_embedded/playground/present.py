"""The present of the playground: running, waiting and blocked executions, an array, a workflow and a schedule.

All of it is submitted through the API by its users. Each submission has an idempotency key, so that a start that was
interrupted can be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from zoe_client import Client
from zoe_client.wire import ScheduleRequest

Document = dict[str, Any]
_LONG = "while :; do echo step $((i += 1)); sleep 5; done"
_SEED = "queue"
_QUEUED = 12
_HOUR_S = 3600.0


def submit(clients: Mapping[str, Client]) -> None:
    """Submit everything; `clients` by name of the user."""
    _running(clients)
    _blocked(clients)
    _queued(clients)
    _batch(clients)


def _running(clients: Mapping[str, Client]) -> None:
    _submit(clients["vera"], _one("survey-stack", _LONG, 1.0, 512, total_count=3))
    _submit(clients["edwin"], _one("light-curves", _LONG, 1.5, 256), deadline_s=_HOUR_S)
    _submit(clients["grace"], _one("basket-model", _LONG, 1.0, 512, essential_count=1, total_count=2))
    _submit(clients["tony"], _one("click-sessions", _LONG, 1.0, 128))


def _blocked(clients: Mapping[str, Client]) -> None:
    """Submit executions that wait for different reasons."""
    tony = clients["tony"]
    stack = _submit(tony, _one("sessions-to-train", _LONG, 0.5, 128))
    _submit(tony, _one("after-the-sessions", "echo trained", 0.5, 128), after=[f"ok:{stack}"])
    _submit(clients["mary"], _one("over-the-limit-of-shop", "sleep 900", 3.5, 1024))
    _submit(clients["annie"], _one("both-whole-nodes", "sleep 900", 4.0, 2048, essential_count=2, total_count=2))
    _submit(clients["annie"], _one("held-by-its-user", "sleep 60", 0.5, 128), hold=True)
    _submit(clients["vera"], _one("begins-tomorrow", "sleep 60", 0.5, 128), begin_in_s=24 * _HOUR_S)


def _queued(clients: Mapping[str, Client]) -> None:
    """Submit executions of which no two have the same demand."""
    chance = random.Random(_SEED)
    for number in range(_QUEUED):
        user = ("edwin", "annie", "mary", "tony")[number % 4]
        cores, memory_mib = 0.5 + 0.25 * number, 128 * chance.randint(1, 16)
        document = _one(f"fit-{number}", f"sleep {60 * chance.randint(1, 9)}", cores, memory_mib)
        _submit(clients[user], document, priority=chance.choice((-10, 0, 0, 0, 20)))


def _batch(clients: Mapping[str, Client]) -> None:
    tile = _one("mosaic-tile", "sleep 1; test {index} -ne 7", 0.1, 64)
    clients["edwin"].arrays.submit(tile, "0-19%3", idempotency_key="playground-array")
    clients["grace"].workflows.run(_WORKFLOW, idempotency_key="playground-workflow")
    clients["grace"].schedules.put(
        "nightly-report",
        ScheduleRequest(expression="30 2 * * *", document=_one("nightly-report", "echo sold; sleep 5", 0.1, 64)),
    )


def _submit(client: Client, document: Document, **options: Any) -> str:
    return client.submit(document, idempotency_key=f"playground-{document['name']}", **options).id


def _one(name: str, script: str, cores: float, memory_mib: int, **component: Any) -> Document:
    """Return an application of one component that runs a script of the shell."""
    main = {
        "name": "main",
        "image": "zoe/tiny",
        "command": ["sh", "-c", script],
        "resources": {"cores": cores, "memory": f"{memory_mib}MiB"},
        "ends_application": "total_count" not in component,
        **component,
    }
    return {"version": 4, "name": name, "time_limit_s": 12 * 3600, "components": [main]}


def _step(name: str, script: str, **options: Any) -> Document:
    size = {"memory": "64MiB", "cores": 0.1}
    return {"name": name, "image": "zoe/tiny", "command": ["sh", "-c", script], **size, **options}


_WORKFLOW: Document = {
    "version": 1,
    "name": "receipts",
    "steps": [
        _step("extract", "seq 100 > {result:rows}", results={"rows": "rows.csv"}),
        _step("count", "wc -l < $ZOE_INPUT_ROWS", inputs={"rows": "extract.rows"}),
        _step("train", "sleep 3600", inputs={"rows": "extract.rows"}),
        _step("publish", "echo published", needs=["count", "train"]),
        _step("alarm", "echo failed", on_failure=["extract", "train"]),
    ],
}
