"""Whatever bytes a client writes as request target: the proxy connects to the application, or to nothing.

Over raw sockets, with every parser of HTTP and WebSockets that uvicorn has here.
"""

from __future__ import annotations

import importlib.util
import os
import re
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse

from tests.support.listeners import Connects, Listener
from tests.support.scheduling import component, queued, started
from tests.support.serving import Served
from zoe_api.apps.door import AppsDoor
from zoe_lib.domain.application import Port, PortProtocol
from zoe_lib.store.people import AppAccess

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "100"))
HTTP = [name for name in ("h11", "httptools") if importlib.util.find_spec(name)]
WEBSOCKETS = [name for name in ("websockets-sansio", "wsproto") if importlib.util.find_spec(name.partition("-")[0])]
DOMAIN = "apps.localhost"
SECRET = "k" * 43
PORT = Port("web", 8000, PortProtocol.HTTP, "/", proxied=True)
EXECUTION = started(queued("e1", component(ports=(PORT,))), "n1")
UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
# Parsers may cut a fragment off, and the host of an absolute URL; all else passes as it is.
_PLAIN = re.compile(rb"/[!\"$-~]*")
CONNECTS = Connects()


class Proxied:
    """A door before one application, whose user is known, and a listener that plays any other host."""

    def __init__(self, **options: Any) -> None:
        self.application, self.other = Listener(), Listener()
        address = {"host": "127.0.0.1", "port": self.application.port, "headers": {"X-Zoe-Secret": "s3cret"}}
        access = AppAccess("a", "ada", "red", None, None, "e1", 0, 2e9)
        store: Any = SimpleNamespace(
            app_access=lambda *_: access,
            execution=lambda _: EXECUTION,
            add_use=lambda *_: None,
            add_use_of=lambda *_: None,
        )
        master: Any = SimpleNamespace(ask=lambda *_: address)
        door = AppsDoor(PlainTextResponse("the API"), DOMAIN, store, master, 3600.0)
        self.served = Served(door, **options)
        self.port = urlsplit(self.served.url).port or 0

    def close(self) -> None:
        self.served.close()
        self.application.close()
        self.other.close()

    def send(self, target: bytes, more: bytes, host: str = f"e1.{DOMAIN}") -> bytes:
        """The status of the first answer; nothing when the server hung up."""
        names = f"Host: {host}\r\nCookie: zoe-app={SECRET}\r\n".encode()
        with socket.create_connection(("127.0.0.1", self.port), 60) as raw:
            raw.sendall(b"GET " + target + b" HTTP/1.1\r\n" + names + more + b"\r\n")
            return raw.makefile("rb").readline().partition(b" ")[2][:3]

    def check(self, target: bytes, more: bytes) -> bytes:
        target = target.replace(b"OTHER", b"127.0.0.1:%d" % self.other.port)
        before = len(self.application.lines)
        with CONNECTS.of("api") as connected:
            status = self.send(target, more)
        assert status < b"500", (target, status)
        here = ("127.0.0.1", self.application.port)
        assert [one for one in connected if one != here] == [], target
        assert self.other.connections == 0, target
        if _PLAIN.fullmatch(target) and status in (b"200", b"101"):
            assert self.application.lines[before:] == [b"GET " + target + b" HTTP/1.1"]
        return status


@pytest.fixture(scope="module", params=HTTP)
def over_http(request: pytest.FixtureRequest) -> Iterator[Proxied]:
    made = Proxied(http=request.param)
    yield made
    made.close()


@pytest.fixture(scope="module", params=[(http, ws) for http in HTTP for ws in WEBSOCKETS], ids="-".join)
def over_websockets(request: pytest.FixtureRequest) -> Iterator[Proxied]:
    made = Proxied(http=request.param[0], ws=request.param[1])
    yield made
    made.close()


PIECES = [
    b"/",
    b"//",
    b"@",
    b"OTHER",
    b"OTHER/x",
    b"http://",
    b"ws://",
    b":",
    b"?",
    b"#",
    b"\\",
    b"*",
    b"%2f",
    b"..",
    b";",
    b"a",
]
targets = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=6).map(b"".join),
    st.text("/?&=;:@!$'()*+,-._~%0aZ|{}[]^`\"<>", max_size=30).map(lambda text: b"/" + text.encode()),
)
ATTACKS = [
    b"@OTHER/metrics",
    b"http://OTHER/",
    b"OTHER",
    b"//OTHER/",
    b"/\\OTHER/",
    b"\\\\OTHER/",
    b"?@OTHER/",
    b"#@OTHER/",
]


def with_attacks(test: Any) -> Any:
    for target in (*ATTACKS, b"", b"*", b"/\xff", b"/\x00", b"/a\rb", b"/\nHost:x", b"/ HTTP/1.1\r\n\r\nGET @OTHER"):
        test = example(target)(test)
    return test


@with_attacks
@given(targets)
@settings(max_examples=CHECKS)
def test_a_request_reaches_the_application_or_nothing(over_http: Proxied, target: bytes) -> None:
    over_http.check(target, b"Connection: close\r\n")


@with_attacks
@given(targets)
@settings(max_examples=CHECKS)
def test_a_websocket_reaches_the_application_or_nothing(over_websockets: Proxied, target: bytes) -> None:
    over_websockets.check(target, UPGRADE)


PATHS = [
    b"/",
    b"//evil.example/x",
    b"/a;b=1/c?d=%2F&e=|{}^",
    b"/@OTHER/",
    b"/x?http://OTHER/",
    b"/a%20b",
    b"/?a\\b",
    b"/:80",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_passes_byte_by_byte(over_http: Proxied, path: bytes) -> None:
    assert over_http.check(path, b"Connection: close\r\n") == b"200"


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_a_websocket_passes_byte_by_byte(over_websockets: Proxied, path: bytes) -> None:
    assert over_websockets.check(path, UPGRADE) == b"101"


def test_an_application_cannot_send_the_proxy_elsewhere(over_websockets: Proxied) -> None:
    assert over_websockets.check(b"/away?OTHER", UPGRADE) == b"403"


@pytest.mark.parametrize("host", [f"e1.{DOMAIN}", "localhost"])
def test_what_is_no_path_is_refused(over_http: Proxied, host: str) -> None:
    for target in (b"@OTHER/metrics", b"OTHER", b"?a", b"*", b"\\OTHER", b"/\\OTHER/"):
        assert over_http.send(target, b"Connection: close\r\n", host) == b"400", target
