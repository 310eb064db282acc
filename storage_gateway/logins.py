"""Sign-in of the gateway to the store: one user for all accounts, or one for each account."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

_RENEWED_BEFORE_S = 60.0
_UNKNOWN_LIFE_S = 600.0


class StoreAway(Exception):  # noqa: N818 - the name is the fact
    """The store gave no usable answer; the message has the reason."""


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Address of the store, and the gateway's user there. url: of Swift's authentication, version 1, or of an S3 store,
    where `user` is the id of an access key. accounts_file: in JSON, `{account: {"user": ..., "key": ...}}`, for
    accounts with their own user at the store; `user` may use all others. connect_s: timeout for a connection; wait_s:
    for an answer, and for each piece of it.
    """

    url: str
    user: str
    key_file: Path
    accounts_file: Path | None = None
    connect_s: float = 2.0
    wait_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Login:
    """A token and its URL: `url` is that of one account if `own`, otherwise the common prefix of accounts."""

    name: str
    url: str
    own: bool
    token: str
    until_s: float

    def path(self, path: str) -> str:
        """Return the quoted URL of `/account/...` at the store."""
        account, slash, rest = path.lstrip("/").partition("/")
        below = slash + rest if self.own else f"/{account}{slash}{rest}"
        return urlsplit(self.url).path.rstrip("/") + quote(below.encode("utf-8", "surrogateescape"))


SignIn = Callable[[str, str], tuple[int, Mapping[str, str]]]
"""Requests a token from the store, with user and key; returns status and headers."""


@dataclass(frozen=True, slots=True)
class User:
    """The gateway's user at the store for an account. own: for that account alone."""

    name: str
    key: str
    own: bool


class Users:
    """Users by account; files are read again when they have changed."""

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings
        self._accounts: dict[str, dict[str, str]] = {}
        self._read_ns = 0

    def user_for(self, account: str) -> User:
        """Return the user for an account. Raises StoreAway if a file is missing or invalid."""
        own = self._own_user(account)
        if own is not None:
            return User(own["user"], own["key"], True)
        try:
            return User(self._settings.user, self._settings.key_file.read_text().strip(), False)
        except (OSError, ValueError) as error:
            raise StoreAway(f"no key of {self._settings.user}: {error}") from None

    def _own_user(self, account: str) -> dict[str, str] | None:
        file = self._settings.accounts_file
        if file is None:
            return None
        try:
            changed_ns = file.stat().st_mtime_ns
            if changed_ns != self._read_ns:
                self._accounts, self._read_ns = json.loads(file.read_text()), changed_ns
            own = self._accounts.get(account)
            return None if own is None else {"user": own["user"], "key": own["key"]}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreAway(f"{file} does not list the users of accounts: {error!r}") from None


class Logins:
    """Valid tokens, by user. Raises StoreAway."""

    def __init__(self, settings: StoreSettings, sign_in: SignIn) -> None:
        self._users, self._sign_in = Users(settings), sign_in
        self._known: dict[str, Login] = {}

    def login_for(self, account: str) -> Login:
        """Return the login for an account."""
        user = self._users.user_for(account)
        login = self._known.get(user.name)
        if login is None or login.until_s < time.monotonic():
            login = self._known[user.name] = self._sign_in_user(user)
        return login

    def forget(self, login: Login) -> None:
        """Sign in again next time, since the store no longer accepts this token."""
        if self._known.get(login.name) is login:
            del self._known[login.name]

    def _sign_in_user(self, user: User) -> Login:
        status, headers = self._sign_in(user.name, user.key)
        url, token = headers.get("X-Storage-Url"), headers.get("X-Auth-Token")
        if status // 100 != 2 or not url or not token:
            raise StoreAway(f"the store does not let {user.name} sign in: {status}")
        life_s = float(headers.get("X-Auth-Token-Expires") or _UNKNOWN_LIFE_S)
        until_s = time.monotonic() + max(life_s - _RENEWED_BEFORE_S, life_s / 2)
        return Login(user.name, url if user.own else url.rstrip("/").rpartition("/")[0], user.own, token, until_s)
