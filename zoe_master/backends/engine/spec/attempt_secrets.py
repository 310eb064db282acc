"""A secret for each attempt, derived from one key so that none is stored."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from zoe_master.backends.engine.spec.naming.attempts import Attempt

_KEY_BYTES = 32


class AttemptSecrets:
    """The key is a file of this master."""

    def __init__(self, key: Path) -> None:
        self._key = _read_or_make(key)
        self.fingerprint = self._digest("which key")[:16]
        """Public fingerprint of the key."""

    def secret_for(self, attempt: Attempt) -> str:
        """Return the secret of an attempt: 64 hexadecimal digits."""
        return self._digest(f"{attempt.number} {attempt.execution_id}")

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def _read_or_make(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        key = b""
    if len(key) == _KEY_BYTES:
        return key
    key = secrets.token_bytes(_KEY_BYTES)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    return key
