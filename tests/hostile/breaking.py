"""Break off requests and answers at Swift's proxy, zoe-gateway and the API, and print their logs."""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import httpx
import structlog

from tests.hostile.drawing import Drawing
from tests.hostile.judging import Lines, lines
from tests.hostile.world import ASKERS, World
from tests.storage.test_rules import applied
from tests.support.breaking_off import cut, requests, send
from tests.support.gateway import gateway_before_swift
from tests.support.object_store import logged_in
from tests.support.postgres import PostgresServer, make_home
from tests.support.s3 import s3_client
from tests.support.whole_storage import TOKEN, keyring, whole_storage
from tests.swarm.cluster import Cluster
from zoe_api.main import bare_app
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.logs.few_lines import LineLimiter

LARGE = bytes(3 << 20)
_RENEW_EVERY = 500
RULES = {
    "acme:ann": "FOR CONTAINER acme/cut DO SET COMPRESSION, SET ENCRYPTION",
    "beta:bob": "FOR CONTAINER beta/cut DO SET ENCRYPTION",  # Bob's tenant has no key: the filter refuses what he puts
}
_WRONG = re.compile(r"Traceback|\bERROR\b|\bError: |exception", re.IGNORECASE)
_LEVEL_ERROR = "level error: "
_FORBIDDEN = ("error", "exception", "critical")
_STATUS_500 = b"HTTP/1.1 500"
_LATE_LINES_S = 3.0
_CLIENTS_OF_DOOR = 4
HEAD = f"{'door':<16}{'requests':>10}{'a second':>10}{'lines':>10}{'a second':>10}{'wrong':>8}"


@dataclass
class Door:
    """Where clients break off. `draw` returns a request; `logged` returns the lines since it was called last."""

    name: str
    address: str
    draw: Callable[[random.Random], bytes]
    logged: Callable[[], list[str]]
    is_wrong: Callable[[str], object] = _WRONG.search
    asked_by_second: Counter[int] = field(default_factory=Counter)
    lines_by_second: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, chance: random.Random) -> None:
        """Send a request, and end its connection in some way. Thread-safe."""
        with self._lock:
            sent = self.draw(chance)
        got = send(self.address, sent, chance)
        with self._lock:
            self.asked_by_second[int(time.monotonic())] += 1
            if got.startswith(_STATUS_500):
                self.wrong.append(f"status 500 after {sent[:300]!r}")
            self.look()

    def look(self) -> None:
        """Read the log."""
        new = self.logged()
        self.lines_by_second[int(time.monotonic())] += len(new)
        self.wrong += [line[:1000] for line in new if self.is_wrong(line)]

    def row(self) -> str:
        """Return what came of it, as a line of a table."""
        counts = self.asked_by_second, self.lines_by_second
        sums = "".join(f"{count.total():>10}{max(count.values(), default=0):>10}" for count in counts)
        return f"{self.name:<16}{sums}{len(self.wrong):>8}"


class Written(Lines):
    """Lines that the API of this process would write, within the bound of each client; unexpected ones have a mark."""

    def __init__(self) -> None:
        super().__init__()
        self._new: list[str] = []
        self._few = LineLimiter()

    def process(self, _logger: object, method: str, event: Mapping[str, Any]) -> Any:
        """Note a line of Zoe's; those of level error also beyond the bound."""
        if method in _FORBIDDEN or "address" not in event or self._few.take(str(event["address"])) is not None:
            super().process(_logger, method, event)
        raise structlog.DropEvent

    def take(self) -> list[str]:
        """Return the lines since the last call."""
        taken, self._new = self._new, []
        return taken

    def _note(self, level: str, trace: object, text: str) -> None:
        self._new.append((_LEVEL_ERROR if level in _FORBIDDEN or trace else "") + text)


