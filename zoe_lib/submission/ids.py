"""Make ids of executions, arrays and workflows, which sort by time, are short, and are valid in host names; and hash
secrets.
"""

from __future__ import annotations

import hashlib
import secrets

from zoe_lib.clock import SYSTEM_CLOCK

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_LETTERS = 9
_RANDOM_LETTERS = 5


def new_execution_id() -> str:
    """Return a letter, milliseconds since the epoch and 25 random bits, in base 32."""
    return "x" + _unique()


def new_array_id() -> str:
    """Return the same with another letter; ids of an array's executions continue it (`domain.executions.arrays`)."""
    return "a" + _unique()


def _unique() -> str:
    return _base32(int(SYSTEM_CLOCK.now_s() * 1000), _TIME_LETTERS) + _base32(secrets.randbits(25), _RANDOM_LETTERS)


def new_workflow_id() -> str:
    """Return the same with another letter."""
    return "w" + new_execution_id()[1:]


def hash_of(secret: str) -> str:
    """Return the hash that is stored in place of a secret, or of user input of any length."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _base32(value: int, letters: int) -> str:
    return "".join(_ALPHABET[(value >> (5 * place)) & 31] for place in reversed(range(letters)))
