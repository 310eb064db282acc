"""The door to applications under a real server, before one application scripted by the test."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import socket
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse

from tests.support.listeners import Connects, Listener
from tests.support.scheduling import component, queued, started
from tests.support.serving import Served
from zoe_api.apps.middleware import AppsMiddleware
from zoe_api.services.stream_places import StreamPlaces
from zoe_lib.domain.applications.application import Port, PortProtocol
from zoe_lib.store.people import AppAccess

HTTP = [name for name in ("h11", "httptools") if importlib.util.find_spec(name)]
WEBSOCKETS = [name for name in ("websockets-sansio", "wsproto") if importlib.util.find_spec(name.partition("-")[0])]
DOMAIN = "apps.localhost"
SECRET = "k" * 43
KNOWN = hashlib.sha256(SECRET.encode()).hexdigest()
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
    """A door before one application, whose user is known, and a listener for any other host."""

    def __init__(self, streams: StreamPlaces | None = None, **options: Any) -> None:
        self.application, self.other = Listener(), Listener()
        address = {"host": "127.0.0.1", "port": self.application.port, "headers": {"X-Zoe-Secret": "s3cret"}}
        access = AppAccess("a", "ada", "red", None, None, "e1", 0, 2e9)
        self.looked_up: list[object] = []  # requests for a target

        def looking(key: object, answer: object) -> object:
            self.looked_up.append(key)
            return answer

        store: Any = SimpleNamespace(
            accounts=SimpleNamespace(
                app_access=lambda key, _now_s: access if key == KNOWN else None, enter_app=lambda *_: None
            ),
            execution=lambda key: looking(key, EXECUTION),
            add_use=lambda *_: None,
            add_use_of=lambda *_: None,
        )
        master: Any = SimpleNamespace(ask=lambda *asked: looking(asked, address))
        places = streams or StreamPlaces(100, 100, 100)
        door = AppsMiddleware(PlainTextResponse("the API"), DOMAIN, store, master, 3600.0, places, None)
        self.served = Served(door, **options)
        self.port = urlsplit(self.served.url).port or 0

    def close(self) -> None:
        self.served.close()
        self.application.close()
        self.other.close()

    def send(self, target: bytes, more: bytes, host: str = f"e1.{DOMAIN}") -> bytes:
        """Return the status of the first answer; nothing when the server hung up."""
        names = f"Host: {host}\r\nCookie: zoe-app={SECRET}\r\n".encode()
        with socket.create_connection(("127.0.0.1", self.port), 60) as raw:
            raw.sendall(b"GET " + target + b" HTTP/1.1\r\n" + names + more + b"\r\n")
            return raw.makefile("rb").readline().partition(b" ")[2][:3]

    def exchange(self, request: bytes) -> bytes:
        """Return all bytes of the server until it hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), 60) as raw:
            raw.sendall(request)
            return raw.makefile("rb").read()

    def check(self, target: bytes, more: bytes) -> bytes:
        target = target.replace(b"OTHER", b"127.0.0.1:%d" % self.other.port)
        before = len(self.application.lines)
        with CONNECTS.of("api") as connected:
            status = self.send(target, more)
        assert status < b"500", (target, status)
        here = ("127.0.0.1", self.application.port)
        assert [value for value in connected if value != here] == [], target
        assert self.other.connections == 0, target
        if _PLAIN.fullmatch(target) and status in (b"200", b"101"):
            assert self.application.lines[before:] == [b"GET " + target + b" HTTP/1.1"]
        return status
