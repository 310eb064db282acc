"""Encrypt tenants' secrets for the database, with a key in a file, never in the database.

AES-256-GCM (NIST SP 800-38D) with a random nonce for each encryption. The owner of a secret is authenticated, so a row
moved to another tenant cannot be decrypted for it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_FILE = "credentials.key"
_KEY_BITS = 256
_NONCE_BYTES = 12


class CannotOpen(Exception):  # noqa: N818 - the name is the fact
    """The secret was encrypted with another key, or for another owner, or is damaged."""


class Seal:
    """Encrypts with the first key, and decrypts with any."""

    def __init__(self, key: bytes, *older: bytes) -> None:
        self._ciphers = [AESGCM(data) for data in (key, *older)]

    @classmethod
    def from_keys_dir(cls, keys_dir: Path) -> Seal:
        """Return a seal with the key of an installation, which is made if it is missing; API and master share the
        directory.
        """
        return cls(*_keys(keys_dir))

    def encrypt(self, secret: str, *belongs_to: str) -> bytes:
        """Encrypt the secret for its owner."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._ciphers[0].encrypt(nonce, secret.encode(), _bound(belongs_to))

    def decrypt(self, sealed: bytes, *belongs_to: str) -> str:
        """Decrypt the secret; CannotOpen if that fails."""
        for cipher in self._ciphers:
            with contextlib.suppress(InvalidTag, ValueError):
                return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _bound(belongs_to)).decode()
        raise CannotOpen(f"cannot decrypt the stored {' '.join(belongs_to)} with this key")


def derived_key(keys_dir: Path, purpose: str) -> bytes:
    """Derive another key of 32 bytes from the installation's, for one purpose (HKDF with SHA-256, RFC 5869)."""
    return derived_keys(keys_dir, purpose)[0]


def derived_keys(keys_dir: Path, purpose: str) -> list[bytes]:
    """Derive such a key from each of the installation's, newest first: more than one only while keys are rotated."""
    return [HKDF(hashes.SHA256(), _KEY_BITS // 8, None, purpose.encode()).derive(key) for key in _keys(keys_dir)]


def add_key(keys_dir: Path) -> None:
    """Encrypt with a new key from now on, and still decrypt with the present one; do nothing if an older one exists."""
    present = _keys(keys_dir)
    if len(present) == 1:
        _replace(keys_dir / KEY_FILE, new_key() + _text(present))


def drop_older_keys(keys_dir: Path) -> None:
    """Keep the newest key only."""
    _replace(keys_dir / KEY_FILE, _text(_keys(keys_dir)[:1]))


def _keys(keys_dir: Path) -> list[bytes]:
    """Return the keys, newest first; several only during a rotation."""
    path = keys_dir / KEY_FILE
    if not path.exists():
        _make(path)
    return [bytes.fromhex(line) for line in path.read_text().split()]


def _text(keys: list[bytes]) -> str:
    return "".join(f"{key.hex()}\n" for key in keys)


def _bound(belongs_to: tuple[str, ...]) -> bytes:
    return "\0".join(belongs_to).encode()


def new_key() -> str:
    """Return the text of a new key file."""
    return AESGCM.generate_key(_KEY_BITS).hex() + "\n"


def is_key_text(text: bytes) -> bool:
    """Return whether this is the text of a key file: a key in hexadecimal digits on each line, newest first."""
    try:
        keys = [bytes.fromhex(line) for line in text.decode("ascii").split()]
    except ValueError:
        return False
    return bool(keys) and all(len(key) * 8 == _KEY_BITS for key in keys)


def _make(path: Path) -> None:
    """Make the file once, even if others try at the same moment: link a complete file to the name, unless the name
    exists.
    """
    owner, draft = path.parent.stat(), _draft(path, new_key())
    os.chown(draft, owner.st_uid, owner.st_gid)  # a master that runs as root may start before an API that does not
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def _replace(path: Path, text: str) -> None:
    """Replace the file atomically, with the same owner."""
    owner = path.stat()
    draft = _draft(path, text)
    os.chown(draft, owner.st_uid, owner.st_gid)
    draft.rename(path)


def _draft(path: Path, text: str) -> Path:
    draft = path.with_suffix(f".{os.getpid()}-{os.urandom(4).hex()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return draft
