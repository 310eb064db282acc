"""A storage controller's end of a proxy's line, for setting limits by hand."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import zmq

from storage_filters.counting.rate_table import DIRECTIONS, RateTable
from tests.support.object_store import object_store
from tests.support.waiting import until
from zoe_embedded.home import Account
from zoe_embedded.swift.configuration import ControllerLine
from zoe_embedded.swift.store import ObjectStore

_AGAIN_S = 2.0


@dataclass
class Pusher:
    """Pushes limits in bytes per second by account and direction; others are unlimited.

    `alive`: the executions to push with them, if any list is to be pushed; `newest`: the generation of the last
    credential that this list judges. `rules`: of the object store, if any are to be pushed.
    """

    limits: Any
    usage: Any
    table: RateTable
    number: int = 0
    alive: dict[str, dict[str, int]] | None = None
    rules: dict[str, Any] | None = None
    newest: int = 3
    moved: dict[tuple[str, str], int] = field(default_factory=dict)
    limited: set[tuple[str, str]] = field(default_factory=set)
    modules: list[bytes] = field(default_factory=list)

    def push(self, **accounts: dict[str, float]) -> None:
        """Return when they are in force, with all earlier messages."""
        wanted = dict.fromkeys(self.limited, 0.0)
        wanted |= {(account, name): rate for account, rates in accounts.items() for name, rate in rates.items()}
        self._send(accounts)
        until(partial(self._in_force, wanted, accounts), lambda: (wanted, self._rates(wanted)))
        self.limited = set(wanted)

    def _in_force(self, wanted: dict[tuple[str, str], float], accounts: dict[str, dict[str, float]]) -> bool:
        """Wait for a while; then send once more, like a controller: a message sent while a line breaks is lost."""
        until_s = time.monotonic() + _AGAIN_S
        while self._rates(wanted) != wanted:
            if time.monotonic() > until_s:
                for content in self.modules:
                    self._send_module(content)
                self._send(accounts)
                return False
            time.sleep(0.02)
        return True

    def _send(self, accounts: dict[str, dict[str, float]]) -> None:
        self.number += 1
        told: dict[str, Any] = {"epoch": 1, "seq": self.number, "proxies": {"proxy": accounts}}
        if self.rules is not None:
            told["rules"] = self.rules
        listed = {"executions": {"newest": self.newest, "accounts": self.alive}}
        self.limits.send_json(told if self.alive is None else {**told, **listed})

    def send_module(self, content: bytes) -> None:
        """Send a module; it exists when a later push is in force."""
        if not self.number:  # what is sent before the proxy has subscribed is lost
            self.push(AUTH_nobody={"get": 1.0})
        self.modules.append(content)
        self._send_module(content)

    def _send_module(self, content: bytes) -> None:
        self.limits.send_json({"module": base64.b64encode(content).decode()})

    def lacked(self) -> set[str]:
        """Return the digests that the proxy requested in pending reports."""
        found: set[str] = set()
        while self.usage.poll(0):
            found |= set(json.loads(self.usage.recv()).get("lacks", ()))
        return found

    def _rates(self, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        return {place: self._rate(*place) for place in places}

    def _rate(self, account: str, direction: str) -> float:
        assert direction in DIRECTIONS
        return self.table.turn(account, direction, 0, time.monotonic()).rate

    def listen(self) -> None:
        """Sum the reports received until now."""
        while self.usage.poll(0):
            told = json.loads(self.usage.recv())
            if told["proxy"].startswith("object-"):
                continue  # they count the same bytes
            for account, directions in told["accounts"].items():
                for direction, moved in directions.items():
                    self.moved[account, direction] = self.moved.get((account, direction), 0) + moved


@contextmanager
def pushed_store(**changes: Any) -> Iterator[tuple[ObjectStore, Pusher]]:
    """Return a store whose proxy listens to a pusher, once it does."""
    context = zmq.Context()
    limits, usage = context.socket(zmq.PUB), context.socket(zmq.PULL)
    server_public, server_secret = zmq.curve_keypair()
    own_public, own_secret = zmq.curve_keypair()

    def line(apart: Path, account: Account | None) -> ControllerLine:
        ports = []
        for socket in (limits, usage):
            socket.curve_server, socket.curve_publickey, socket.curve_secretkey = True, server_public, server_secret
            ports.append(socket.bind_to_random_port("tcp://127.0.0.1"))
        keys = apart / "keys"
        keys.write_bytes(b"\n".join((server_public, own_public, own_secret)))
        if account is not None:
            os.chown(keys, account.uid, account.gid)
        keys.chmod(0o600)
        limits_at, usage_at = (f"tcp://127.0.0.1:{port}" for port in ports)
        return ControllerLine(limits_at, usage_at, str(keys))

    try:
        with object_store(controller=line, **changes) as store:
            until(lambda: usage.poll(100))
            with closing(RateTable(store.directory / "rates")) as table:
                yield store, Pusher(limits, usage, table)
    finally:
        context.destroy(linger=0)
