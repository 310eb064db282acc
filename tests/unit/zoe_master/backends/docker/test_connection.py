"""An engine that cannot be used is refused in one sentence, before anything begins."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from threading import Thread
from typing import Any

import pytest

from tests.local.support import needs_root
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, BackendUnavailable
from zoe_master.backends.docker.connection import DEFAULT_URL, check_engine, engine_url, open_engine, read_host


class OldEngine(ThreadingUnixStreamServer):
    """Answers as an engine of this version of the API does."""

    version = "1.40"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, OldEngine)
        told: Any = {"ApiVersion": self.server.version, "Version": "19.03"}
        if self.path.endswith("/info"):
            told = {"Name": "n1", "NCPU": 2, "MemTotal": 2**30, "Labels": ["disk=ssd", "fast"]}
        raw = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[OldEngine]:
    with OldEngine(str(tmp_path / "sock"), _Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), name="old-engine").start()
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def no_context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.delenv("DOCKER_CONTEXT", raising=False)


def test_the_engine_is_chosen_as_by_dockers_own_client() -> None:
    assert engine_url("unix:///a", {"DOCKER_HOST": "unix:///b"}) == "unix:///a"
    assert engine_url("", {"DOCKER_HOST": "unix:///b"}) == "unix:///b"
    assert engine_url("", {}) == DEFAULT_URL


@pytest.mark.parametrize("url", ["tcp://10.0.0.1:2376", "ssh://me@host"])
def test_an_engine_of_another_machine_is_refused(url: str) -> None:
    with pytest.raises(BackendError, match=rf"{url} is not a Unix socket: set engine_url .* or use the back-end swarm"):
        engine_url("", {"DOCKER_HOST": url})


def test_a_context_that_does_not_exist_is_named() -> None:
    with pytest.raises(BackendError, match="no context work"):
        engine_url("", {"DOCKER_CONTEXT": "work"})


def test_no_engine_at_the_socket_is_told_with_the_way_on(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(
        BackendUnavailable, match=rf"{gone} \(No such file or directory\): start it, or name its socket"
    ):
        check_engine(f"unix://{gone}")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(gone))
    with pytest.raises(BackendUnavailable, match="Connection refused"):
        check_engine(f"unix://{gone}")


@needs_root
def test_missing_rights_are_told_with_the_way_on(tmp_path: Path) -> None:
    path = tmp_path / "sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        path.chmod(0o600)
        tmp_path.chmod(0o711)
        for parent in list(tmp_path.parents)[:2]:
            parent.chmod(parent.stat().st_mode | 0o011)
        os.seteuid(65534)
        try:
            with pytest.raises(BackendError, match=r"may not use the engine at .*: join the group of this socket"):
                check_engine(f"unix://{path}")
        finally:
            os.seteuid(0)


def test_an_engine_that_is_too_old_is_refused(engine: OldEngine, tmp_path: Path) -> None:
    url = f"unix://{tmp_path / 'sock'}"
    with pytest.raises(BackendError, match=r"version 19.03, does not speak version 1.41 .* 20.10 or later"):
        open_engine(url)
    engine.version = "1.41"
    opened = open_engine(url)
    try:
        host = read_host(opened)
        assert (host.name, host.total) == ("n1", Resources(2000, 2**30))
        assert host.labels == {"disk": "ssd", "fast": "true"}
    finally:
        opened.close()
