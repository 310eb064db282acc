"""Answers of the store's servers, valid and invalid ones."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from storage_controller.nodes.health import Disk
from storage_controller.nodes.questions import ask
from storage_controller.settings import NodeKind

Answer = tuple[int, Any]
HEALTHY = {
    "/healthcheck": (200, "OK"),
    "/recon/diskusage": (200, [{"device": "d1", "mounted": True, "size": 100, "used": 30, "avail": 70}]),
    "/recon/quarantined": (200, {"objects": 1, "containers": 2, "accounts": 3, "policies": {}}),
    "/recon/replication/object": (200, {"replication_last": 5.0, "object_replication_last": 7.5}),
    "/recon/replication/account": (200, {"replication_last": None}),
    "/recon/async": (200, {"async_pending": 4}),
    "/zoe-filters": (200, {"problem": "no key"}),
}


@contextmanager
def server(answers: Mapping[str, Answer], begin: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            begin(self.path)
            status, body = answers.get(self.path, (400, "Invalid path"))
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_address[1]}/"
        finally:
            made.shutdown()
            thread.join()


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False) as client:
        yield client


def test_all_that_a_server_tells(http: httpx.Client) -> None:
    with server(HEALTHY) as url:
        found = ask(http, NodeKind.OBJECT, url, 30.0)
        assert (found.away, found.late, found.wrong, found.recon) == ("", "", "", True)
        assert (found.disks, found.quarantined, found.pending, found.replicated_s) == ((Disk("d1", 0.3),), 1, 4, 7.5)
        assert found.filters == "no key"
        assert 0 < found.took_s < 30
        account = ask(http, NodeKind.ACCOUNT, url, 30.0)
        assert (account.quarantined, account.pending, account.replicated_s) == (3, None, None)
        assert not ask(http, NodeKind.PROXY, url, 30.0).recon


@pytest.mark.parametrize(
    ("info", "unsigned", "hidden"),
    [
        ((200, {"swift": {}, "s3api": {}}), True, True),
        ((200, {"swift": {}, "s3api": {}, "zoe_s3_signed": {}, "zoe_framing": {}}), False, False),
        ((200, {"swift": {}}), False, True),
        ((200, {"other": {}}), False, False),
        ((403, {"s3api": {}}), False, False),
        ((200, ["s3api"]), False, False),
        ((200, "no JSON"), False, False),
    ],
)
def test_a_proxy_without_the_filters_of_signatures_and_of_framing(
    http: httpx.Client, info: Answer, unsigned: bool, hidden: bool
) -> None:
    with server({"/healthcheck": (200, "OK"), "/info": info}) as url:
        found = ask(http, NodeKind.PROXY, url, 30.0)
    assert (found.unsigned_s3, found.two_readings, found.wrong, found.away) == (unsigned, hidden, "", "")


def test_a_server_without_recon_or_health_check_is_there(http: httpx.Client) -> None:
    with server({}) as url:
        found = ask(http, NodeKind.OBJECT, url, 30.0)
    assert (found.away, found.wrong, found.recon, found.disks) == ("", "", False, ())


@pytest.mark.parametrize(
    ("path", "answer", "sentence"),
    [
        ("/healthcheck", (503, "DISABLED BY FILE"), "it answers 503 to /healthcheck: DISABLED BY FILE"),
        ("/recon/diskusage", (500, "no"), "it answers 500 to /recon/diskusage"),
        ("/recon/diskusage", (200, {"a": 1}), "its answer to /recon/diskusage is invalid"),
        ("/recon/diskusage", (200, [[]]), "its answer to /recon/diskusage is invalid"),
        ("/recon/quarantined", (200, "nonsense"), "its answer to /recon/quarantined is invalid"),
        ("/recon/quarantined", (200, {"objects": None}), "its answer to /recon/quarantined is invalid"),
        ("/recon/async", (200, "x" * (2 << 20)), "/recon/async: it answers with too many bytes"),
        ("/recon/async", (200, "[" * 100_000), "its answer to /recon/async is invalid"),
        ("/recon/replication/object", (404, ""), "it answers 404 to /recon/replication/object"),
    ],
)
def test_odd_answers_have_a_sentence(http: httpx.Client, path: str, answer: Answer, sentence: str) -> None:
    with server({**HEALTHY, path: answer}) as url:
        assert ask(http, NodeKind.OBJECT, url, 30.0).wrong == sentence


def test_a_disk_that_is_not_mounted_has_no_size(http: httpx.Client) -> None:
    odd = [{"device": "d1", "mounted": False, "size": "", "used": "", "avail": ""}]
    odd.append({**odd[0], "device": "d2", "mounted": "[Errno 5] Input/output error"})
    with server({**HEALTHY, "/recon/diskusage": (200, odd)}) as url:
        assert ask(http, NodeKind.OBJECT, url, 30.0).disks == (Disk("d1", None), Disk("d2", None))


def test_refused_connection_is_reported(http: httpx.Client) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        assert ask(http, NodeKind.PROXY, url, 30.0).away == "connection refused"
    assert ask(http, NodeKind.PROXY, "http://[::1", 30.0).away.startswith("invalid")


def test_a_server_that_hangs_costs_its_time_and_no_more(http: httpx.Client) -> None:
    go_on = threading.Event()

    def hang(path: str) -> None:
        if path == "/recon/quarantined":
            go_on.wait(60)

    with server(HEALTHY, hang) as url:
        began_s = time.monotonic()
        found = ask(http, NodeKind.OBJECT, url, 1.5)
        took_s = time.monotonic() - began_s
        go_on.set()
    assert (found.late, found.disks) == ("/recon/quarantined", (Disk("d1", 0.3),))
    assert took_s < 10


def test_one_that_sends_a_byte_now_and_then_is_late(http: httpx.Client) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        done = threading.Event()

        def dribble() -> None:
            line, _ = listening.accept()
            with line:
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                while not done.wait(0.1):
                    try:
                        line.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=dribble)
        thread.start()
        found = ask(http, NodeKind.PROXY, f"http://127.0.0.1:{listening.getsockname()[1]}", 1.0)
        done.set()
        thread.join()
    assert found.away == "no answer within 1 s"
