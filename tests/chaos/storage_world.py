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

from storage_bridge.model import BandwidthSlo
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

CAPACITY = 12 * MB
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
            sites.append(ControllerSite(apart, TOKEN, account))
            return sites[0].line

        self._store: ObjectStore = self._undo.enter_context(
            object_store(users=(ADMIN, _USER), nodes=1, replicas=1, controller=line)
        )
        [self._site] = sites
        self._undo.callback(self._site.close)
        self._controller: subprocess.Popen[bytes] | None = None
        self.settings: Mapping[str, Any] = {
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
        self._start()
        assert self._controller is not None
        self._site.wait_until_up(self._controller)
        with logged_in(self._store, _USER.login) as person:
            person.put("meters")
            person.put("meters/2015/a.csv", f"id,city,kwh\n{_ROWS}".encode())

    def credential(self) -> Mapping[str, str]:
        """Return what the tenant signs in with."""
        return {"user": _USER.login, "key": _USER.key}

    def blows(self, chance: random.Random, after: After) -> Mapping[str, Blow]:
        """Return those of the controller and of Swift's proxy beside those of the back-end."""

        def kill_controller() -> bool:
            process = self._controller
            if process is None or process.poll() is not None:
                return False
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
            after(chance.uniform(*_AWAY_S), self._start)
            return True

        def pause_controller() -> bool:
            process = self._controller
            if process is None or process.poll() is not None:
                return False
            process.send_signal(signal.SIGSTOP)
            after(chance.uniform(*_PAUSED_S), partial(process.send_signal, signal.SIGCONT))
            return True

        def kill_proxy() -> bool:
            if self._store.ended() is not None:
                return False
            self._store.signal("proxy", signal.SIGKILL)
            after(chance.uniform(*_AWAY_S), self._restart_proxy)
            return True

        def pause_proxy() -> bool:
            if self._store.ended() is not None:
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
        if self._controller is None or self._controller.poll() is not None:
            self._start()
        assert self._controller is not None
        self._controller.send_signal(signal.SIGCONT)
        self._store.signal("proxy", signal.SIGCONT)
        if self._store.ended() is not None:
            self._restart_proxy()
        self._site.wait_until_up(self._controller)

    def left(self) -> list[str]:
        """Return also SLOs, views and their containers."""
        return [*super().left(), *self._left_in_store()]

    def programs(self) -> Mapping[str, int]:
        """Return also the pid of the controller."""
        return {"controller": self._controller.pid} if self._controller is not None else {}

    def close(self) -> None:
        """End controller and store."""
        super().close()
        if self._controller is not None and self._controller.poll() is None:
            self._controller.send_signal(signal.SIGCONT)
            self._controller.kill()
            self._controller.wait()
        with suppress(ProcessLookupError):
            self._store.signal("proxy", signal.SIGCONT)
        self._undo.close()

    def _left_in_store(self) -> list[str]:
        try:
            with httpx.Client(
                base_url=self._site.url, headers={"X-Auth-Token": TOKEN}, trust_env=False, timeout=10
            ) as http:
                slos = http.get("/v1/owners/zoe/slos").json()
                views = http.get("/v1/owners/zoe/views").json()
            with logged_in(self._store, _USER.login) as person:
                containers = [str(one["name"]) for one in person.call("GET", "?format=json").json()]
        except (httpx.HTTPError, AssertionError, ValueError) as error:
            return [f"no answer about SLOs and views: {error!r}"]
        found = [f"SLO of {tenant}" for tenant in slos] + [f"view {one['id']}" for one in views]
        return found + [f"container {name}" for name in containers if name.startswith("zoe-view-")]

    def _start(self) -> None:
        if self._controller is None or self._controller.poll() is not None:
            self._controller = self._site.start()

    def _restart_proxy(self) -> None:
        until_s = time.monotonic() + 60
        while True:
            try:
                self._store.restart("proxy")
                return
            except StoreError:
                if time.monotonic() > until_s:
                    raise
