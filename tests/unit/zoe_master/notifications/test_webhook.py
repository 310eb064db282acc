"""A webhook goes to the address of its URL, and to no other that the target names."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_network

import pytest

from zoe_master.notifications.messages import NotificationMessage
from zoe_master.notifications.webhook import NotDelivered, NotificationWebhooks


@contextmanager
def target(location: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield a URL, and the requested paths; with a location, it redirects."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_response(307 if location else 204)
            if location:
                self.send_header("Location", location)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_redirect_is_not_followed() -> None:
    async def sent(url: str) -> None:
        webhooks = NotificationWebhooks([ip_network("127.0.0.0/8")], timeout_s=10.0)
        try:
            await webhooks.send(url, NotificationMessage("1", b"{}"), {})
        finally:
            await webhooks.close()

    with target() as (inside, asked_inside), target(inside) as (url, asked):
        with pytest.raises(NotDelivered, match="redirects are not followed"):
            asyncio.run(sent(url))
        assert asked == ["/hook"]
        assert asked_inside == []
        asyncio.run(sent(inside))
        assert asked_inside == ["/hook"]
