"""Sign and verify backups by OpenSSH's `ssh-keygen -Y`, with keys that admins already have.

`signers` is a file of allowed signers, one a line: a name and a public key (ssh-keygen(1), ALLOWED SIGNERS).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO

from zoe_lib.store.errors import StoreError

_NAMESPACE = "zoe-backup"
_SECONDS_MAX = 3600.0
"""Time limit: a signature hashes the whole file, which may have many gigabytes."""


def signature_of(path: Path) -> Path:
    """Return the signature file beside a backup."""
    return path.with_name(f"{path.name}.sig")


def sign(path: Path, key: Path) -> None:
    """Write the signature of a backup beside it; StoreError. ssh-keygen asks for a passphrase if no agent has the
    key.
    """
    with path.open("rb") as backup:
        done = _run("sign", "-f", str(key), "-n", _NAMESPACE, stdin=backup)
    if done.returncode != 0:
        raise StoreError(f"{path} was written without a signature: {_words(done)}")
    try:
        with signature_of(path).open("x") as file:  # does not follow another user's link
            file.write(done.stdout)
    except OSError as error:
        raise StoreError(f"{path} was written without a signature: {signature_of(path)}: {error.strerror}") from None


def check_key(path: Path, key: Path) -> None:
    """Raise StoreError if the key cannot sign a backup of this name."""
    if os.path.lexists(signature_of(path)):
        raise StoreError(f"{signature_of(path)} exists already; choose another name for the backup, or move it away")
    if not key.is_file():
        raise StoreError(f"the key {key} does not exist")


def signer(file: IO[bytes], path: Path, signers: Path) -> str:
    """Return the name of the signer of an open backup, and read it to its end; StoreError if none of the signers signed
    it.
    """
    signature = signature_of(path)
    for entry, what in ((signature, "the backup is not signed"), (signers, "cannot read the signers")):
        if not entry.is_file():
            raise StoreError(f"{what}: the file {entry} does not exist")
    found = _run("find-principals", "-s", str(signature), "-f", str(signers))
    names = found.stdout.split("\n")[0]
    if found.returncode != 0 or not names:
        raise StoreError(f"{path} is not signed by any of {signers}")
    asked = ("-I", names, "-n", _NAMESPACE, "-s", str(signature), "-f", str(signers))
    verified = _run("verify", *asked, stdin=file)
    if verified.returncode != 0:
        raise StoreError(f"{path} is not what {names} signed: {_words(verified)}")
    return names


def _run(what: str, *words: str, stdin: IO[bytes] | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", what, *words],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS_MAX,
            check=False,
        )
    except FileNotFoundError:
        raise StoreError("signatures need ssh-keygen, of the package openssh-client") from None
    except subprocess.TimeoutExpired:
        raise StoreError(f"ssh-keygen did not end within {_SECONDS_MAX / 60:.0f} minutes") from None


def _words(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join((done.stderr or done.stdout).split()) or f"ssh-keygen ended with {done.returncode}"
