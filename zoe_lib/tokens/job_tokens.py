"""Tokens for a running job's calls of the API: derived from the installation's key, so that none is stored."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import astuple, dataclass
from pathlib import Path

from zoe_lib.sealing import derived_keys

JOBS = "jobs"
"""Submit jobs, and see and control the job itself and its descendants."""
OFFERED = "offered"
"""The same, for what people use, such as notebooks: it ends when another user may open the execution."""
QUERIES = "queries"
"""Report what the job's queries read from the object store, and nothing else."""
GRANTS = frozenset({JOBS, OFFERED, QUERIES})
PREFIX = "zoejob_"
_PURPOSE = "tokens of jobs"
_TEXT_MAX = 4096


@dataclass(frozen=True, slots=True)
class JobToken:
    """The contents of a token: the attempt of an execution, its owner, and its rights (`GRANTS`)."""

    execution_id: str
    attempt: int
    tenant: str
    user: str
    grant: str = JOBS

    @property
    def claim(self) -> bytes:
        """Return the part of the text that is authenticated."""
        return base64.urlsafe_b64encode(json.dumps(astuple(self)).encode()).rstrip(b"=")


def is_job_token(text: str) -> bool:
    """Return whether a bearer token has the form of a job's, valid or not."""
    return text.startswith(PREFIX)


class JobTokens:
    """Makes tokens with the newest key of an installation, and reads those of any of its keys."""

    def __init__(self, keys_dir: Path) -> None:
        self._keys_dir = keys_dir

    def text(self, token: JobToken) -> str:
        """Return the text of a token; the same for the same attempt and key."""
        key = derived_keys(self._keys_dir, _PURPOSE)[0]
        return f"{PREFIX}{token.claim.decode()}.{_proof(key, token.claim)}"

    def read(self, text: str) -> JobToken | None:
        """Return the contents of a token; None if this installation did not make it."""
        claim, dot, proof = text.removeprefix(PREFIX).partition(".")
        if not (is_job_token(text) and dot and text.isascii() and len(text) <= _TEXT_MAX):
            return None
        keys = derived_keys(self._keys_dir, _PURPOSE)
        if not any(hmac.compare_digest(_proof(key, claim.encode()), proof) for key in keys):
            return None
        try:
            token = JobToken(*json.loads(base64.urlsafe_b64decode(claim + "=" * (-len(claim) % 4))))
        except (ValueError, TypeError, binascii.Error):
            return None
        return token if token.grant in GRANTS else None


def _proof(key: bytes, claim: bytes) -> str:
    return hmac.new(key, claim, hashlib.sha256).hexdigest()
