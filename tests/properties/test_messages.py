"""Whatever frames a peer with a valid key sends, the master's server answers the next question."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import zmq

from tests.support.checks import of_checks
from tests.support.waiting import until
from zoe_lib.messaging.client import MasterClient
from zoe_lib.messaging.envelope import Request, write
from zoe_lib.messaging.header import RECEIVED, write_header
from zoe_lib.messaging.keys import API, MASTER, ensure_keys, load_keys, load_public
from zoe_lib.messaging.server import Server

MESSAGES = of_checks(2, 20_000)
HOSTILE: list[Any] = [None, True, -1, 2**70, 1e308, "", "x" * 5000, "\ud800", [], [[]] * 50, {}, {"": None}, {"v": {}}]


@contextmanager
def peer(keys: Path, endpoint: str) -> Iterator[zmq.Socket[bytes]]:
    pair, context = load_keys(keys, API), zmq.Context()
    with context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.curve_publickey, socket.curve_secretkey = pair.public, pair.secret
        socket.curve_serverkey = load_public(keys, MASTER)
        socket.connect(endpoint)
        yield socket


def mutated(rng: random.Random, message: bytes) -> bytes:
    """A message with a field changed, or with bytes changed, cut or repeated."""
    match rng.randrange(5):
        case 0:
            fields = json.loads(message)
            fields[rng.choice([*fields, "new"])] = rng.choice(HOSTILE)
            return json.dumps(fields).encode()
        case 1:
            return message[: rng.randrange(len(message))]
        case 2:
            place = rng.randrange(len(message))
            return message[:place] + rng.randbytes(rng.randrange(1, 4)) + message[place + 1 :]
        case 3:
            return rng.randbytes(rng.randrange(200))
        case _:
            return message


def frames(rng: random.Random, number: int) -> list[bytes]:
    header = write_header(f"q{number}", rng.choice([0.0, 0.001, 60.0]), rng.choice(["ada", "\u202e", "x" * 300]))
    request = write(Request(id=f"r{number}", kind=rng.choice(["echo", "echo", "nothing", ""]), body={"n": number}))
    parts = [mutated(rng, header), mutated(rng, request)]
    match rng.randrange(6):
        case 0:
            return parts[1:]
        case 1:
            return parts * rng.randrange(1, 40)
        case 2:
            return [RECEIVED, *parts]
        case 3:
            return [b"", parts[1]]
        case _:
            return parts


def test_a_server_survives_any_frames(tmp_path: Path) -> None:
    keys, rng = tmp_path / "keys", random.Random(11)
    ensure_keys(keys)
    with (
        closing(Server("tcp://127.0.0.1:*", keys, {"echo": lambda body: body})) as server,
        closing(MasterClient(server.endpoint, keys, 10.0, 3)) as client,
        peer(keys, server.endpoint) as socket,
    ):
        for number in range(MESSAGES):
            socket.send_multipart(frames(rng, number))
            while socket.poll(0):
                socket.recv_multipart()
            if number % 50 == 0:
                assert client.ask("echo", {"n": number}) == {"n": number}
        assert client.ask("echo", {"n": -1}) == {"n": -1}
        until(lambda: not server._routes, lambda: f"kept return addresses: {len(server._routes)}")
