"""Keys of tenants, from a JSON file that is read again when it changes:

    {"acme": {"current": "acme-2", "keys": {"acme-1": "<64 hexadecimal digits>", "acme-2": "..."}}}

New objects are encrypted with the current key; the others decrypt stored objects. To rotate a key, add another one and
make it current. `*` stands for all tenants without an entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from storage_filters.transforms.stream_filters import FilterAway, FilterRefusedError

_SECRET = re.compile(r"[0-9a-fA-F]{64}")
_NAME = re.compile(r"[\w.-]{1,64}")
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Key:
    """Name and the 32 bytes of a key; the bytes are never shown."""

    name: str
    secret: bytes

    def __repr__(self) -> str:
        return f"Key({self.name!r})"


@dataclass(frozen=True, slots=True)
class _Keys:
    current: str
    keys: Mapping[str, Key]


class Keyring:
    """The keyring of a file; None for a proxy without keys. Every call may raise FilterRefusedError, with the name
    of the
    missing key.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._tenants: Mapping[str, _Keys] = {}

    def problem(self) -> str:
        """Return why the file cannot be read; empty if it can, and for a server without keys."""
        try:
            self._keys_of(_ANY)
        except FilterAway as error:
            return str(error)
        return ""

    def current(self, tenant: str) -> Key:
        """Return the key for a tenant's new objects."""
        keys = self._keys_of(tenant)
        if keys is None:
            raise FilterRefusedError(f"no key for objects of {tenant}: add one to the keyring of this server")
        return keys.keys[keys.current]

    def any_for(self, tenant: str) -> bool:
        """Return whether a tenant has keys; True also if the file cannot be read."""
        try:
            return self._keys_of(tenant) is not None
        except FilterAway:
            return True

    def key_named(self, tenant: str, name: str) -> Key:
        """Return the key of that name."""
        keys = self._keys_of(tenant)
        if keys is None or name not in keys.keys:
            raise FilterRefusedError(f"the keyring of this server lacks the key {name} of {tenant}")
        return keys.keys[name]

    def _keys_of(self, tenant: str) -> _Keys | None:
        if self._path is None:
            return None
        try:
            status = self._path.stat()
            version = status.st_mtime_ns, status.st_ino
            if version != self._version:
                self._tenants = _read(self._path.read_bytes())
                self._version = version
        except (OSError, ValueError) as error:
            self._version = None
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise FilterAway(f"the keyring of this server cannot be read: {why}") from None
        return self._tenants.get(tenant) or self._tenants.get(_ANY)


def _read(text: bytes) -> Mapping[str, _Keys]:
    """Return the keys of all tenants. Raises ValueError, whose message never contains a key."""
    try:
        document = json.loads(text)
        return {str(tenant): _keys(str(tenant), told["current"], told["keys"]) for tenant, told in document.items()}
    except (TypeError, KeyError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError("it is not a keyring") from error


def _keys(tenant: str, current: str, told: Mapping[str, str]) -> _Keys:
    for name, secret in told.items():
        if not (_NAME.fullmatch(name) and _SECRET.fullmatch(secret)):
            raise ValueError(
                f"key {name[:64]} of tenant {tenant}: a name of letters, digits and '._-', and 64 hexadecimal digits"
            )
    if current not in told:
        raise ValueError(f"{tenant} has no key {current}, which is to be the current one")
    return _Keys(current, {name: Key(name, bytes.fromhex(secret)) for name, secret in told.items()})
