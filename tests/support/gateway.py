"""A test's own gateway before a test's own store, with the same users at both."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.needs import need_program
from tests.support.object_store import USERS, object_store
from zoe_embedded.ceph.store import PROGRAMS
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.behind import ceph_behind, seaweedfs_behind
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
    make: Callable[..., Any] = object_store,
    users: Sequence[StoreUser] = USERS,
    protocol: str = "swift",
    **changes: Any,
) -> Iterator[Any]:
    """Both up, removed in the end. `make` starts the gateway; further values it yields beside a store come, too. By the
    protocol `s3`, the gateway knows the Swift behind it as an S3 store.
    """
    with (
        object_store(users=(*users, GATEWAY), nodes=1, replicas=1, filters=False, s3=True) as behind,
        tempfile.TemporaryDirectory(prefix="zoe-gateway-") as apart,
    ):
        Path(apart).chmod(0o711)
        key = Path(apart) / "key"
        key.write_text(GATEWAY.key)
        if behind.configuration.run_as:
            os.chown(key, *_ids(behind))
        url = behind.auth_url if protocol == "swift" else behind.auth_url.removesuffix("/auth/v1.0")
        line = StoreBehind(url, GATEWAY.login, str(key), protocol=protocol)
        with make(behind=line, s3=True, users=users, **changes) as made:
            yield Pair(made, behind) if isinstance(made, ObjectStore) else (Pair(made[0], behind), *made[1:])


@contextmanager
def gateway_before_ceph(
    make: Callable[..., Any] = object_store, users: Sequence[StoreUser] = USERS, **changes: Any
) -> Iterator[Any]:
    """A gateway before Ceph, with a user of the account's own there for each account; removed in the end. It comes with
    what else `make` yields.
    """
    for program in PROGRAMS:
        need_program(program)
    home = Home.find(CLONE).create()
    with (
        ceph_behind(home, {user.account for user in users}, "key") as line,
        make(behind=line, s3=True, users=users, **changes) as made,
    ):
        yield made


@contextmanager
def gateway_before_seaweedfs(
    make: Callable[..., Any] = object_store, users: Sequence[StoreUser] = USERS, **changes: Any
) -> Iterator[Any]:
    """A gateway before SeaweedFS, which knows one user; removed in the end. It comes with what else `make` yields."""
    home = Home.find(CLONE).create()
    with (
        seaweedfs_behind(home, (), secrets.token_hex(16)) as line,
        make(behind=line, s3=True, users=users, **changes) as made,
    ):
        yield made


def _ids(store: ObjectStore) -> tuple[int, int]:
    found = store.directory.stat()
    return found.st_uid, found.st_gid
