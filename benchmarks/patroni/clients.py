"""Clients that submit one execution after the other, and repeat each until it is acknowledged."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import uuid4

from zoe_client import Client
from zoe_client.errors import Refused, ZoeError

_PAUSE_S = 0.1
JOB = {
    "version": 4,
    "name": "drill",
    "components": [
        {
            "name": "main",
            "image": "zoe/tiny",
            "command": ["sh", "-c", "echo ran >> {workspace}/{execution}"],
            "resources": {"memory": "64MiB", "cores": 0.1},
            "ends_application": True,
        }
    ],
}


@dataclass(slots=True)
class Submissions:
    """Acknowledged executions with the time, and the numbers of other answers."""

    acknowledged: list[tuple[float, str]] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)


class Clients:
    """Threads that submit within the `with`; none of them waits inside a request longer than the API allows."""

    def __init__(self, make_client: Callable[[], Client], count: int) -> None:
        self._make_client = make_client
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._submit) for _ in range(count)]
        self._lock = threading.Lock()
        self.seen = Submissions()

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _submit(self) -> None:
        with self._make_client() as client:
            while not self._stop.is_set():
                self._until_acknowledged(client, uuid4().hex)

    def _until_acknowledged(self, client: Client, key: str) -> None:
        while True:
            try:
                execution_id = client.submit(JOB, idempotency_key=key).id
            except ZoeError as error:
                with self._lock:
                    self.seen.answers[_name(error)] += 1
                time.sleep(_PAUSE_S)
            else:
                with self._lock:
                    self.seen.acknowledged.append((time.monotonic(), execution_id))
                return


def _name(error: ZoeError) -> str:
    if isinstance(error, Refused):
        return f"{error.problem.status} {error.problem.code}"
    return str(error)[:100]


def longest_gap_s(seen: Submissions, since_s: float) -> float:
    """Return the longest time without any acknowledgement, from a time on."""
    times = [since_s, *sorted(at_s for at_s, _ in seen.acknowledged if at_s > since_s)]
    return max((after - before for before, after in pairwise(times)), default=0.0)
