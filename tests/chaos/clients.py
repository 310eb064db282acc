"""Clients that go on while programs die: some submit and cancel, one follows all events."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from tests.chaos.applications import Store, documents
from zoe_client import Client, Refused, ZoeError

SUBMITTERS = 3
_JOIN_S = 120.0
_DEFECT = 500
_OF_ALL = 0.2


class ChaosClients:
    """`connect` makes a client of the API with this number."""

    def __init__(self, connect: Callable[[int], Client], seed: int, stores: Sequence[Store]) -> None:
        self._connect = connect
        self._stores = stores
        self._stop = threading.Event()
        self._closed = threading.Event()
        self._long: set[str] = set()
        self.acknowledged: set[str] = set()
        self.streamed: list[int] = []
        self.defects: list[str] = []
        self._submitters = [
            threading.Thread(target=self._submit, args=(n, seed), daemon=True) for n in range(SUBMITTERS)
        ]
        self._reader = threading.Thread(target=self._read, args=(seed,), daemon=True)
        self._follower = threading.Thread(target=self._follow, daemon=True)
        for thread in (*self._submitters, self._reader, self._follower):
            thread.start()

    def stop(self) -> None:
        """Submit no more; the follower goes on until `close`."""
        self._stop.set()
        for thread in (*self._submitters, self._reader):
            thread.join(_JOIN_S)

    def close(self) -> None:
        """End all threads soon."""
        self._stop.set()
        self._closed.set()

    def _submit(self, number: int, seed: int) -> None:
        chance = random.Random(f"{seed} {number}")
        with self._connect(number) as client:
            while not self._stop.wait(chance.uniform(0.2, 1.0)):
                wanted = documents(chance, self._stores)
                with suppress(ZoeError):
                    execution_id = client.submit(wanted).id
                    self.acknowledged.add(execution_id)
                    if wanted["name"].startswith("long"):
                        self._long.add(execution_id)
                    if len(self._long) > SUBMITTERS:
                        client.cancel(self._long.pop())

    def _read(self, seed: int) -> None:
        """Ask what users ask; a defect of the API is its answer to none of it, whatever is away."""
        chance = random.Random(f"{seed} reader")
        with self._connect(0) as client:
            while not self._stop.wait(chance.uniform(0.1, 0.5)):
                try:
                    _ask(client, chance, sorted(self.acknowledged))
                except Refused as refusal:
                    if refusal.problem.status == _DEFECT:
                        self.defects.append(str(refusal))
                except ZoeError:
                    pass
                except ValueError as error:
                    self.defects.append(f"an answer that makes no sense: {error}")

    def _follow(self) -> None:
        while not self._closed.is_set():
            with suppress(ZoeError), self._connect(1) as client:
                for event in client.stream("/events", {"after": self.streamed[-1] if self.streamed else 0}):
                    self.streamed.append(int(event.id))


def _ask(client: Client, chance: random.Random, known: Sequence[str]) -> None:
    if not known:
        return
    execution_id = chance.choice(known[-50:])
    ask = chance.choice((client.execution, client.why_waited, client.explain, client.eta, client.events))
    if chance.random() < _OF_ALL:
        client.executions()
        client.status()
        client.daily_use(0.0)
    else:
        ask(execution_id)
