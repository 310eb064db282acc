"""A test's own object store, and users who sign in to it."""

from __future__ import annotations

import gzip
import json
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.needs import need_program
from tests.support.swift_forks import ForkedStore
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.configuration import StoreConfiguration, StoreUser
from zoe_embedded.swift.store import ObjectStore

ADMIN = StoreUser("controller", "controller", "controller-key", (".admin", ".reseller_admin"))
USERS = (ADMIN, StoreUser("acme", "ann", f"ann-{secrets.token_hex(12)}"), StoreUser("beta", "bob", "bob-key"))


@contextmanager
def object_store(
    make: Callable[..., ObjectStore] = ForkedStore, users: Sequence[StoreUser] = USERS, **changes: Any
) -> Iterator[Any]:
    """It runs with these users, and is removed in the end. `make` makes another kind of store."""
    need_program("memcached")
    home = Home.find(CLONE).create()
    account = home.server_account
    with tempfile.TemporaryDirectory(prefix="zoe-swift-") as apart:
        Path(apart).chmod(0o711)
        for name in sorted(
            {"controller", "executions_secret", "keyring"} & changes.keys()
        ):  # the controller first: it has the secret
            changes[name] = changes[name](Path(apart), account)
        configuration = StoreConfiguration(users, run_as=account.name if account else None, **changes)
        with make(home, Path(apart) / "swift", configuration) as store:
            yield store


@dataclass
class Person:
    """A signed-in user; `account_url` is the account used."""

    http: httpx.Client
    account_url: str

    @property
    def token(self) -> str:
        """The token with which Swift identifies the user."""
        return str(self.http.headers["X-Auth-Token"])

    def call(self, method: str, path: str = "", **arguments: Any) -> httpx.Response:
        return self.http.request(method, f"{self.account_url}/{path}" if path else self.account_url, **arguments)

    def put(self, path: str, content: bytes = b"", **headers: str) -> None:
        answer = self.call("PUT", path, content=content, headers=headers)
        assert answer.is_success, (answer.status_code, answer.text)

    def listing(self, container: str) -> list[dict[str, Any]]:
        answer = self.call("GET", f"{container}?format=json")
        assert answer.status_code == 200, (answer.status_code, answer.text)
        found: list[dict[str, Any]] = answer.json()
        return found

    def view(self, name: str) -> bytes:
        """Return the content of a view."""
        parts = [self.call("GET", f"{name}/{entry['name']}") for entry in self.listing(name)]
        assert all(part.status_code == 200 for part in parts), [(part.status_code, part.text) for part in parts]
        return b"".join(gzip.decompress(part.content) for part in parts)


@contextmanager
def logged_in(store: ObjectStore, login: str, account_url: str = "") -> Iterator[Person]:
    user = store.user(login)
    with httpx.Client(timeout=60) as http:
        answer = http.get(store.auth_url, headers={"X-Auth-User": user.login, "X-Auth-Key": user.key})
        assert answer.status_code == 200, answer.text
        http.headers["X-Auth-Token"] = answer.headers["X-Auth-Token"]
        yield Person(http, account_url or answer.headers["X-Storage-Url"])


def empty(person: Person) -> None:
    """Remove all containers of an account, as a user who may also remove views."""
    answer = person.call("GET", params={"format": "json"})
    for container in [] if answer.status_code == 404 else answer.json():
        name = container["name"]
        if person.call("DELETE", name).status_code == 409:
            for entry in person.listing(name):
                person.call("DELETE", f"{name}/{entry['name']}")
            assert person.call("DELETE", name).is_success, name


def definition(container: str, **fields: Any) -> dict[str, str]:
    """The header that makes a view."""
    return {"X-Zoe-View": json.dumps({"container": container, "csv": {"header": True}, **fields})}
