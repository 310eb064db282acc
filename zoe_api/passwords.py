"""Passwords of local users, hashed with Argon2id, and a brake on guessing them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_lib.store.base import NotFound, Store

T = TypeVar("T")
LENGTH_MIN, LENGTH_MAX = 10, 1000
# Per user and address ten guesses, per address a hundred in five minutes: a stranger cannot lock a user out from
# elsewhere, and a thousand names cannot be tried from one place.
FAILURES_WITHIN_S = 300.0
FAILURES_OF_PAIR_MAX = 10
FAILURES_OF_ADDRESS_MAX = 100
# A check takes 64 MiB and a thread of those that answer everybody.
AT_ONCE_MAX = 4
WAIT_S = 2.0
LOCAL = "local"
"""The provider of passwords that are kept here."""
hasher = PasswordHasher()
"""With the library's parameters, which follow RFC 9106."""


def hashed(password: str) -> str:
    """What is kept of a password."""
    return hasher.hash(password)


@cache
def _nobodys(_of: PasswordHasher) -> str:
    """Verified when there is no such user, so that the time of an answer does not tell who exists."""
    return hasher.hash("nobody's password")


def verify(store: Store, user: str, password: str, address: str) -> None:
    """Return when that is the user's password; 401 when it is not, 429 after too many failures."""
    guess(store, LOCAL, user, address, lambda: _right(store, user, password) or None)


def guess(store: Store, provider: str, user: str, address: str, check: Callable[[], T | None]) -> T:
    """What a check of a password tells; None is a wrong one: 401, and 429 after too many of them, or at once."""
    with _place_among(provider):
        pair, place = _key(f"{address} {provider} {user}"), _key(address)
        now_s = time.time()
        failures = store.failures([pair, place], now_s - FAILURES_WITHIN_S)
        if failures.get(pair, 0) >= FAILURES_OF_PAIR_MAX or failures.get(place, 0) >= FAILURES_OF_ADDRESS_MAX:
            raise ApiProblem(Code.TOO_MANY_SIGN_INS, f"try again in {FAILURES_WITHIN_S / 60:.0f} minutes")
        told = check()
        if told is None:
            for key in (pair, place):
                store.add_failure(key, now_s)
            raise ApiProblem(Code.BAD_SIGN_IN)
        return told


@contextmanager
def _place_among(provider: str) -> Iterator[None]:
    """One of the few places; guesses beside each other do not see each other's failures."""
    places = _places(provider)
    if not places.acquire(timeout=WAIT_S):
        raise ApiProblem(Code.SIGN_IN_BUSY)
    try:
        yield
    finally:
        places.release()


@cache
def _places(_provider: str) -> BoundedSemaphore:
    """Of each provider its own, so that a slow directory holds up nobody else."""
    return BoundedSemaphore(AT_ONCE_MAX)


def _right(store: Store, user: str, password: str) -> bool:
    try:
        found = store.user(user)
    except NotFound:
        found = None
    known = found is not None and found.password_hash is not None and not found.disabled
    try:
        hasher.verify((found.password_hash if found else None) or _nobodys(hasher), password)
    except (VerificationError, InvalidHashError):
        return False
    return known


def _key(text: str) -> str:
    """Names come as they are typed; a digest of them can be stored."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
