"""A directory that violates LDAP in one way (RFC 4511), on loopback."""

from __future__ import annotations

import random
import socketserver
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle

GIVEN_UP_S = 30.0
Answers = Callable[[bytes], Iterator[bytes]]
"""The responses to a request."""


def ber(tag: int, content: bytes) -> bytes:
    size = len(content)
    long = size.to_bytes(4, "big")
    return bytes([tag]) + (bytes([size]) if size < 128 else b"\x84" + long) + content


def message(number: int, operation: bytes) -> bytes:
    return ber(0x30, ber(0x02, number.to_bytes(4, "big")) + operation)


def number_of(request: bytes) -> int:
    """Return the id of a message."""
    start = 2 + (request[1] & 0x7F if request[1] & 0x80 else 0)
    return int.from_bytes(request[start + 2 : start + 2 + request[start + 1]], "big")


def is_bind(request: bytes) -> bool:
    start = 2 + (request[1] & 0x7F if request[1] & 0x80 else 0)
    return request[start + 2 + request[start + 1]] == 0x60


def entry(dn: str, **attributes: bytes) -> bytes:
    """A SearchResultEntry with one value of each attribute."""
    pairs = b"".join(
        ber(0x30, ber(0x04, name.encode()) + ber(0x31, ber(0x04, value))) for name, value in attributes.items()
    )
    return ber(0x64, ber(0x04, dn.encode()) + ber(0x30, pairs))


def result(tag: int, code: int, more: bytes = b"") -> bytes:
    return ber(tag, ber(0x0A, bytes([code])) + ber(0x04, b"") + ber(0x04, b"") + more)


BOUND = result(0x61, 0)
_ENTRY = entry("uid=mia,dc=example")


def _referral(request: bytes) -> Iterator[bytes]:
    yield message(number_of(request), result(0x61, 10, ber(0xA3, ber(0x04, b"ldap://127.0.0.1:1"))))


def after_the_bind(then: Answers) -> Answers:
    def answers(request: bytes) -> Iterator[bytes]:
        if is_bind(request):
            yield message(number_of(request), BOUND)
        else:
            yield from then(request)

    return answers


def _trickle(request: bytes) -> Iterator[bytes]:
    until_s = time.monotonic() + GIVEN_UP_S
    for byte in cycle(message(number_of(request), _ENTRY)):
        yield bytes([byte])
        time.sleep(0.1)
        if time.monotonic() > until_s:
            return


def _entries(request: bytes) -> Iterator[bytes]:
    until_s = time.monotonic() + GIVEN_UP_S
    while time.monotonic() < until_s:
        yield message(number_of(request), _ENTRY) * 10
        time.sleep(0.01)


def _noise(seed: int) -> Answers:
    def answers(request: bytes) -> Iterator[bytes]:
        chance = random.Random(seed)
        whole = bytearray(message(number_of(request), BOUND if is_bind(request) else _ENTRY))
        for _ in range(chance.randint(1, 4)):
            whole[chance.randrange(len(whole))] = chance.randrange(256)
        yield bytes(whole) + chance.randbytes(chance.randrange(40))

    return answers


BROKEN: Mapping[str, Answers] = {
    "refers elsewhere": _referral,
    "answers a byte at a time": after_the_bind(_trickle),
    "has entries without end": after_the_bind(_entries),
    "says nothing": lambda _: iter([b""]),
    **{f"answers noise {seed}": _noise(seed) for seed in range(12)},
}


@dataclass
class BrokenDirectory:
    """`heard_out`: a client read all of an answer that takes half a minute. `received`: clients' unencrypted bytes."""

    url: str
    heard_out: bool = False
    received: bytes = b""


@contextmanager
def broken_directory(answers: Answers) -> Iterator[BrokenDirectory]:
    """Serve until the end of the context."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                while request := self.request.recv(65536):
                    made.received += request
                    until_s = time.monotonic() + GIVEN_UP_S
                    for part in answers(request):
                        self.request.sendall(part)
                    made.heard_out |= time.monotonic() >= until_s

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        made = BrokenDirectory(f"ldap://127.0.0.1:{server.server_address[1]}")
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield made
        finally:
            server.shutdown()
            serving.join()
