"""The storage controller's requests to Swift, as a reseller admin or with a tenant's token."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from storage_controller.answers import RequestRefusedError
from zoe_client.words.connections import failure_words
from zoe_lib.http.swift_sign_in import NotSignedIn, sign_in_request, signed_in

UNAUTHORIZED = 401
TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class SwiftAdmin:
    """Sign-in of the controller to Swift (`zoe_lib/http/swift_sign_in.py`), and the names of tenants' accounts."""

    auth_url: str
    user: str
    key: str
    account_prefix: str = "AUTH_"


class SwiftHttp:
    """Requests below accounts. Raises RequestRefusedError with 503 while Swift cannot be reached."""

    def __init__(self, admin: SwiftAdmin) -> None:
        self.admin = admin
        self._http = httpx.Client(timeout=TIMEOUT_S, limits=httpx.Limits(max_keepalive_connections=0))
        self._lock = threading.Lock()
        self._token = ""
        self._root = ""

    def account_of(self, tenant: str) -> str:
        """Return the name of a tenant's account."""
        return self.admin.account_prefix + tenant

    def site(self, timeout_s: float = TIMEOUT_S) -> str:
        """Return scheme, host and port of the accounts."""
        try:
            _, root = self._login(fresh=False, timeout_s=timeout_s)
        except httpx.HTTPError as error:
            raise _unreachable(error) from None
        parts = urlsplit(root)
        return f"{parts.scheme}://{parts.netloc}"

    def look(self, timeout_s: float) -> None:
        """Return if a proxy answers, with any status. Raises RequestRefusedError if none does in time."""
        try:
            self._http.get(f"{self.site(timeout_s)}/healthcheck", timeout=timeout_s)
        except httpx.HTTPError as error:
            raise _unreachable(error) from None

    def storage_policies(self) -> list[Mapping[str, Any]]:
        """Return the storage policies in Swift's `/info`. Raises RequestRefusedError."""
        try:
            answer = self._http.get(f"{self.site()}/info")
            policies = answer.raise_for_status().json()["swift"]["policies"]
        except httpx.HTTPError as error:
            raise _unreachable(error) from None
        except (ValueError, LookupError, TypeError):
            raise RequestRefusedError(503, "Swift does not list its storage policies in /info") from None
        return [
            {"name": policy["name"], "aliases": policy["aliases"], "default": policy.get("default", False)}
            for policy in policies
        ]

    def ask(
        self,
        method: str,
        account: str,
        path: str,
        headers: dict[str, str],
        timeout_s: float = TIMEOUT_S,
        token: str = "",
    ) -> httpx.Response:
        """Return an answer with an unread body; `path` is quoted, below the account. token: default: the admin's.
        Raises RequestRefusedError with 422 for a path that could lead elsewhere.
        """
        check_path(path)
        try:
            for fresh in (False, True):
                own, root = self._login(fresh, timeout_s)
                request_headers = {**headers, "X-Auth-Token": token or own}
                url = f"{root}/{quote(account, safe='')}/{path}"
                request = self._http.build_request(method, url, headers=request_headers, timeout=timeout_s)
                answer = self._http.send(request, stream=True)
                if answer.status_code != UNAUTHORIZED or fresh or token:
                    break
                answer.close()
        except httpx.HTTPError as error:
            raise _unreachable(error) from None
        return answer

    def _login(self, fresh: bool, timeout_s: float) -> tuple[str, str]:
        with self._lock:
            if fresh or not self._token:
                wanted = sign_in_request(self.admin.auth_url, self.admin.user, self.admin.key)
                answer = self._http.request(
                    wanted.method, wanted.url, headers=wanted.headers, content=wanted.content, timeout=timeout_s
                )
                if not answer.is_success:
                    raise RequestRefusedError(
                        503, f"Swift refuses the login of the storage controller: {answer.status_code}"
                    )
                try:
                    found = signed_in(self.admin.auth_url, answer.headers, answer.content)
                except NotSignedIn as error:
                    raise RequestRefusedError(
                        503, f"Swift refuses the login of the storage controller: {error}"
                    ) from None
                self._token, self._root = found.token, found.account_url.rpartition("/")[0]
            return self._token, self._root


def check_path(path: str) -> None:
    """Refuse a quoted path with a part `.` or `..`, which HTTP clients and proxies remove: the rest names another
    object.
    """
    if {".", ".."} & set(path.partition("?")[0].split("/")):
        raise RequestRefusedError(422, "the name of an object with a part `.` or `..` cannot be sent to Swift")


def _unreachable(error: httpx.HTTPError) -> RequestRefusedError:
    return RequestRefusedError(503, f"cannot reach Swift: {failure_words(error)}")
