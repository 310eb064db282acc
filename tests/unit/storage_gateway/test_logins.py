"""The gateway's user at the store, by account."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from storage_gateway.logins import Logins, StoreAway, StoreSettings

URL = "http://store:8080/swift/v1/AUTH_"


class Store:
    """Lets every user with the key `good` sign in."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def sign_in(self, user: str, key: str) -> tuple[int, Mapping[str, str]]:
        self.asked.append(user)
        if key != "good":
            return 403, {}
        return 204, {"X-Storage-Url": URL + user.partition(":")[0], "X-Auth-Token": f"{user}-{len(self.asked)}"}


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def accounts(tmp_path: Path) -> Path:
    file = tmp_path / "accounts.json"
    file.write_text(json.dumps({"AUTH_acme": {"user": "acme:swift", "key": "good"}}))
    return file


@pytest.fixture
def logins(store: Store, accounts: Path, tmp_path: Path) -> Logins:
    key = tmp_path / "key"
    key.write_text("good\n")
    return Logins(StoreSettings("http://store:8080/auth/v1.0", "all:all", key, accounts), store.sign_in)


def test_an_account_with_a_user_of_its_own_is_where_that_user_is(logins: Logins) -> None:
    own, other = logins.login_for("AUTH_acme"), logins.login_for("AUTH_beta")
    assert (own.name, own.own) == ("acme:swift", True)
    assert own.path("/AUTH_acme/c/ä b") == "/swift/v1/AUTH_acme/c/%C3%A4%20b"
    assert own.path("/AUTH_acme") == "/swift/v1/AUTH_acme"
    assert (other.name, other.path("/AUTH_beta/c")) == ("all:all", "/swift/v1/AUTH_beta/c")


def test_a_token_is_kept_until_the_store_forgets_it(logins: Logins, store: Store) -> None:
    first = logins.login_for("AUTH_acme")
    assert logins.login_for("AUTH_acme") is first
    logins.forget(first)
    second = logins.login_for("AUTH_acme")
    assert (second.token, store.asked) == ("acme:swift-2", ["acme:swift"] * 2)
    logins.forget(first)  # one that came late with the old token
    assert logins.login_for("AUTH_acme") is second


def test_the_file_is_read_again_when_it_changes(logins: Logins, accounts: Path) -> None:
    assert logins.login_for("AUTH_new").name == "all:all"
    accounts.write_text(json.dumps({"AUTH_new": {"user": "new:swift", "key": "good"}}))
    os.utime(accounts, ns=(1, 1))
    assert logins.login_for("AUTH_new").name == "new:swift"


@pytest.mark.parametrize("text", ["", "[]", '{"AUTH_acme": 3}', '{"AUTH_acme": {"user": "acme:swift"}}'])
def test_a_file_that_names_no_users_is_told(logins: Logins, accounts: Path, text: str) -> None:
    accounts.write_text(text)
    os.utime(accounts, ns=(2, 2))
    with pytest.raises(StoreAway, match="does not list the users of accounts"):
        logins.login_for("AUTH_acme")


def test_refused_sign_in_is_reported(logins: Logins, accounts: Path) -> None:
    accounts.write_text(json.dumps({"AUTH_acme": {"user": "acme:swift", "key": "bad"}}))
    os.utime(accounts, ns=(3, 3))
    with pytest.raises(StoreAway, match="does not let acme:swift sign in: 403"):
        logins.login_for("AUTH_acme")
