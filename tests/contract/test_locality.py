"""Where objects are, by both of Crystal's dialects and our own client: what is asked over HTTP, and what is heard."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from storage_bridge.base import StorageController
from storage_bridge.crystal import CrystalController
from storage_bridge.dialects import Appendix, Later
from storage_bridge.line import ControllerSettings, Line
from storage_bridge.model import BandwidthSlo
from storage_bridge.own import OwnController

OBJECT = "/swift/locality/AUTH_acme/meters/2015/part%201.csv/"
ENDPOINTS = ["http://storage4:6200/sda/3/AUTH_acme/meters", "http://10.0.0.5:6200/sdb/3/AUTH_acme/meters"]
ANSWERS = {
    OBJECT: {"endpoints": ENDPOINTS, "headers": {}},
    "/swift/locality/AUTH_acme/meters/": ["storage4", "storage4"],
}


class _Swift(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        told = ANSWERS.get(self.path)
        self.send_response(404 if told is None else 200)
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Swift) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def appendix(settings: ControllerSettings) -> StorageController:
    line = Line(settings)
    return CrystalController(line, settings, Appendix(line, "zoe"))


def later(settings: ControllerSettings) -> StorageController:
    line = Line(settings)
    return CrystalController(line, settings, Later(line, "zoe"))


def own(settings: ControllerSettings) -> StorageController:
    return OwnController(Line(settings), settings)


@pytest.mark.parametrize("client", [appendix, later, own])
def test_the_hosts_of_the_tenants_own_object_are_heard(
    url: str, client: Callable[[ControllerSettings], StorageController]
) -> None:
    controller = client(ControllerSettings(url, "token", "zoe", BandwidthSlo(10**8, 10**8)))
    assert controller.locality("acme", "swift2d://meters.zoe/2015/part 1.csv") == ("storage4", "10.0.0.5")
    assert controller.locality("acme", "swift2d://meters.zoe") == ("storage4",)
    assert controller.locality("other", "swift2d://meters.zoe") == ()
