"""Files of an object store's disks, changed by an attacker with access to them."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path

from zoe_embedded.swift.store import ObjectStore

_ATTRIBUTE, _CHECKSUM = "user.swift.metadata", "user.swift.metadata_checksum"
_NAME, _SIZE, _ETAG = b"name", b"Content-Length", b"ETag"


def newest_file(store: ObjectStore, name: str = "") -> Path:
    """Return the file of the object that was stored last. name: container and object, if it is to be this one."""
    found = (store.directory / "devices").rglob("objects/**/*.data")
    named = (path for path in found if _metadata(path)[_NAME].endswith(f"/{name}".encode() if name else b""))
    return max(named, key=lambda path: path.stat().st_mtime_ns)


def truncate(path: Path, size: int) -> None:
    """Cut an object to so many bytes; its metadata fit."""
    content, told = path.read_bytes()[:size], _metadata(path)
    told |= {_SIZE: b"%d" % size, _ETAG: hashlib.md5(content, usedforsecurity=False).hexdigest().encode()}
    path.write_bytes(content)
    written = pickle.dumps(told, protocol=2)
    os.setxattr(path, _ATTRIBUTE, written)
    os.setxattr(path, _CHECKSUM, hashlib.md5(written, usedforsecurity=False).hexdigest().encode())


def flip(path: Path, at: int) -> None:
    """Flip a bit of an object."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def _metadata(path: Path) -> dict[bytes, bytes]:
    told: dict[bytes, bytes] = pickle.loads(os.getxattr(path, _ATTRIBUTE))
    return told
