"""The last element of the gateway's pipeline: Swift's proxy application, with another store instead of storage servers.

    [pipeline:main]
    pipeline = zoe_framing catch_errors gatekeeper healthcheck proxy-logging cache zoe_s3_signed zoe_s3_calls
        listing_formats bulk s3api tempauth zoe_s3_calls copy zoe_bandwidth zoe_views slo dlo zoe_filters proxy-logging
        proxy-server
    [app:proxy-server]
    paste.app_factory = storage_gateway.application:app_factory
    account_autocreate = true
    store_auth_url = http://store:8080/auth/v1.0
    store_user = gateway:gateway
    store_key_file = /etc/swift/zoe-gateway.key
    locks_dir = /run/zoe-gateway/locks

Access lists, constraints, conditional requests and metadata of middleware work as in Swift; only the requests to
storage servers go to the store instead. The store sees plain objects: the gateway keeps their roles (parts of a large
object, views, access lists) in their metadata (`kept_headers.py`).

With `locks_dir`, the processes of this one gateway, which share the directory, must be the only writers of the store.
Then conditional replacement of objects works (`X-Backend-Zoe-Replaces`), which these stores do not offer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from swift.common.storage_policy import POLICIES
from swift.common.swob import Request
from swift.common.utils import get_logger
from swift.proxy.controllers.account import AccountController
from swift.proxy.controllers.container import ContainerController
from swift.proxy.controllers.obj import ReplicatedObjectController
from swift.proxy.server import Application

from storage_gateway.controllers import GatewayAccounts, GatewayContainers, GatewayObjects
from storage_gateway.object_locks import ObjectLocks
from storage_gateway.store import Store, made_store

_METADATA_BYTES = 4096  # the default of Swift


class OneServer:
    """Replaces Swift's rings: everything has one place."""

    replica_count = 1
    partition_count = 1
    next_part_power = None
    _SERVER: Mapping[str, Any] = MappingProxyType({"id": 0, "ip": "", "port": 0, "device": "", "region": 1, "zone": 1})

    def get_part(self, *_: str | None) -> int:
        """Return the only partition."""
        return 0

    def get_nodes(self, *_: str | None) -> tuple[int, list[Mapping[str, Any]]]:
        """Return the only partition and server."""
        return 0, [self._SERVER]

    def get_part_nodes(self, _: int) -> list[Mapping[str, Any]]:
        """Return the only server."""
        return [self._SERVER]

    def get_more_nodes(self, _: int) -> Iterator[Mapping[str, Any]]:
        """Return no further server."""
        return iter(())


class Gateway(Application):  # type: ignore[misc]
    """Swift's proxy over another store."""

    written_elsewhere = True
    """Others may write to the store without this gateway."""

    def __init__(self, conf: dict[str, str], store: Store, locks: ObjectLocks) -> None:
        ring = OneServer()
        for policy in POLICIES:
            policy.object_ring = ring
        self.store = store
        self.locks = locks
        self.wait_s = float(conf.get("store_timeout", 60))
        self.metadata_bytes = int(conf.get("store_metadata_bytes", _METADATA_BYTES))
        super().__init__(conf, get_logger(conf, log_route="zoe-gateway"), account_ring=ring, container_ring=ring)

    def get_controller(self, req: Request) -> tuple[Any, dict[str, Any]]:
        """Return the gateway's controller in place of Swift's."""
        controller, parts = super().get_controller(req)
        return _CONTROLLERS.get(controller, controller), parts


_CONTROLLERS = {
    AccountController: GatewayAccounts,
    ContainerController: GatewayContainers,
    ReplicatedObjectController: GatewayObjects,
}


def app_factory(global_conf: dict[str, str], **local_conf: str) -> Gateway:
    """Return the application, for paste."""
    conf = {**global_conf, **local_conf}
    locks = ObjectLocks(Path(conf["locks_dir"]) if conf.get("locks_dir") else None, conf.get("user", "swift"))
    return Gateway(conf, made_store(conf), locks)
