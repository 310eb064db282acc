"""A browser's access to the API: a password, a cookie, and the proof for changes."""

from __future__ import annotations

import httpx

from tests.support.api import Api
from zoe_api.people.sign_in import passwords
from zoe_lib.store.errors import ConcurrentUpdate
from zoe_lib.store.people import User

PASSWORD = "correct horse battery"


class Browser:
    """The browser of a user with a password, who is a member of `red`."""

    def __init__(self, api: Api, user: str = "ben", role: str = "user", tenant: str = "red") -> None:
        self.user = user
        try:
            api.store.accounts.add_user(User(user, passwords.hash_password(PASSWORD)))
        except ConcurrentUpdate:
            api.store.accounts.set_password(user, passwords.hash_password(PASSWORD))
        api.store.accounts.ensure_member(user, tenant, role)
        self.http = api.http(None)

    def try_to_sign_in(self, password: str = PASSWORD, tenant: str | None = None) -> httpx.Response:
        body = {"user": self.user, "password": password, "tenant": tenant}
        return self.http.post("/api/v1/session", json=body)

    def sign_in(self, tenant: str | None = None) -> dict[str, object]:
        """Sign in; changes carry the token from now on."""
        answer = self.try_to_sign_in(tenant=tenant)
        assert answer.status_code == 200, answer.text
        found: dict[str, object] = answer.json()
        return found

    def use(self, tenant: str | None = None) -> httpx.Client:
        """Return the client, signed in and with the token."""
        self.http.headers["X-CSRF-Token"] = str(self.sign_in(tenant)["csrf_token"])
        return self.http
