"""An API process that may open few files is flooded with connections: it lives, answers afterwards, and logs little."""

from __future__ import annotations

import json
import resource
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx
import pytest

from tests.support.installation import Installation, free_port
from tests.support.waiting import until

DESCRIPTORS = 192
LINES_A_SECOND_MAX = 10
FLOOD, ENOUGH = 300, 200
ROUNDS = 2


def answers(port: int) -> bool:
    time.sleep(0.3)  # each look is a line in the log
    try:
        with httpx.Client(trust_env=False, timeout=10) as http:
            return http.get(f"http://127.0.0.1:{port}/readyz").json()["database"] == "ok"
    except (httpx.TransportError, ValueError, KeyError):
        return False


@pytest.mark.parametrize(
    ("known", "what"),
    [(True, b"rubbish\r\n\r\n"), (False, b"")],
    ids=["limit known at the start, rubbish", "limit found later, nothing"],
)
def test_it_lives_at_the_limit_of_descriptors(installation: Installation, known: bool, what: bytes) -> None:
    port = free_port()
    more = {"ZOE_API_CONNECTIONS_OF_ADDRESS_MAX": "1000000", "ZOE_API_HEAD_TIMEOUT_S": "1"}
    with low_limit(known):
        process = installation.start_api(port, **more)
    until(lambda: answers(port), lambda: installation.log(f"api-{port}"))
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    for _ in range(ROUNDS):
        flood(port, what)
    assert process.poll() is None
    until(lambda: answers(port), lambda: installation.log(f"api-{port}"))
    seconds = lines_by_second(installation.log(f"api-{port}"))
    assert max(seconds.values()) <= LINES_A_SECOND_MAX, seconds.most_common(5)


@contextmanager
def low_limit(wanted: bool) -> Iterator[None]:
    """What a process that is started within has from the beginning."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def flood(port: int, what: bytes) -> None:
    """Open many connections at once and send something on each, until the server has ended those that it took."""
    with selectors.DefaultSelector() as selector, ExitStack() as held:
        for _ in range(FLOOD):
            one = held.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            selector.register(one, selectors.EVENT_WRITE)
        ended = 0
        while ended < ENOUGH and (ready := selector.select(2)):
            for key, event in ready:
                one: socket.socket = key.fileobj  # type: ignore[assignment,no-redef]
                with suppress(OSError):
                    if event & selectors.EVENT_WRITE:
                        one.send(what)
                        selector.modify(one, selectors.EVENT_READ)
                        continue
                    if one.recv(65536):
                        continue
                selector.unregister(one)
                ended += 1


def lines_by_second(log: str) -> Counter[str]:
    return Counter(json.loads(line)["timestamp"][:19] if line.startswith("{") else "none" for line in log.splitlines())
