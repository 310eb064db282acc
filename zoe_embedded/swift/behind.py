"""Stores behind a gateway on this machine: Ceph and SeaweedFS, without Zoe's filters."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType

from zoe_embedded.ceph.store import CephStore
from zoe_embedded.home import Home
from zoe_embedded.seaweedfs.store import SeaweedStore, ensure_seaweedfs
from zoe_embedded.swift.configuration import StoreBehind

_USER = "gateway"


@contextmanager
def ceph_behind(home: Home, accounts: Iterable[str], secret: str) -> Iterator[StoreBehind]:
    """Start Ceph, with a separate user for each account, without access to other accounts."""
    with _directory() as directory, CephStore(directory / "ceph") as ceph:
        yield line_to_ceph(home, ceph, accounts, secret)


def line_to_ceph(home: Home, ceph: CephStore, accounts: Iterable[str], secret: str) -> StoreBehind:
    """Create the gateway's users at a running Ceph, and return its connection."""
    known = {}
    for account in sorted(set(accounts)):
        key = f"{secret}-{account}"
        known[f"AUTH_{account}"] = {"user": ceph.add_user(account, key), "key": key}
    beside = ceph.directory.parent
    users = _write_private(home, beside / "accounts.json", json.dumps(known))
    nobody = _write_private(home, beside / "key", "no key: all accounts have users of their own")
    return StoreBehind(ceph.auth_url, "nobody:swift", nobody, users, ended=ceph.ended_program)


@contextmanager
def seaweedfs_behind(home: Home, _: Iterable[str], secret: str) -> Iterator[StoreBehind]:
    """Start SeaweedFS, with one user and its secret."""
    program = ensure_seaweedfs(home)
    with _directory() as directory, SeaweedStore(program, directory / "data", {_USER: secret}) as store:
        key = _write_private(home, directory / "key", secret)
        yield StoreBehind(store.url, _USER, key, protocol="s3", order="paths", ended=store.ended_program)


BEHIND: Mapping[str, Callable[[Home, Iterable[str], str], AbstractContextManager[StoreBehind]]] = MappingProxyType(
    {"ceph": ceph_behind, "seaweedfs": seaweedfs_behind}
)
"""Starters by name: each starts a temporary store for accounts, with keys derived from a secret."""


@contextmanager
def _directory() -> Iterator[Path]:
    """Create a directory for the files of the gateway's user."""
    with tempfile.TemporaryDirectory(prefix="zoe-behind-") as apart:
        Path(apart).chmod(0o711)
        yield Path(apart)


def _write_private(home: Home, path: Path, text: str) -> str:
    """Write a file that only the gateway's user can read."""
    path.touch(mode=0o600)
    path.write_text(text)
    if (account := home.server_account) is not None:
        os.chown(path, account.uid, account.gid)
    return str(path)
