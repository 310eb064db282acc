"""The storage controller `zoe-storage` as a process on loopback, connected with the proxy of an object store."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import tomli_w
import zmq

from storage_bridge.model import BandwidthSlo
from zoe_client.http.tls import verification
from zoe_embedded.home import Account, write_private
from zoe_embedded.processes.children import end_with_parent
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.swift.configuration import ControllerLine, StoreUser
from zoe_embedded.swift.store import ObjectStore, StoreError

_READY_WITHIN_S = 180.0  # a busy machine needs a minute
_STOP_WITHIN_S = 20.0
_LOOK_S = 0.1
_LEADER = "leader"
_STORY_CHARACTERS = 2000
_SETTINGS = "zoe-storage-{}.toml"
CONFIG_VARIABLE = "ZOE_SDS_CONFIG"


@dataclass(frozen=True, slots=True)
class _Place:
    """The ports of one controller."""

    web: int
    limits: int
    usage: int


def _endpoint(port: int) -> str:
    return f"tcp://127.0.0.1:{port}"


class ControllerSite:
    """Keys, a token and ports of controllers, in a directory; created before the store, since its proxy needs the
    endpoints. Close it.

    With several `controllers`, one leads and the others stand by.
    """

    def __init__(self, directory: Path, token: str, store_account: Account | None, controllers: int = 1) -> None:
        self._directory = directory
        self._server, proxy = zmq.curve_keypair(), zmq.curve_keypair()
        self._proxy = proxy[0]
        self._served: subprocess.Popen[bytes] | None = None
        self._ports = HeldPorts(3 * controllers)
        self._places = [_Place(*self._ports.numbers[3 * number : 3 * number + 3]) for number in range(controllers)]
        keys = directory / "proxy.keys"
        keys.unlink(missing_ok=True)
        write_private(keys, b"\n".join((self._server[0], *proxy)).decode())
        if store_account is not None:
            os.chown(keys, store_account.uid, store_account.gid)
        limits = ",".join(_endpoint(place.limits) for place in self._places)
        usages = ",".join(_endpoint(place.usage) for place in self._places)
        self.line = ControllerLine(limits, usages, str(keys))
        self.executions_secret = self._private("executions.secret", secrets.token_hex(32))
        if store_account is not None:
            os.chown(self.executions_secret, store_account.uid, store_account.gid)
        self.token = token
        self.further: dict[str, object] = {}
        """Settings beside the ones derived from the store; set them before `configure`."""
        self.restart_command: Callable[[str], list[str]] = lambda _: []
        """Returns the command that restarts a server of the store; set it before `configure`."""
        self.token_file = self._private("token", token)
        self.urls = [f"http://127.0.0.1:{place.web}" for place in self._places]
        self.url = ",".join(self.urls)

    def close(self) -> None:
        """Release the ports."""
        self._ports.close()

    @property
    def log(self) -> Path:
        """Return its log."""
        return self._directory / "zoe-storage.log"

    def configure(self, store: ObjectStore, admin: StoreUser, database_url: str, rates: BandwidthSlo) -> None:
        """Write the settings: these bytes per second to guarantee and through the proxy."""
        read, write = rates.read_bytes_per_s or 0, rates.write_bytes_per_s or 0
        settings = {
            "database_url": database_url,
            "token_file": str(self.token_file),
            "key_file": str(self._private("server.keys", b"\n".join((*self._server, self._proxy)).decode())),
            "read_bytes_per_s": read,
            "write_bytes_per_s": write,
            "proxies": dict.fromkeys(store.configuration.proxy_names, max(read, write)),
            "proxies_spare": store.configuration.proxies - 1,
            **self._for_executions(store),
            **_at_nodes(store, max(read, write)),
            "swift_auth_url": store.auth_url,
            "swift_user": admin.login,
            "swift_key_file": str(self._private("swift.key", admin.key)),
            "swift_nodes": {
                name: {"kind": kind, "url": url, "restart": self.restart_command(name)}
                for name, (kind, url) in store.servers.items()
            },
            **self.further,
        }
        for number, place in enumerate(self._places):
            own = {
                "port": place.web,
                "limits_endpoint": _endpoint(place.limits),
                "usage_endpoint": _endpoint(place.usage),
            }
            self._private(_SETTINGS.format(number), tomli_w.dumps({**settings, **own}))

    def start(self, number: int = 0) -> subprocess.Popen[bytes]:
        """Start a configured controller; the tables must exist."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ZOE_")}
        environment[CONFIG_VARIABLE] = str(self._directory / _SETTINGS.format(number))
        return self._spawn(environment)

    def revive(self) -> list[str]:
        """Start the controller of `serve` again if it has ended by itself; return a sentence then."""
        if self._served is None or (code := self._served.poll()) is None:
            return []
        self._served = self.start()
        return [f"zoe-storage had ended with {code} and was restarted; see {self.log}"]

    def _spawn(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with log_to(self.log) as log:
            command = [sys.executable, "-m", "storage_controller"]
            return subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - it takes no lock
            )

    @contextmanager
    def serve(self, store: ObjectStore, admin: StoreUser, database_url: str, rates: BandwidthSlo) -> Iterator[str]:
        """Configure and run the controller; yield its URL."""
        self.configure(store, admin, database_url, rates)
        self._served = self.start()
        try:
            self.wait_until_up(self._served, leading=True)
            yield self.url
        finally:
            process, self._served = self._served, None
            process.terminate()
            try:
                process.wait(_STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _for_executions(self, store: ObjectStore) -> dict[str, str]:
        """Return the setting for credentials of executions, if the store accepts them."""
        secret = store.configuration.executions_secret
        return {"executions_secret_file": secret} if secret else {}

    def _private(self, name: str, text: str) -> Path:
        path = self._directory / name
        path.unlink(missing_ok=True)
        write_private(path, text)
        return path

    def wait_until_up(self, process: subprocess.Popen[bytes], number: int = 0, leading: bool = False) -> None:
        """Return when it answers, or when it leads, since a standby refuses all else. Raises StoreError otherwise."""
        give_up_s, url = time.monotonic() + _READY_WITHIN_S, self.urls[number]
        with httpx.Client(base_url=url, trust_env=False, verify=verification(url)) as http:
            while process.poll() is None and time.monotonic() < give_up_s:
                try:
                    answer = http.get("/health")
                    if answer.is_success and (not leading or answer.json()["role"] == _LEADER):
                        return
                except httpx.TransportError:
                    pass
                time.sleep(_LOOK_S)
        story = self.log.read_text(errors="replace")[-_STORY_CHARACTERS:]
        raise StoreError(f"the storage controller does not start (exit code {process.poll()}); {self.log}:\n{story}")


def _at_nodes(store: ObjectStore, rate: int) -> dict[str, object]:
    """Return the settings that make the object servers enforce bandwidth, if configured: each moves so much."""
    configuration = store.configuration
    if not configuration.bandwidth_at_nodes:
        return {}
    names = (name for name, (kind, _) in store.servers.items() if kind == "object")
    return {"bandwidth_nodes": dict.fromkeys(names, rate), "bandwidth_replicas": configuration.replicas}
