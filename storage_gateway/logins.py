"""Who the gateway is at the store: one user for all accounts, or one of each account's own."""

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
    """The store gave no answer that can be used; the message says why."""


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the store is, and who the gateway is there. auth_url: of its authentication, version 1. accounts_file: in
    JSON, `{account: {"user": ..., "key": ...}}`, of accounts that have a user of their own at the store; `user` may use
    all others. connect_s: longest wait for a connection; wait_s: for an answer, and for each piece of it.
    """

    auth_url: str
    user: str
    key_file: Path
    accounts_file: Path | None = None
    connect_s: float = 2.0
    wait_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Login:
    """A token and where it is good: `url` is that of one account if `own`, else what accounts are below."""

    name: str
    url: str
    own: bool
    token: str
    until_s: float

    def path(self, path: str) -> str:
        """Return where `/account/...` is at the store, quoted."""
        account, slash, rest = path.lstrip("/").partition("/")
        below = slash + rest if self.own else f"/{account}{slash}{rest}"
        return urlsplit(self.url).path.rstrip("/") + quote(below.encode("utf-8", "surrogateescape"))


SignIn = Callable[[str, str], tuple[int, Mapping[str, str]]]
"""Asks the store for a token, with user and key; returns status and headers."""


class Logins:
    """Tokens that are good, by user; StoreAway."""

    def __init__(self, settings: StoreSettings, sign_in: SignIn) -> None:
        self._settings, self._sign_in = settings, sign_in
        self._known: dict[str, Login] = {}
        self._accounts: dict[str, dict[str, str]] = {}
        self._read_ns = 0

    def of(self, account: str) -> Login:
        """Return the login for an account."""
        own = self._own(account)
        name = own["user"] if own is not None else self._settings.user
        login = self._known.get(name)
        if login is None or login.until_s < time.monotonic():
            key = own["key"] if own is not None else self._settings.key_file.read_text().strip()
            login = self._known[name] = self._made(name, key, own is not None)
        return login

    def forget(self, login: Login) -> None:
        """Sign in again next time, since the store does not know this token any more."""
        if self._known.get(login.name) is login:
            del self._known[login.name]

    def _own(self, account: str) -> dict[str, str] | None:
        """Return user and key of an account; the file is read again when it has changed."""
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
            raise StoreAway(f"{file} names no users of accounts: {error!r}") from None

    def _made(self, name: str, key: str, own: bool) -> Login:
        status, headers = self._sign_in(name, key)
        url, token = headers.get("X-Storage-Url"), headers.get("X-Auth-Token")
        if status // 100 != 2 or not url or not token:
            raise StoreAway(f"the store does not let {name} sign in: {status}")
        life_s = float(headers.get("X-Auth-Token-Expires") or _UNKNOWN_LIFE_S)
        until_s = time.monotonic() + max(life_s - _RENEWED_BEFORE_S, life_s / 2)
        return Login(name, url if own else url.rstrip("/").rpartition("/")[0], own, token, until_s)
