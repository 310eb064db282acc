"""A gateway of the test's own, before a store of the test's own, and the same people at both."""

from __future__ import annotations

import json
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
from zoe_embedded.ceph.store import PROGRAMS, CephStore
from zoe_embedded.home import Home
from zoe_embedded.runtime import CLONE
from zoe_embedded.seaweedfs.store import SeaweedStore, ensure_seaweedfs
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
    """Both up, removed in the end. `make` starts the gateway; what it yields beside a store comes, too. By the protocol
    `s3`, the gateway knows the Swift behind it as an S3 store.
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
def gateway_before_ceph(users: Sequence[StoreUser] = USERS) -> Iterator[ObjectStore]:
    """A gateway before Ceph, with a user of the account's own there for each account; removed in the end."""
    for program in PROGRAMS:
        need_program(program)
    with tempfile.TemporaryDirectory(prefix="zoe-ceph-") as apart, CephStore(Path(apart) / "ceph") as ceph:
        Path(apart).chmod(0o711)
        known = {}
        for account in sorted({user.account for user in users}):
            key = f"{account}-at-ceph"
            known[f"AUTH_{account}"] = {"user": ceph.add_user(account, key), "key": key}
        accounts, nobody = Path(apart) / "accounts.json", Path(apart) / "key"
        accounts.write_text(json.dumps(known))
        nobody.write_text("no key: all accounts have users of their own")
        for file in (accounts, nobody):
            file.chmod(0o644)  # for the proxy's user
        line = StoreBehind(ceph.auth_url, "nobody:swift", str(nobody), str(accounts))
        with object_store(behind=line, s3=True, users=users) as gateway:
            yield gateway


@contextmanager
def gateway_before_seaweedfs(
    make: Callable[..., Any] = object_store, users: Sequence[StoreUser] = USERS, **changes: Any
) -> Iterator[Any]:
    """A gateway before SeaweedFS, which knows one user; removed in the end. It comes with its SeaweedFS, and with what
    else `make` yields.
    """
    secret = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="zoe-seaweedfs-") as apart:
        Path(apart).chmod(0o711)
        key = Path(apart) / "key"
        key.write_text(secret)
        key.chmod(0o644)  # for the proxy's user
        program = ensure_seaweedfs(Home.find(CLONE).create())
        with SeaweedStore(program, Path(apart) / "data", {GATEWAY.name: secret}) as behind:
            line = StoreBehind(behind.url, GATEWAY.name, str(key), protocol="s3", order="paths")
            with make(behind=line, s3=True, users=users, **changes) as made:
                yield (made, behind) if isinstance(made, ObjectStore) else (*made, behind)


def _ids(store: ObjectStore) -> tuple[int, int]:
    found = store.directory.stat()
    return found.st_uid, found.st_gid
