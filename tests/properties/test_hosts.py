"""Whatever bytes a client writes as `Host`: the API answers to its own names, and to nothing else."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.support.serving import Served
from zoe_api.http.hosts import HostDoor, is_any
from zoe_lib.settings.config import Settings

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "300"))
SETTINGS = Settings(public_url="https://zoe.example.org:8443", allowed_hosts=["other.example"], api_host="0.0.0.0")
OURS = {"zoe.example.org", "other.example", "localhost", os.uname().nodename.lower()}
ASCII = {chr(code) for code in range(128)}
NAME_LETTERS = set("abcdefghijklmnopqrstuvwxyz0123456789-_")


def is_ours(host: bytes) -> bool | None:
    """Return the rule in another formulation than the product's; None for an invalid host."""
    text = host.decode("latin-1")
    if not set(text) <= ASCII:
        return None
    text = text.lower()
    name, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        name, port = text, ""
    if not set(port) <= set("0123456789") or len(port) > 5 or int(port or 0) >= 2**16:
        return None
    if name.startswith("["):
        if not name.endswith("]") or "%" in name:
            return None
        return True if _is_a(IPv6Address, name[1:-1]) else None
    name = name[:-1] if name.endswith(".") else name
    labels = name.split(".")
    if not all(label and set(label) <= NAME_LETTERS for label in labels):
        return None
    return name in OURS or labels[-1] == "localhost" or _is_a(IPv4Address, name)


def _is_a(kind: type[IPv4Address | IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


class Counted:
    """An application that is asked, or not."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        await PlainTextResponse("asked")(scope, receive, send)


def status_of(headers: list[tuple[bytes, bytes]], kind: str = "http") -> tuple[object, int]:
    """Return the answer, and the number of calls of the application."""
    inner, sent = Counted(), []
    door = HostDoor(inner, SETTINGS)
    scope: Scope = {
        "type": kind,
        "method": "GET",
        "path": "/api/v1/me",
        "raw_path": b"/api/v1/me",
        "query_string": b"",
        "headers": headers,
        "state": {},
    }

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(door(scope, receive, send))
    return sent[0].get("status", sent[0].get("code")), inner.asked


letters = st.sampled_from(
    [b"a", b"Z", b".", b":", b"[", b"]", b"@", b"%", b"/", b"\\", b"#", b"0", b"9", b"\xff", b" "]
)
names = st.sampled_from(
    [*(name.encode() for name in sorted(OURS)), b"x.localhost", b"127.0.0.1", b"[::1]", b"evil.example"]
)


@st.composite
def nearly(draw: st.DrawFn) -> bytes:
    """A name, ours or not, with what may come before, within and behind it."""
    name = bytearray(draw(names))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(name)))
        name[place:place] = draw(letters)
    text = bytes(name).upper() if draw(st.booleans()) else bytes(name)
    return text + draw(st.sampled_from([b"", b".", b"..", b":", b":5100", b".:80", b":65536", b":x", b":80:80", b"@x"]))


@settings(max_examples=CHECKS, deadline=None)
@given(st.one_of(nearly(), st.binary(max_size=40), st.lists(letters, max_size=12).map(b"".join)))
@example(b"")
@example(b"localhost:5100")
@example(b"LocalHost.:5100")
@example(b"[::1]:5100")
@example(b"[::FFFF:127.0.0.1]")
@example(b"[::1")
@example(b"[fe80::1%25lo]")
@example(b"user@localhost")
@example(b"localhost@evil.example")
@example(b"evil.example#localhost")
@example(b"localhost.evil.example")
@example(b"evillocalhost")
@example(b"127.0.0.1.evil.example")
@example(b"0x7f.1")
@example(b"localhost:\xb2")
def test_the_application_is_asked_by_names_of_ours_and_by_no_other(host: bytes) -> None:
    ours = is_ours(host)
    expected = {None: (400, 0), False: (421, 0), True: (200, 1)}[ours]
    assert status_of([(b"host", host)]) == expected


def test_none_and_several_are_refused_and_so_are_sockets() -> None:
    assert status_of([]) == (400, 0)
    assert status_of([(b"host", b"localhost"), (b"host", b"localhost")]) == (400, 0)
    assert status_of([(b"host", b"evil.example")], "websocket") == (421, 0)


@pytest.mark.parametrize(
    ("names", "expected"), [(None, False), ([], True), (["*"], True), (["a", "*"], True), (["a"], False)]
)
def test_an_empty_list_and_an_asterisk_mean_any(names: list[str] | None, expected: bool) -> None:
    assert is_any(names) is expected


@pytest.mark.parametrize("name", ["https://zoe.example.org", "zoe.example.org:443", "*.example.org", "", "a b", "a/b"])
def test_invalid_host_name_is_refused_as_a_setting(name: str) -> None:
    with pytest.raises(ValueError, match="not a host name"):
        Settings(allowed_hosts=[name])


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Served, Counted]]:
    inner = Counted()
    served = Served(HostDoor(inner, SETTINGS), lifespan="off")
    yield served, inner
    served.close()


@pytest.mark.parametrize(
    ("request_line", "host"),
    [
        (b"GET http://localhost/ HTTP/1.1", b"evil.example"),
        (b"GET / HTTP/1.1", b"evil.example"),
        (b"GET / HTTP/1.1", b"evil.example\r\nHost: localhost"),
        (b"GET / HTTP/1.1", b"evil.example\r\nX-Forwarded-Host: localhost"),
        (b"GET / HTTP/1.0", b"evil.example"),
        (b"CONNECT localhost:80 HTTP/1.1", b"evil.example"),
    ],
)
def test_no_other_way_to_name_a_host_counts(served: tuple[Served, Counted], request_line: bytes, host: bytes) -> None:
    server, inner = served
    before = inner.asked
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request_line + b"\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
        status = int(connection.makefile("rb").readline().split()[1])
    assert status in (400, 421)
    assert inner.asked == before