@contextmanager
def api_door(seed: int, world: World) -> Iterator[Door]:
    """Yield the API with all its routes, and all who ask."""
    drawing = Drawing(seed, bare_app().openapi(), ASKERS, world.owners, world.known(), ())
    at, drawn, written = urlsplit(world.api.url), count(1), Written()

    def draw(chance: random.Random) -> bytes:
        if next(drawn) % _RENEW_EVERY == 0:
            world.renew()
        one = drawing.request()
        head, _, body = one.sent(at.netloc.encode(), world.headers[one.asker]).partition(b"\r\n\r\n")
        return cut(chance, head + b"\r\n\r\n", body)

    with lines(written):
        yield Door("the API", world.api.url, draw, written.take, lambda line: line.startswith(_LEVEL_ERROR))


@contextmanager
def store_door(name: str, store: ObjectStore) -> Iterator[Door]:
    """Yield a store, and people of two tenants who ask it by Swift's protocol and by S3's."""
    with ExitStack() as opened:
        people = [
            (opened.enter_context(logged_in(store, text)), opened.enter_context(s3_client(store, text)))
            for text in RULES
        ]
        for person, _ in people:
            person.put("cut")
            person.put("cut/large", LARGE)

        def draw(chance: random.Random) -> bytes:
            person, s3 = chance.choice(people)
            return next(requests(person, s3, "cut", chance, 1))

        log = opened.enter_context((store.directory / "proxy.log").open(errors="replace"))
        log.seek(0, os.SEEK_END)
        yield Door(name, people[0][1].address, draw, log.readlines)


@contextmanager
def doors(seed: int, server: PostgresServer) -> Iterator[list[Door]]:
    """Yield Swift's proxy with rules of both tenants, the gateway before another Swift, and the API."""
    with ExitStack() as opened:
        enter = opened.enter_context
        whole = enter(whole_storage(server.create_database(), keyring=keyring, s3=True))
        pair = enter(gateway_before_swift())
        http = enter(httpx.Client(base_url=whole.url, headers={"X-Auth-Token": TOKEN}, timeout=60))
        made = [enter(store_door("Swift's proxy", whole.store)), enter(store_door("the gateway", pair.gateway))]
        for rule in RULES.values():
            enter(applied(http, whole, rule))
        world = World(server.create_database())
        opened.callback(world.close)
        yield [*made, enter(api_door(seed, world))]


def run(made: Sequence[Door], seed: int, seconds: float) -> None:
    """Break off for so long by several clients of each server; then wait for the lines of pending requests."""
    until_s = time.monotonic() + seconds

    def client(door: Door, chance: random.Random) -> None:
        while time.monotonic() < until_s:
            door.ask(chance)

    with ThreadPoolExecutor(_CLIENTS_OF_DOOR * len(made)) as pool:
        asked = [
            pool.submit(client, door, random.Random(f"{seed} {door.name} {number}"))
            for door in made
            for number in range(_CLIENTS_OF_DOOR)
        ]
        for future in asked:
            future.result()
    time.sleep(_LATE_LINES_S)
    for door in made:
        door.look()


def main() -> int:
    """Return 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="tests.hostile.breaking", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="How long (default: 600).")
    parser.add_argument("--seed", type=int, default=1, help="Draws the requests (default: 1).")
    parser.add_argument("--engines", action="store_true", help="Run beside a swarm of three engines (as root).")
    options = parser.parse_args()
    home = make_home()
    server = PostgresServer(home)
    with ExitStack() as opened:
        opened.callback(shutil.rmtree, home)
        opened.callback(server.stop)
        if options.engines:
            opened.callback(Cluster().remove)
        server.start()
        made = opened.enter_context(doors(options.seed, server))
        run(made, options.seed, options.seconds)
    print("\n".join([f"seed {options.seed}", HEAD, *(door.row() for door in made)]))
    print("\n".join(line for door in made for line in door.wrong[:50]))
    return 1 if any(door.wrong for door in made) else 0


if __name__ == "__main__":
    sys.exit(main())
