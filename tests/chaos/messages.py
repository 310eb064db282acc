"""A forwarder between APIs and a master that doubles messages and holds some back, as a network with retries does.

Messages are encrypted from end to end, so it has the keys of both: to the API it is the master, to the master the API.
"""

from __future__ import annotations

import heapq
import itertools
import random
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import zmq

from zoe_lib.messaging.keys import API, MASTER, load_keys

_LATE_S = (0.1, 5.0)
_CHANGED = 0.5
_IDLE_S = 15.0
_POLL_MS = 20
_WAITING_MAX = 1000


class Treatment(StrEnum):
    """What happens to messages, in both directions."""

    PASSED = "passed"
    DOUBLED = "doubled"
    """Every other message comes twice: at once, and again some seconds later."""
    LATE = "late"
    """Every other message comes some seconds later, so that others overtake it."""


@dataclass(order=True)
class _Held:
    at_s: float
    number: int
    to: bytes = field(compare=False)
    inwards: bool = field(compare=False)
    frames: list[bytes] = field(compare=False)


class Forwarder:
    """Listens at `at` as the master does, and passes questions on to the master's endpoint `to`."""

    def __init__(self, keys_dir: Path, at: str, to: str, seed: int) -> None:
        self._keys_dir = keys_dir
        self._to = to
        self._chance = random.Random(f"messages {seed}")
        self._treatment = Treatment.PASSED
        self._numbers = itertools.count()
        self._held: list[_Held] = []
        self._backs: dict[bytes, zmq.Socket[bytes]] = {}
        self._used_s: dict[bytes, float] = {}
        self.changed = 0
        self._closing = threading.Event()
        self._context = zmq.Context()
        self._front = self._context.socket(zmq.ROUTER)
        keys = load_keys(keys_dir, MASTER)
        self._front.curve_server = True
        self._front.curve_publickey, self._front.curve_secretkey = keys.public, keys.secret
        self._front.bind(at)
        self._poller = zmq.Poller()
        self._poller.register(self._front, zmq.POLLIN)
        self._thread = threading.Thread(target=self._run, name="messages", daemon=True)
        self._thread.start()

    def become(self, treatment: Treatment) -> None:
        """Treat messages this way from now on."""
        self._treatment = treatment

    def close(self) -> None:
        """Forward no more."""
        self._closing.set()
        self._thread.join()
        self._context.destroy(linger=0)

    def _run(self) -> None:
        while not self._closing.is_set():
            ready = {socket for socket, _ in self._poller.poll(_POLL_MS)}
            if self._front in ready:
                asker, *frames = self._front.recv_multipart()
                self._treat(asker, frames, inwards=True)
            for asker, back in list(self._backs.items()):
                if back in ready:
                    self._treat(asker, back.recv_multipart(), inwards=False)
            while self._held and self._held[0].at_s <= time.monotonic():
                held = heapq.heappop(self._held)
                self._send(held.to, held.frames, held.inwards)
            self._forget()

    def _treat(self, asker: bytes, frames: list[bytes], inwards: bool) -> None:
        treatment = self._treatment if self._chance.random() < _CHANGED else Treatment.PASSED
        if treatment is not Treatment.LATE:
            self._send(asker, frames, inwards)
        if treatment is not Treatment.PASSED:
            self.changed += 1
            at_s = time.monotonic() + self._chance.uniform(*_LATE_S)
            heapq.heappush(self._held, _Held(at_s, next(self._numbers), asker, inwards, frames))
        if treatment is Treatment.DOUBLED:
            self._send(asker, frames, inwards)

    def _send(self, asker: bytes, frames: list[bytes], inwards: bool) -> None:
        with suppress(zmq.Again):  # a master that is away takes no more
            if inwards:
                self._back(asker).send_multipart(frames, zmq.NOBLOCK)
            else:
                self._front.send_multipart([asker, *frames], zmq.NOBLOCK)

    def _back(self, asker: bytes) -> zmq.Socket[bytes]:
        self._used_s[asker] = time.monotonic()
        if asker not in self._backs:
            back = self._context.socket(zmq.DEALER)
            keys, master = load_keys(self._keys_dir, API), load_keys(self._keys_dir, MASTER)
            back.curve_serverkey = master.public
            back.curve_publickey, back.curve_secretkey = keys.public, keys.secret
            back.setsockopt(zmq.SNDHWM, _WAITING_MAX)
            back.connect(self._to)
            self._poller.register(back, zmq.POLLIN)
            self._backs[asker] = back
        return self._backs[asker]

    def _forget(self) -> None:
        """Close the sockets of questions that are long over."""
        now_s = time.monotonic()
        for asker in [asker for asker, used_s in self._used_s.items() if now_s - used_s > _IDLE_S]:
            del self._used_s[asker]
            back = self._backs.pop(asker)
            self._poller.unregister(back)
            back.close(linger=0)
