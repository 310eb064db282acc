"""A gateway of the test's own, before a store of the test's own, and the same people at both."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.object_store import USERS, object_store
from zoe_embedded.swift.configuration import StoreBehind, StoreUser
from zoe_embedded.swift.store import ObjectStore

GATEWAY = StoreUser("gateway", "gateway", "gateway-key", (".admin", ".reseller_admin"))


@dataclass
class Pair:
    """A gateway, and the Swift behind it, which runs without Zoe's filters."""

    gateway: ObjectStore
    behind: ObjectStore


@contextmanager
def gateway_before_swift(
    make: Callable[..., Any] = object_store, users: Sequence[StoreUser] = USERS, **changes: Any
) -> Iterator[Pair]:
    """Both up, removed in the end. `make` starts another kind of proxy as the gateway."""
    with (
        object_store(users=(*users, GATEWAY), nodes=1, replicas=1, filters=False, s3=True) as behind,
        tempfile.TemporaryDirectory(prefix="zoe-gateway-") as apart,
    ):
        Path(apart).chmod(0o711)
        key = Path(apart) / "key"
        key.write_text(GATEWAY.key)
        if behind.configuration.run_as:
            os.chown(key, *_ids(behind))
        line = StoreBehind(behind.auth_url, GATEWAY.login, str(key))
        with make(behind=line, s3=True, users=users, **changes) as gateway:
            yield Pair(gateway, behind)


def _ids(store: ObjectStore) -> tuple[int, int]:
    found = store.directory.stat()
    return found.st_uid, found.st_gid
