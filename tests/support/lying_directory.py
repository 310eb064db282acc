"""A directory that lies: well-formed answers that a client must reject, on loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.support.broken_directory import (
    BOUND,
    Answers,
    after_the_bind,
    ber,
    entry,
    is_bind,
    message,
    number_of,
    result,
)

MIA = entry("uid=mia,ou=people,dc=example,dc=org", entryUUID=b"1", cn=b"staff")
START_TLS_OID = b"1.3.6.1.4.1.1466.20037"


def done(code: int = 0) -> bytes:
    """The end of a search."""
    return result(0x65, code)


def answering(*operations: bytes) -> Answers:
    """Accept each bind, and answer each search like this."""

    def answers(request: bytes) -> Iterator[bytes]:
        for operation in operations:
            yield message(number_of(request), operation)

    return after_the_bind(answers)


def misnumbered(request: bytes) -> Iterator[bytes]:
    """Answer each request with the id of another one."""
    number = number_of(request) + 7
    for operation in (BOUND,) if is_bind(request) else (MIA, done()):
        yield message(number, operation)


def referring(elsewhere: str) -> Sequence[Answers]:
    """Refer a bind, a search, and a part of it to another host."""
    to = ber(0x04, elsewhere.encode())

    def bind(request: bytes) -> Iterator[bytes]:
        yield message(number_of(request), result(0x61, 10, ber(0xA3, to)))

    return bind, answering(result(0x65, 10, ber(0xA3, to))), answering(ber(0x73, to), done())


def groups(count: int) -> Answers:
    """Return one user, who is in this many groups."""

    def answers(request: bytes) -> Iterator[bytes]:
        number = number_of(request)
        found = [MIA] if b"entryUUID" in request else [entry(f"cn=g{n},dc=x", cn=b"g%d" % n) for n in range(count)]
        for at in range(0, len(found), 100):
            yield b"".join(message(number, data) for data in found[at : at + 100])
        yield message(number, done())

    return after_the_bind(answers)


def refusing_tls(code: int, then: bytes = b"") -> Answers:
    """Answer StartTLS with this result, then something unencrypted; accept every bind."""

    def answers(request: bytes) -> Iterator[bytes]:
        if START_TLS_OID in request:
            yield message(number_of(request), result(0x78, code)) + then
        else:
            yield message(number_of(request), BOUND if is_bind(request) else MIA)

    return answers


@contextmanager
def injecting(url: str, injected: bytes) -> Iterator[str]:
    """Stand between a client and the directory at `url`, and add this to its first answer: that of StartTLS."""
    there = urlsplit(url)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection((there.hostname or "", there.port or 0))
                threading.Thread(target=_pass_on, args=(near, far, b""), daemon=True).start()
                threading.Thread(target=_pass_on, args=(far, near, injected), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"ldap://localhost:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _pass_on(source: socket.socket, target: socket.socket, injected: bytes) -> None:
    with suppress(OSError), source, target:
        while data := source.recv(65536):
            target.sendall(data + injected)
            injected = b""
