"""Two storage controllers with one database: one leads, and the other one takes over when it dies or hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
import tomli_w
import zmq

from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.model import BandwidthSlo
from storage_bridge.zoe_controller import ZoeController
from tests.support.installation import REPOSITORY
from tests.support.waiting import until
from zoe_embedded.processes.ports import HeldPorts

LEASE_S = 2.0
TOKEN = "a-token"
MB = 10**6


@dataclass
class Controller:
    """One program, and its settings."""

    name: str
    directory: Path
    url: str
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ZOE_")}
        environment["ZOE_SDS_CONFIG"] = str(self.directory / f"{self.name}.toml")
        with (self.directory / f"{self.name}.log").open("ab") as log:
            words = [sys.executable, "-m", "storage_controller"]
            self.process = subprocess.Popen(words, env=environment, stdout=log, stderr=log, cwd=REPOSITORY)

    def send(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def end(self, number: int) -> None:
        self.send(signal.SIGCONT)
        self.send(number)
        assert self.process is not None
        self.process.wait(30)

    @property
    def role(self) -> str:
        try:
            return str(httpx.get(f"{self.url}/health", trust_env=False, timeout=2).json()["role"])
        except (httpx.HTTPError, ValueError, KeyError):
            return "away"

    def log(self) -> str:
        return (self.directory / f"{self.name}.log").read_text()


@pytest.fixture
def controllers(postgres_url: str, tmp_path: Path) -> Iterator[list[Controller]]:
    server, proxy = zmq.curve_keypair(), zmq.curve_keypair()
    (tmp_path / "keys").write_bytes(b"\n".join((*server, proxy[0])))
    (tmp_path / "token").write_text(TOKEN)
    made = []
    held = HeldPorts(2)
    for name, port in zip(("first", "second"), held.numbers, strict=True):
        settings = {
            "database_url": postgres_url,
            "name": name,
            "port": port,
            "token_file": str(tmp_path / "token"),
            "key_file": str(tmp_path / "keys"),
            "limits_endpoint": f"ipc://{tmp_path}/{name}.limits",
            "usage_endpoint": f"ipc://{tmp_path}/{name}.usage",
            "read_bytes_per_s": 100 * MB,
            "write_bytes_per_s": 100 * MB,
            "proxies": {"p1": 100 * MB},
            "lead_lease_s": LEASE_S,
        }
        (tmp_path / f"{name}.toml").write_text(tomli_w.dumps(settings))
        made.append(Controller(name, tmp_path, f"http://127.0.0.1:{port}"))
    with ExitStack() as exits:
        exits.callback(held.close)
        for controller in made:
            controller.start()
            exits.callback(controller.end, signal.SIGKILL)
        until(
            lambda: sorted(controller.role for controller in made) == ["leader", "standby"],
            lambda: [controller.log() for controller in made],
        )
        yield sorted(made, key=lambda controller: controller.role)


def bridge(controllers: list[Controller]) -> ZoeController:
    urls = ",".join(controller.url for controller in controllers)
    settings = ControllerSettings(urls, TOKEN, "zoe", timeout_s=1.0, failures_max=1000)
    return ZoeController(ControllerHttp(settings), settings)


def test_a_leader_that_dies_is_replaced_and_the_promises_stay(controllers: list[Controller]) -> None:
    leading, standby = controllers
    for order in (controllers, controllers[::-1]):
        bridge(order).set_slo("acme", BandwidthSlo(8 * MB))
    leading.end(signal.SIGKILL)
    until(lambda: standby.role == "leader", standby.log)
    for order in (controllers, controllers[::-1]):
        assert bridge(order).slos() == {"acme": BandwidthSlo(8 * MB)}
    leading.start()
    until(lambda: leading.role == "standby", leading.log)
    assert standby.role == "leader"


def test_a_leader_that_hangs_is_replaced_and_changes_nothing_when_it_wakes_up(controllers: list[Controller]) -> None:
    leading, standby = controllers
    line = bridge(controllers)
    line.set_slo("acme", BandwidthSlo(8 * MB))
    leading.send(signal.SIGSTOP)
    asked = start_request(leading.url)
    until(lambda: standby.role == "leader", standby.log)
    line.clear_slo("acme")
    leading.send(signal.SIGCONT)
    assert asked() == 503
    until(lambda: leading.role == "standby", leading.log)
    assert line.slos() == {}
    assert standby.role == "leader"


def start_request(url: str) -> Callable[[], int]:
    """Send a change to a paused controller; return a function that waits for the status of the response."""
    pool = ThreadPoolExecutor(1)
    body = {"read_bytes_per_s": MB, "write_bytes_per_s": None, "lease_s": 60.0}
    headers = {"X-Auth-Token": TOKEN}
    change = partial(httpx.put, json=body, headers=headers, trust_env=False, timeout=60)
    asked = pool.submit(change, f"{url}/v1/owners/zoe/slos/acme")
    time.sleep(0.2)
    return lambda: asked.result().status_code


def test_one_that_ends_gives_the_lead_away_and_one_that_begins_again_alone_leads_at_once(
    controllers: list[Controller],
) -> None:
    leading, standby = controllers
    leading.end(signal.SIGTERM)
    until(lambda: standby.role == "leader", standby.log)
    standby.end(signal.SIGKILL)
    standby.start()
    until(lambda: standby.role != "away", standby.log)
    assert standby.role == "leader"
