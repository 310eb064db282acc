"""Set up ssh for MPI: launcher and workers derive the same key from the execution's secret."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

SECRET = Path("/run/secrets/zoe-execution")
HOME = Path("/tmp/zoe-mpi")  # noqa: S108 - of this container alone


def prepare() -> Path:
    """Write the keys, and return the path of the private one. The public key is beside it, and in `authorized_keys` and
    `known_hosts`.
    """
    HOME.mkdir(mode=0o700, exist_ok=True)
    seed = hashlib.sha256(b"zoe mpi ssh key" + SECRET.read_bytes()).digest()
    key = Ed25519PrivateKey.from_private_bytes(seed)
    private = HOME / "key"
    if not private.exists():
        descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    (HOME / "authorized_keys").write_text(f"{public}\n")
    (HOME / "known_hosts").write_text(f"* {public}\n")
    return private
