"""The readiness process of a container, here as a process of this machine."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from zoe_lib.domain.applications.application import Probe, ProbeKind
from zoe_master.backends.engine.daemon.readiness import waiting_command

_PATIENCE_S = 60.0


@contextlib.contextmanager
def waiting(kind: ProbeKind, port: int, host: str = "127.0.0.1") -> Iterator[subprocess.Popen[bytes]]:
    command = waiting_command(Probe(kind, "p", "/", 0.05, 60.0), port, host)
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_it_ends_when_somebody_listens_and_not_before(family: socket.AddressFamily, host: str) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError as error:
            pytest.skip(f"no {family.name} here: {error}")
        with waiting(ProbeKind.TCP, server.getsockname()[1]) as process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            server.listen()
            assert process.wait(_PATIENCE_S) == 0


def test_a_connection_to_that_port_elsewhere_is_nobody_that_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), server.accept()[0]:
            server.close()
            with waiting(ProbeKind.TCP, port) as process, pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)


class _Answer(BaseHTTPRequestHandler):
    status = 503

    def do_GET(self) -> None:
        self.send_response(type(self).status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_http_needs_an_answer_that_is_no_failure() -> None:
    server = HTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with waiting(ProbeKind.HTTP, server.server_address[1]) as process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            _Answer.status = 200
            assert process.wait(_PATIENCE_S) == 0
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
