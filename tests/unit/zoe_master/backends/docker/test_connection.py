"""An engine that cannot be used is refused in one sentence, before anything begins."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from threading import Thread
from typing import Any

import pytest

from tests.local.support import needs_root
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, BackendUnavailable
from zoe_master.backends.docker.connection import check_engine, examine_engine, open_engine, read_host, unheld_limits
from zoe_master.backends.docker.finding import DEFAULT_URL, PODMAN, PODMAN_OF_ROOT, EngineAddress, find_engine


class OldEngine(ThreadingUnixStreamServer):
    """Answers as an engine of this version of the API does."""

    version = "1.40"
    headers: Mapping[str, str] = {}
    says: Mapping[str, object] = {}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, OldEngine)
        told: Any = {"ApiVersion": self.server.version, "Version": "19.03"}
        if self.path.endswith("/info"):
            told = {"Name": "n1", "NCPU": 2, "MemTotal": 2**30, "Labels": ["disk=ssd", "fast"], **self.server.says}
        raw = json.dumps(told).encode()
        self.send_response(200)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
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
    assert find_engine("unix:///a", environment={"DOCKER_HOST": "unix:///b"}).url == "unix:///a"
    assert find_engine("", environment={"DOCKER_HOST": "unix:///b", "CONTAINER_HOST": "unix:///c"}).url == "unix:///b"
    assert find_engine("", environment={}) == EngineAddress(DEFAULT_URL)


def test_podman_is_found_at_its_own_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    both = {"DOCKER_HOST": "unix:///b", "CONTAINER_HOST": "unix:///c"}
    assert find_engine("", PODMAN, both) == EngineAddress("unix:///c", PODMAN, "CONTAINER_HOST")
    assert find_engine("", PODMAN, {"DOCKER_HOST": "unix:///b"}).url == "unix:///b"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert find_engine("", PODMAN, {}).url == PODMAN_OF_ROOT
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert find_engine("", PODMAN, {}).url == "unix:///run/user/1000/podman/podman.sock"
    assert find_engine("", PODMAN, {"XDG_RUNTIME_DIR": "/x"}).url == "unix:///x/podman/podman.sock"


def test_the_command_that_starts_podman_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    address = find_engine("", PODMAN, {"XDG_RUNTIME_DIR": str(tmp_path)})
    with pytest.raises(BackendUnavailable, match=r"`systemctl --user start podman.socket` or `podman system service "):
        check_engine(address)


def test_limits_that_the_engine_ignores_are_known() -> None:
    said = {"CpuCfsQuota": True, "MemoryLimit": True, "PidsLimit": True}
    assert unheld_limits(said, None) == ()
    assert unheld_limits(said, ["memory", "pids"]) == ("cores",)
    assert unheld_limits({**said, "MemoryLimit": False}, None) == ("memory",)
    assert unheld_limits(said, []) == ("cores", "memory", "processes")


@pytest.mark.parametrize("url", ["tcp://10.0.0.1:2376", "ssh://me@host"])
def test_an_engine_of_another_machine_is_refused(url: str) -> None:
    with pytest.raises(
        BackendError,
        match=rf"{url}, which DOCKER_HOST names is not a Unix socket: set engine_url .* the back-end swarm",
    ):
        find_engine("", environment={"DOCKER_HOST": url})


def test_a_context_that_does_not_exist_is_named() -> None:
    with pytest.raises(BackendError, match="no context work"):
        find_engine("", environment={"DOCKER_CONTEXT": "work"})


def test_no_engine_at_the_socket_is_told_with_the_way_on(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(
        BackendUnavailable, match=rf"{gone} \(No such file or directory\): start it, or name its socket"
    ):
        check_engine(EngineAddress(f"unix://{gone}"))
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(gone))
    with pytest.raises(BackendUnavailable, match="Connection refused"):
        check_engine(EngineAddress(f"unix://{gone}"))


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
                check_engine(EngineAddress(f"unix://{path}"))
        finally:
            os.seteuid(0)


def test_an_engine_that_is_too_old_is_refused(engine: OldEngine, tmp_path: Path) -> None:
    url = EngineAddress(f"unix://{tmp_path / 'sock'}")
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


def test_an_engine_that_hangs_is_named_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoe_master.backends.docker.connection._ANSWER_S", 0.1)
    path = tmp_path / "sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        with pytest.raises(BackendUnavailable, match=r"\(no answer within 0.1 s\), which DOCKER_HOST names: start"):
            check_engine(find_engine("", environment={"DOCKER_HOST": f"unix://{path}"}))


def test_another_engine_than_podman_is_refused(engine: OldEngine, tmp_path: Path) -> None:
    engine.version, url = "1.41", f"unix://{tmp_path / 'sock'}"
    with pytest.raises(BackendError, match="is not Podman: use the back-end docker"):
        examine_engine(EngineAddress(url, PODMAN))
    engine.headers = {"Libpod-API-Version": "4.3.1"}
    assert examine_engine(EngineAddress(url, PODMAN)).podman


def test_an_engine_without_root_is_for_its_own_user(
    engine: OldEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.version, engine.says = "1.41", {"SecurityOptions": ["name=rootless"], "PidsLimit": False}
    address = EngineAddress(f"unix://{tmp_path / 'sock'}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    host = examine_engine(address)
    assert host.why_unheld == "the engine does not hold limits of processes without root on this machine"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(BackendError, match="runs without root, and Zoe as root: run Zoe as the engine's user"):
        examine_engine(address)
