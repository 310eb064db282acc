"""The local back-end beside a real object store: its controller is killed and paused, its proxy killed and paused."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.model import BandwidthSlo, StorageUnavailableError
from tests.chaos.applications import SERVICE, Store
from tests.chaos.local_world import LocalWorld
from tests.chaos.world import After, Blow
from tests.support.installation import TENANT, Installation
from tests.support.object_store import ADMIN, logged_in, object_store
from tests.support.whole_storage import MB, TOKEN
from zoe_embedded.home import Account
from zoe_embedded.swift.configuration import REGION, ControllerLine, StoreUser
from zoe_embedded.swift.controller import ControllerSite
from zoe_embedded.swift.store import ObjectStore, StoreError

# Room for all, so that no execution waits for bandwidth for longer than a bound.
CAPACITY = 10_000 * MB
CONTROLLERS = 2
_USER = StoreUser(TENANT, "root", "root-key")
_LEASE_S = 20.0
_PAUSED_S = (0.2, 8.0)
_AWAY_S = (0.0, 3.0)
_ROWS = "".join(f"{n},Nice,{n % 100}\n" for n in range(5000))


class StorageWorld(LocalWorld):
    """Executions ask for bandwidth and for inputs; at rest the controller has no SLO and no view, the store no view."""

    stores: Sequence[Store] = (Store.NONE, Store.REQUIRED, Store.PREFERRED, Store.INPUT)

    def __init__(self, small_disk: bool) -> None:
        super().__init__(small_disk)
        self._undo = ExitStack()
        sites: list[ControllerSite] = []

        def line(apart: Path, account: Account | None) -> ControllerLine:
            sites.append(ControllerSite(apart, TOKEN, account, CONTROLLERS))
            return sites[0].line

        self._store: ObjectStore = self._undo.enter_context(
            object_store(users=(ADMIN, _USER), nodes=1, replicas=1, controller=line)
        )
        [self._site] = sites
        self._undo.callback(self._site.close)
        self._controllers: list[subprocess.Popen[bytes]] = []
        self.settings: Mapping[str, Any] = {
            **LocalWorld.settings,
            "storage_url": self._site.url,
            "storage_token_file": str(self._site.token_file),
            "storage_interval_s": 0.5,
            "storage_timeout_s": 1.0,
            "storage_view_timeout_s": 5.0,
            "storage_lease_s": _LEASE_S,
            "storage_services": {SERVICE: {"url": self._store.auth_url, "region": REGION}},
        }

    def begin(self, installation: Installation) -> None:
        """Start the controller, and store what executions read."""
        super().begin(installation)
        url = installation.database_url.replace("postgresql+psycopg2:", "postgresql:")
        self._site.configure(self._store, ADMIN, url, BandwidthSlo(CAPACITY, CAPACITY))
        self._controllers = [self._site.start(number) for number in range(CONTROLLERS)]
        self._wait()
        with logged_in(self._store, _USER.login) as person:
            person.put("meters")
            person.put("meters/2015/a.csv", f"id,city,kwh\n{_ROWS}".encode())

    def credential(self) -> Mapping[str, str]:
        """Return what the tenant signs in with."""
        return {"user": _USER.login, "key": _USER.key}

    def blows(self, chance: random.Random, after: After) -> Mapping[str, Blow]:
        """Return those of the controller and of Swift's proxy beside those of the back-end."""

        def kill_controller() -> bool:
            number = chance.randrange(CONTROLLERS)
            process = self._controllers[number]
            if process.poll() is not None:
                return False
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
            after(chance.uniform(*_AWAY_S), partial(self._start, number))
            return True

        def pause_controller() -> bool:
            process = chance.choice(self._controllers)
            if process.poll() is not None:
                return False
            process.send_signal(signal.SIGSTOP)
            after(chance.uniform(*_PAUSED_S), partial(process.send_signal, signal.SIGCONT))
            return True

        def kill_proxy() -> bool:
            if self._store.ended_server() is not None:
                return False
            self._store.signal("proxy", signal.SIGKILL)
            after(chance.uniform(*_AWAY_S), self._restart_proxy)
            return True

        def pause_proxy() -> bool:
            if self._store.ended_server() is not None:
                return False
            self._store.signal("proxy", signal.SIGSTOP)
            after(chance.uniform(*_PAUSED_S), partial(self._store.signal, "proxy", signal.SIGCONT))
            return True

        return {
            **super().blows(chance, after),
            "controller killed": Blow(3, kill_controller),
            "controller paused": Blow(2, pause_controller),
            "Swift proxy killed": Blow(2, kill_proxy),
            "Swift proxy paused": Blow(1, pause_proxy),
        }

    def mend(self) -> None:
        """Let controller and proxy run."""
        super().mend()
        for number in range(CONTROLLERS):
            self._start(number)
            self._controllers[number].send_signal(signal.SIGCONT)
        self._store.signal("proxy", signal.SIGCONT)
        if self._store.ended_server() is not None:
            self._restart_proxy()
        self._wait()

    def left(self) -> list[str]:
        """Return also SLOs, views and their containers."""
        return [*super().left(), *self._left_in_store()]

    def programs(self) -> Mapping[str, int]:
        """Return also the pids of the controllers."""
        return {f"controller {number}": process.pid for number, process in enumerate(self._controllers)}

    def close(self) -> None:
        """End controller and store."""
        super().close()
        for process in self._controllers:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        with suppress(ProcessLookupError):
            self._store.signal("proxy", signal.SIGCONT)
        self._undo.close()

    def _left_in_store(self) -> list[str]:
        try:
            bridge = ControllerHttp(ControllerSettings(self._site.url, TOKEN, "zoe", timeout_s=10.0))
            slos, views = (bridge.ask("GET", f"/v1/owners/zoe/{what}") for what in ("slos", "views"))
            with logged_in(self._store, _USER.login) as person:
                containers = [str(entry["name"]) for entry in person.call("GET", "?format=json").json()]
        except (StorageUnavailableError, httpx.HTTPError, AssertionError, ValueError) as error:
            return [f"no answer about SLOs and views: {error!r}"]
        found = [f"SLO of {tenant}" for tenant in slos] + [f"view {view['id']}" for view in views]
        return found + [f"container {name}" for name in containers if name.startswith("zoe-view-")]

    def _start(self, number: int) -> None:
        if self._controllers[number].poll() is not None:
            self._controllers[number] = self._site.start(number)

    def _wait(self) -> None:
        for number, process in enumerate(self._controllers):
            self._site.wait_until_up(process, number)

    def _restart_proxy(self) -> None:
        until_s = time.monotonic() + 60
        while True:
            try:
                self._store.restart("proxy")
                return
            except StoreError:
                if time.monotonic() > until_s:
                    raise
