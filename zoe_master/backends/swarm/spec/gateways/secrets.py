"""The secrets that gateways require."""

from __future__ import annotations

import hashlib
from pathlib import Path

from zoe_master.backends.engine.spec.attempt_secrets import AttemptSecrets
from zoe_master.backends.engine.spec.naming.attempts import Attempt

_KEY_FILE = "gateway.key"


class GatewaySecrets(AttemptSecrets):
    """With another key, existing gateways are replaced; a request must carry the secret of its attempt."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory / _KEY_FILE)

    def hash_for(self, attempt: Attempt) -> bytes:
        """Return the value that the gateway stores to check it: its SHA-256."""
        return hashlib.sha256(self.secret_for(attempt).encode()).hexdigest().encode() + b"\n"
