"""An execution whose proxied ports are open to browsers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.sync.client import ClientConnection, connect

from tests.support.api import Api
from tests.support.documents import document, part
from tests.support.serving import Served
from tests.support.waiting import until
from zoe_client.wire import ExecutionView
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.base import PortAddress

PORTS = [
    {"name": "web", "number": 8000, "protocol": "http", "path": "/lab?token=1", "proxied": True},
    {"name": "ui", "number": 4040, "protocol": "http", "proxied": True},
    {"name": "signed", "number": 4041, "protocol": "http", "proxied": True, "sign_in": {"scheme": "token"}},
    {"name": "doubled", "number": 4042, "protocol": "http", "path": "//evil.example/lab", "proxied": True},
    {"name": "rpc", "number": 7077},
]


class Opened:
    """An execution whose proxied ports are all the same upstream, and a browser's access to it."""

    def __init__(self, api: Api, upstream: Served) -> None:
        self.api = api
        self.upstream = urlsplit(upstream.url)
        self.master = api.start_master()
        address = PortAddress("127.0.0.1", self.upstream.port or 0, headers={"X-Zoe-Secret": "s3cret"})
        self.master.backend.address = lambda *_: address
        client = api.client()
        submitted = client.submit(document(part("main", ports=PORTS)))
        self.execution: ExecutionView = until(
            lambda: (e := client.execution(submitted.id)).state is ExecutionState.RUNNING and e
        )
        self.path = f"/api/v1/executions/{submitted.id}/services/{self.execution.services[0].id}/ports"

    def ticket(self, http: httpx.Client, port: str = "web") -> str:
        answer = http.post(f"{self.path}/{port}/open")
        assert answer.status_code == 201, answer.text
        return str(answer.json()["url"])

    def visit(self, url: str, http: httpx.Client, **more: Any) -> httpx.Response:
        """Send a request like a browser, which finds `*.localhost` on this machine."""
        parts = urlsplit(url)
        return http.get(parts._replace(scheme="", netloc="").geturl(), headers={"Host": parts.netloc}, **more)

    def enter(self, port: str = "web", http: httpx.Client | None = None) -> httpx.Client:
        """A client of the application's origin, with its cookie."""
        url = self.ticket(http or self.api.http(), port)
        inside = self.api.http(None)
        answer = self.visit(url, inside)
        assert answer.status_code == 303, answer.text
        inside.headers["Host"] = urlsplit(url).netloc
        return inside

    @contextmanager
    def talk(self, inside: httpx.Client, origin: str | None = None, **more: Any) -> Iterator[ClientConnection]:
        host, cookie = inside.headers["Host"], "; ".join(f"{k}={v}" for k, v in inside.cookies.items())
        raw = socket.create_connection(("127.0.0.1", urlsplit(self.api.url).port or 0))
        with connect(
            f"ws://{host}/talk",
            sock=raw,
            origin=origin or f"http://{host}",  # type: ignore[arg-type]
            additional_headers={"Cookie": cookie} if cookie else None,
            proxy=None,
            max_size=None,
            **more,
        ) as made:
            yield made
