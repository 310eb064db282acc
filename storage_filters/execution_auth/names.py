"""Names, keys and tokens of executions as users of the object store.

A user is `<tenant>:execution_<id>_<generation>`. Names of tempauth's users have no underscore, except for users
configured in Base64. The key is derived from the secret that the storage controller and the proxies share, so no proxy
has to know a user before its first request.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TOKEN_PREFIX = "zoe_tk_"  # noqa: S105 - not a secret
SECRET_CHARACTERS_MIN = 32
EXECUTION_ID = r"[A-Za-z0-9_-]{1,64}"
_USER = re.compile(rf"execution_({EXECUTION_ID})_([1-9][0-9]{{0,18}})")
_NUL = b"\0"
_PARTS = 4
_TOKENS = b"tokens"


@dataclass(frozen=True, slots=True)
class ExecutionUser:
    """One execution as a user of its tenant's account. generation: rises with each new credential."""

    tenant: str
    execution: str
    generation: int

    @property
    def login(self) -> str:
        """Return the user's name, which is also the access key for S3."""
        return f"{self.tenant}:execution_{self.execution}_{self.generation}"


def user_of(login: str) -> ExecutionUser | None:
    """Return the execution of a user's name; None for other users."""
    tenant, _, name = login.partition(":")
    found = _USER.fullmatch(name)
    return ExecutionUser(tenant, found[1], int(found[2])) if tenant and found else None


def read_secrets(path: Path) -> list[bytes]:
    """Return the secrets of a file, one a line: the first one signs, all are accepted. Raises OSError and
    ValueError.
    """
    secrets = [line.strip() for line in path.read_bytes().splitlines() if line.strip()]
    if not secrets or min(len(secret) for secret in secrets) < SECRET_CHARACTERS_MIN:
        raise ValueError(f"{path} needs a secret of at least {SECRET_CHARACTERS_MIN} characters in each line")
    return secrets


def key_of(secret: bytes, account: str, user: ExecutionUser) -> str:
    """Return the key with which an execution signs in to its tenant's account."""
    message = _NUL.join((account.encode(), user.execution.encode(), str(user.generation).encode()))
    return _text(hmac.digest(secret, message, "sha256"))


def token_of(secret: bytes, account: str, user: ExecutionUser, until_s: float) -> str:
    """Return a token for the account that expires at this time, in seconds since the epoch."""
    content = _NUL.join((account.encode(), user.tenant.encode(), user.login.encode(), str(int(until_s)).encode()))
    return f"{TOKEN_PREFIX}{_text(content)}.{_sign(secret, content)}"


def user_of_token(secrets: Sequence[bytes], account_prefix: str, token: str, now_s: float) -> ExecutionUser | None:
    """Return the execution of a token; None if the token is not valid now."""
    text, _, signature = token.removeprefix(TOKEN_PREFIX).partition(".")
    try:
        content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    if not any(is_same(_sign(secret, content), signature) for secret in secrets):
        return None
    parts = content.split(_NUL)
    if len(parts) != _PARTS or int(parts[3]) <= now_s:
        return None
    user = user_of(parts[2].decode())
    # A token of an installation with another naming of accounts must not open a different account.
    return user if user is not None and parts[0].decode() == account_prefix + user.tenant else None


def is_same(wanted: str, given: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(wanted.encode(), given.encode(errors="surrogateescape"))


def _sign(secret: bytes, content: bytes) -> str:
    """Sign with a separate secret for keys and for tokens: a key is never the signature of a token."""
    return _text(hmac.digest(hmac.digest(secret, _TOKENS, hashlib.sha256), content, "sha256"))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
