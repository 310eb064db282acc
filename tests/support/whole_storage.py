"""A store, the storage controller that shares it, and an installation of Zoe with both: all real processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage_bridge.connect import connect
from storage_bridge.http import ControllerSettings
from storage_bridge.model import BandwidthSlo
from storage_bridge.zoe_controller import ZoeController
from tests.support.api import Api
from tests.support.forked_controller import ForkedControllerSite
from tests.support.installation import Installation
from tests.support.object_store import ADMIN, object_store
from tests.support.people import make_token
from zoe_client import Client
from zoe_embedded.home import Account
from zoe_embedded.swift.configuration import REGION, ControllerLine
from zoe_embedded.swift.controller import ControllerSite
from zoe_embedded.swift.store import ObjectStore

MB = 10**6
CAPACITY = 12 * MB
TOKEN = "a-token"
KEYS = {"acme": {"current": "acme-1", "keys": {"acme-1": "11" * 32}}}
_SMALL = {"nodes": 1, "replicas": 1, "proxy_workers": 2}


@dataclass
class Whole:
    """Store and controller, connected."""

    store: ObjectStore
    url: str
    controller: ZoeController

    @property
    def services(self) -> dict[str, dict[str, Any]]:
        """As in the settings of master and API; services accept credentials of executions."""
        swift, endpoint = self.store.auth_url, self.store.auth_url.removesuffix("/auth/v1.0")
        by_s3 = (
            {"s3a": {"url": endpoint, "swift_url": swift, "execution_credentials": True}}
            if self.store.configuration.s3
            else {}
        )
        return {"zoe": {"url": swift, "region": REGION, "execution_credentials": True}, **by_s3}


def keyring(apart: Path, account: Account | None) -> str:
    """Make the file of tenants' keys, which the proxy may read; return its path."""
    path = apart / "keyring.json"
    path.write_text(json.dumps(KEYS))
    if account is not None:
        os.chown(path, account.uid, account.gid)
    return str(path)


@contextmanager
def whole_storage(
    database_url: str, capacity: int = CAPACITY, further: Mapping[str, object] | None = None, **changes: Any
) -> Iterator[Whole]:
    """`capacity`: maximum transfer and guarantees each way, in bytes per second; `further`: settings of the controller,
    `changes`: of the store.
    """
    sites: list[ControllerSite] = []

    def line(apart: Path, account: Account | None) -> ControllerLine:
        sites.append(ForkedControllerSite(apart, TOKEN, account))
        sites[0].further.update(further or {})
        return sites[0].line

    def secret(_: Path, account: Account | None) -> str:
        return str(sites[0].executions_secret)

    plain = database_url.replace("postgresql+psycopg2:", "postgresql:")  # as the documentation names it
    with ExitStack() as undo:
        store = undo.enter_context(object_store(**{**_SMALL, "executions_secret": secret, **changes}, controller=line))
        [site] = sites
        undo.callback(site.close)
        url = undo.enter_context(site.serve(store, ADMIN, plain, BandwidthSlo(capacity, capacity)))
        controller = connect(ControllerSettings(url, TOKEN, "zoe", timeout_s=30))
        assert isinstance(controller, ZoeController)
        yield Whole(store, url, controller)
        assert "Traceback" not in site.log.read_text()


def settings_of(whole: Whole, directory: Path) -> dict[str, Any]:
    """Return the settings of a master or an API with the controller; its token is in a file of the directory."""
    token_file = directory / "zoe-token"
    token_file.write_text(TOKEN)
    return {"storage_url": whole.url, "storage_token_file": str(token_file), "storage_interval_s": 0.5}


@contextmanager
def installation_with(whole: Whole, database_url: str, directory: Path, **settings: Any) -> Iterator[Installation]:
    """Its master asks the controller."""
    made = Installation(database_url, insecure=True, **{**settings_of(whole, directory), **settings})
    try:
        yield made
    finally:
        made.close()


@contextmanager
def client_of(installation: Installation, database_url: str, whole: Whole) -> Iterator[Client]:
    """Ann, of the tenant acme."""
    api = Api(
        database_url,
        keys_dir=installation.keys_dir,
        master_endpoint=installation.endpoint,
        storage_url=whole.url,
        storage_services=whole.services,
    )
    try:
        yield api.client(make_token(installation.store, "ann", "acme"), patience_s=60.0)
    finally:
        api.close()
