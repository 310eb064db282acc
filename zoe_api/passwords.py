"""Passwords of local users, hashed with Argon2id, and a brake on guessing them."""

from __future__ import annotations

import hashlib
import time

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_lib.store.base import NotFound, Store

LENGTH_MIN, LENGTH_MAX = 10, 1000
# Per user and address ten guesses, per address a hundred in five minutes: a stranger cannot lock a user out from
# elsewhere, and a thousand names cannot be tried from one place.
FAILURES_WITHIN_S = 300.0
FAILURES_OF_PAIR_MAX = 10
FAILURES_OF_ADDRESS_MAX = 100
_hasher = PasswordHasher()
# Verified when there is no such user, so that the time of an answer does not tell who exists.
_NOBODYS = _hasher.hash("nobody's password")


def hashed(password: str) -> str:
    """What is kept of a password."""
    return _hasher.hash(password)


def verify(store: Store, user: str, password: str, address: str) -> None:
    """Return when that is the user's password; 401 when it is not, 429 after too many failures."""
    pair, place = _key(f"{address} {user}"), _key(address)
    now_s = time.time()
    failures = store.failures([pair, place], now_s - FAILURES_WITHIN_S)
    if failures.get(pair, 0) >= FAILURES_OF_PAIR_MAX or failures.get(place, 0) >= FAILURES_OF_ADDRESS_MAX:
        raise ApiProblem(Code.TOO_MANY_SIGN_INS, f"try again in {FAILURES_WITHIN_S / 60:.0f} minutes")
    if not _right(store, user, password):
        for key in (pair, place):
            store.add_failure(key, now_s)
        raise ApiProblem(Code.BAD_SIGN_IN)


def _right(store: Store, user: str, password: str) -> bool:
    try:
        found = store.user(user)
    except NotFound:
        found = None
    known = found is not None and found.password_hash is not None and not found.disabled
    try:
        _hasher.verify((found.password_hash if found else None) or _NOBODYS, password)
    except (VerificationError, InvalidHashError):
        return False
    return known


def _key(text: str) -> str:
    """Names come as they are typed; a digest of them can be stored."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
