"""A Swift store behind the gateway: Swift itself, or Ceph's RADOS gateway."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import urlsplit

from swift.common.utils import HeaderKeyDict

from storage_gateway.connections import Connections, StoreAnswer, Upload
from storage_gateway.logins import Login, Logins, StoreAway, StoreSettings

_UNAUTHORISED = 401
_T = TypeVar("_T")


class SwiftStore:
    """Sends requests of all accounts, each as a user with the necessary rights."""

    needs_length = False
    judges_conditions = True

    def __init__(self, settings: StoreSettings) -> None:
        self._url = settings.url
        self._connections = Connections(settings.connect_s, settings.wait_s)
        self._logins = Logins(settings, self._sign_in)

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], query: str = "", body: bytes | None = None
    ) -> StoreAnswer:
        """Return the answer to a request without a body, or with a short one; StoreAway. path: `/account/...`."""
        length = {} if body is None else {"Content-Length": str(len(body))}

        def send(login: Login) -> StoreAnswer:
            sent = {**headers, **length, "X-Auth-Token": login.token}
            return self._connections.ask(method, login.url, login.path(path), sent, query, body or b"")

        return self._retry_with_login(path, send, lambda answer: answer)

    def upload(self, path: str, headers: Mapping[str, str]) -> Upload:
        """Return the connection to which a body is sent, once the store wants it; StoreAway."""

        def send(login: Login) -> Upload:
            return self._connections.upload(login.url, login.path(path), {**headers, "X-Auth-Token": login.token})

        return self._retry_with_login(path, send, lambda upload: upload.refused)

    def replace(self, path: str, _before: StoreAnswer, headers: Mapping[str, str]) -> StoreAnswer:
        """Return the answer to a change of metadata alone; StoreAway."""
        return self.ask("POST", path, headers)

    def _retry_with_login(
        self, path: str, send: Callable[[Login], _T], answer_of: Callable[[_T], StoreAnswer | None]
    ) -> _T:
        """Return the result of a request; it is sent once more if the store no longer accepts the token."""
        for again in (True, False):
            login = self._logins.login_for(path.strip("/").partition("/")[0])
            found = send(login)
            answer = answer_of(found)
            if answer is None or answer.status != _UNAUTHORISED:
                return found
            answer.close()
            self._logins.forget(login)
            if not again:
                break
        raise StoreAway(f"the store refuses the sign-in of {login.name}; check its password")

    def _sign_in(self, user: str, key: str) -> tuple[int, HeaderKeyDict]:
        sent = {"X-Auth-User": user, "X-Auth-Key": key}
        answer = self._connections.ask("GET", self._url, urlsplit(self._url).path, sent)
        answer.body()
        return answer.status, answer.headers
