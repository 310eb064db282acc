"""CURVE keys: they authenticate the clients of the master, and the master itself."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import zmq
import zmq.auth

MASTER = "master"
API = "api"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A CURVE key pair, as Z85 text."""

    public: bytes
    secret: bytes


class AllowedKeys:
    """Accept the holders of these public keys; for an authenticator."""

    def __init__(self, allowed: Collection[bytes]) -> None:
        self._allowed = allowed

    def callback(self, domain: str, key: bytes) -> bool:
        """Return whether a peer with this key may connect; the authenticator calls this."""
        return domain is not None and key in self._allowed


class CannotMakeKeys(Exception):  # noqa: N818 - the name is the fact
    """The directory of the keys cannot be used; the message names it, and the setting."""


def ensure_keys(directory: Path) -> None:
    """Make the missing key pairs of master and API; only the owner can read the secret halves. CannotMakeKeys if that
    fails.

    A public half alone belongs to a pair made elsewhere: its secret stays with the other side.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _missing(directory):
            return
        with (directory / "lock").open("w") as lock:  # master and API may start at the same moment
            fcntl.flock(lock, fcntl.LOCK_EX)
            for name in _missing(directory):
                _make_keys(directory, name)
    except OSError as error:
        raise CannotMakeKeys(
            f"cannot make keys in {directory}: {error.strerror}; set keys_dir (ZOE_KEYS_DIR) to a directory "
            "that this program may write"
        ) from error


def replace_keys(directory: Path) -> None:
    """Replace the key pairs of master and API; both use the old ones until they are restarted.

    Halves with a counterpart elsewhere are replaced as well, so every directory of an installation needs a copy.
    """
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in (MASTER, API):
            _make_keys(directory, name)


def _missing(directory: Path) -> list[str]:
    return [name for name in (MASTER, API) if not (directory / f"{name}.key").exists()]


def _make_keys(directory: Path, name: str) -> None:
    previous = os.umask(0o077)
    try:
        with tempfile.TemporaryDirectory(dir=directory) as draft:
            public, secret = zmq.auth.create_certificates(draft, name)
            owner = directory.stat()
            # The public half marks the pair as complete, so it is written last.
            for half, suffix in ((secret, "key_secret"), (public, "key")):
                os.chown(half, owner.st_uid, owner.st_gid)
                Path(half).rename(directory / f"{name}.{suffix}")
    finally:
        os.umask(previous)


def load_keys(directory: Path, name: str) -> KeyPair:
    """Return the key pair with this name; FileNotFoundError if it does not exist."""
    public, secret = zmq.auth.load_certificate(directory / f"{name}.key_secret")
    if secret is None:
        raise ValueError(f"{directory / name}.key_secret does not contain a secret key")
    return KeyPair(public, secret)


def load_public(directory: Path, name: str) -> bytes:
    """Return the public half."""
    public, _ = zmq.auth.load_certificate(directory / f"{name}.key")
    return public
