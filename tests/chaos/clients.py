"""Clients that go on while programs die: some submit and cancel, one follows all events."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import suppress

from tests.chaos.applications import documents
from zoe_lib.sdk import Client, ZoeError

SUBMITTERS = 3
_JOIN_S = 120.0


class ChaosClients:
    """`connect` makes a client of the API with this number."""

    def __init__(self, connect: Callable[[int], Client], seed: int) -> None:
        self._connect = connect
        self._stop = threading.Event()
        self._closed = threading.Event()
        self._long: set[str] = set()
        self.acknowledged: set[str] = set()
        self.streamed: list[int] = []
        self._submitters = [
            threading.Thread(target=self._submit, args=(n, seed), daemon=True) for n in range(SUBMITTERS)
        ]
        self._follower = threading.Thread(target=self._follow, daemon=True)
        for thread in (*self._submitters, self._follower):
            thread.start()

    def stop(self) -> None:
        """Submit no more; the follower goes on until `close`."""
        self._stop.set()
        for thread in self._submitters:
            thread.join(_JOIN_S)

    def close(self) -> None:
        """End all threads soon."""
        self._stop.set()
        self._closed.set()

    def _submit(self, number: int, seed: int) -> None:
        chance = random.Random(f"{seed} {number}")
        with self._connect(number) as client:
            while not self._stop.wait(chance.uniform(0.2, 1.0)):
                wanted = documents(chance)
                with suppress(ZoeError):
                    execution_id = client.submit(wanted).id
                    self.acknowledged.add(execution_id)
                    if wanted["name"] == "long":
                        self._long.add(execution_id)
                    if len(self._long) > SUBMITTERS:
                        client.cancel(self._long.pop())

    def _follow(self) -> None:
        while not self._closed.is_set():
            with suppress(ZoeError), self._connect(1) as client:
                for event in client.stream("/events", {"after": self.streamed[-1] if self.streamed else 0}):
                    self.streamed.append(int(event.id))
