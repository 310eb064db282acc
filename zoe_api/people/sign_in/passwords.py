"""Passwords of local users, hashed with Argon2id."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from zoe_api.http.attempts.guess_limit import Brake, network_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_lib.store.errors import NotFound
from zoe_lib.store.postgres.accounts import AccountStore

T = TypeVar("T")
LENGTH_MIN, LENGTH_MAX = 10, 1000
LOCAL = "local"
"""The provider of local passwords."""
hasher = PasswordHasher()
"""The library's parameters, which follow RFC 9106."""


def hash_password(password: str) -> str:
    """Return the stored form of a password."""
    return hasher.hash(password)


@cache
def _dummy_hash(_of: PasswordHasher) -> str:
    """A hash to verify for unknown users, so that response times do not reveal which users exist."""
    return hasher.hash("nobody's password")


def verify(accounts: AccountStore, user: str, password: str, address: str) -> None:
    """Return if this is the user's password; 401 if not, 429 after too many failures."""
    guess(accounts, Brake(LOCAL, user, network_of(address)), lambda: user_with_password(accounts, user, password))


def guess(accounts: AccountStore, brake: Brake, check: Callable[[], T | None]) -> T:
    """Return the result of a password check; None means a wrong password: 401. 429 without a check after too many."""
    taken_s = brake.take(accounts)
    try:
        result = check()
    except BaseException:  # the check failed without a result
        brake.give_back(accounts, taken_s)
        raise
    if result is None:
        raise ApiProblem(Code.BAD_SIGN_IN)
    brake.record_success(accounts, taken_s)
    return result


def user_with_password(accounts: AccountStore, user: str, password: str) -> str | None:
    """Return the user with this password; None if it is wrong or the user does not exist."""
    try:
        account = accounts.user(user)
    except NotFound:
        account = None
    may_sign_in = account is not None and account.password_hash is not None and not account.disabled
    try:
        hasher.verify((account.password_hash if account else None) or _dummy_hash(hasher), password)
    except (VerificationError, InvalidHashError):
        return None
    return user if may_sign_in else None
