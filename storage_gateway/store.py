"""Interface between Swift's controllers and the store behind the gateway, whatever its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from storage_gateway.connections import BodyUpload, StoreAnswer
from storage_gateway.logins import StoreSettings
from storage_gateway.s3.store import S3Store
from storage_gateway.swift_store import SwiftStore


class Store(Protocol):
    """A store. Requests and answers have the form of Swift's servers; each class translates its protocol."""

    @property
    def needs_length(self) -> bool:
        """Return whether the store needs the length of a body."""

    @property
    def judges_conditions(self) -> bool:
        """Return whether the store evaluates the conditions of a GET or HEAD as Swift does; otherwise the gateway
        does.
        """

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], query: str = "", body: bytes | None = None
    ) -> StoreAnswer:
        """Return the answer to a request without a body, or with a short one; StoreAway. path: `/account/...`."""

    def upload(self, path: str, headers: Mapping[str, str]) -> BodyUpload:
        """Return the connection for the body of an object, once the store accepts it. Raises StoreAway."""

    def replace(self, path: str, before: StoreAnswer, headers: Mapping[str, str]) -> StoreAnswer:
        """Return the answer to a change of an object's metadata alone. Raises StoreAway. before: the answer to a HEAD;
        412 if the object has been replaced.
        """


def made_store(conf: Mapping[str, str]) -> Store:
    """Return the store of a configuration. Raises ValueError."""
    protocol = conf.get("store_protocol", "swift")
    if protocol not in ("swift", "s3"):
        raise ValueError(f"store_protocol is {protocol!r}; known are swift and s3")
    settings = StoreSettings(
        conf["store_auth_url" if protocol == "swift" else "store_url"],
        conf["store_user"],
        Path(conf["store_key_file"]),
        Path(conf["store_accounts_file"]) if "store_accounts_file" in conf else None,
        float(conf.get("store_connect_timeout", 2)),
        float(conf.get("store_timeout", 60)),
    )
    if protocol == "swift":
        return SwiftStore(settings)
    order = conf.get("store_order", "bytes")
    if order not in ("bytes", "paths"):
        raise ValueError(f"store_order is {order!r}; known are bytes and paths")
    return S3Store(settings, conf.get("store_region", "us-east-1"), sorted_there=order == "bytes")
