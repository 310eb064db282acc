"""An object store, with a storage controller or a connection of the benchmark; removed afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.support import temporary_home
from storage_bridge.connect import connect
from storage_bridge.http import ControllerSettings
from storage_bridge.model import BandwidthSlo
from storage_bridge.zoe_controller import ZoeController
from tests.support.object_store import Person, logged_in
from zoe_embedded.home import Home
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.configuration import StoreConfiguration, StoreUser
from zoe_embedded.swift.controller import ControllerSite
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.store.postgres.migrate import upgrade

TENANTS = ("gold", "silver", "bronze")
ADMIN = StoreUser("controller", "controller", "controller-key", (".admin", ".reseller_admin"))
USERS = (ADMIN, *(StoreUser(tenant, tenant, f"{tenant}-key") for tenant in TENANTS))
OWNER = "bench"
_LEASE_S = 3600.0


@contextmanager
def bare_store(**changes: Any) -> Iterator[ObjectStore]:
    """Yield a store alone, with the environments of this clone's home and its data elsewhere."""
    home = Home.find(CLONE).create()
    account = home.server_account
    with tempfile.TemporaryDirectory(prefix="zoe-bench-") as apart:
        Path(apart).chmod(0o711)
        configuration = StoreConfiguration(USERS, run_as=account.name if account else None, **changes)
        with ObjectStore(home, Path(apart) / "swift", configuration) as store:
            yield store


@dataclass
class Stand:
    """A store whose proxy uses `site`, and a database for a controller."""

    store: ObjectStore
    site: ControllerSite
    database_url: str
    people: dict[str, Person] = field(default_factory=dict)

    @contextmanager
    def controller(self, rates: BandwidthSlo) -> Iterator[ZoeController]:
        """Run a controller with this much bandwidth to guarantee."""
        with self.site.serve(self.store, ADMIN, self.database_url, rates) as url:
            found = connect(ControllerSettings(url, self.site.token, OWNER, timeout_s=30, lease_s=_LEASE_S))
            assert isinstance(found, ZoeController)
            yield found


@contextmanager
def stand(**changes: Any) -> Iterator[Stand]:
    """Start everything but the controller, and sign in all users."""
    with ExitStack() as undo:
        home = undo.enter_context(temporary_home())
        postgres = EmbeddedPostgres(home)
        undo.callback(postgres.stop)
        url = postgres.start()
        upgrade(url)
        apart = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="zoe-bench-")))
        apart.chmod(0o711)
        account = Home.find(CLONE).server_account
        site = undo.enter_context(closing(ControllerSite(apart, "bench-token", account)))
        store = undo.enter_context(bare_store(controller=site.line, **changes))
        people = {t: undo.enter_context(logged_in(store, f"{t}:{t}")) for t in TENANTS}
        yield Stand(store, site, url, people)
