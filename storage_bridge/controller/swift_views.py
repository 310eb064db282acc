"""Makes views in Swift of what their tenants may read: containers that `storage_bridge.swift.views` fills."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from urllib.parse import quote

import httpx

from storage_bridge.controller.answers import Refused
from storage_bridge.controller.sampling import sample
from storage_bridge.controller.sources import defined, names_of
from storage_bridge.model import UNREADABLE, View, ViewSample

_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE = 401, 403, 404, 410
_TIMEOUT_S = 30.0
# Who sets an SLO waits for it.
_LOOK_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class SwiftAdmin:
    """How the controller logs in to Swift (v1 authentication), and how accounts of tenants are called."""

    auth_url: str
    user: str
    key: str
    account_prefix: str = "AUTH_"


class SwiftViews:
    """Idempotent: made again it is the same, removed again nothing."""

    def __init__(self, admin: SwiftAdmin) -> None:
        self._admin = admin
        self._http = httpx.Client(timeout=_TIMEOUT_S, limits=httpx.Limits(max_keepalive_connections=0))
        self._lock = threading.Lock()
        self._token = ""
        self._root = ""

    def has_account(self, tenant: str) -> bool:
        """False where Swift says that there is none, or no more; True also while it does not answer.

        Swift that makes accounts when they are first written to (`account_autocreate`) says so of deleted ones only.
        """
        try:
            answer = self._ask("HEAD", tenant, "", {}, _LOOK_TIMEOUT_S)
        except Refused:
            return True
        answer.close()
        return answer.status_code not in (_NOT_FOUND, _GONE)

    def make(self, view: View) -> None:
        """Refused: with Swift's own words when the wish makes no sense, 503 when Swift is away.

        Of a source that the view's token does not read nothing else is said. What the reseller admin finds in it is
        what its tenant may read.
        """
        definition = json.loads(defined(view).to_json())
        if not (names := self._readable_names(view)):
            raise Refused(422, "the names of the columns are needed: there is no object with a header")
        definition["names"] = list(names)
        answer = self._call("PUT", view, {"X-Zoe-View": json.dumps(definition)})
        if not answer.is_success:
            status = answer.status_code if answer.is_client_error else 503
            raise Refused(422 if status not in (_NOT_FOUND, 503) else status, answer.text.strip() or str(status))

    def remove(self, view: View) -> None:
        """Refused with 503 when Swift does not do it."""
        answer = self._call("DELETE", view, {})
        if not answer.is_success and answer.status_code != _NOT_FOUND:
            raise Refused(503, f"Swift answers {answer.status_code} to the removal of a view")

    def sample(self, view: View, rate_bytes_per_s: int | None) -> ViewSample:
        """What a part of its source takes to read, plainly and through the view. Refused."""
        return sample(view, lambda path, headers: self._read(view, path, headers), rate_bytes_per_s)

    def _readable_names(self, view: View) -> tuple[str, ...]:
        """The names of the source's columns, as its tenant reads them; none without an object that has them."""
        return names_of(view, lambda path, headers: self._read(view, path, headers))

    def _read(self, view: View, path: str, headers: dict[str, str]) -> httpx.Response:
        """GET with the tenant's token. Refused for whatever is not its to read."""
        if not view.token:
            raise Refused(403, UNREADABLE)
        answer = self._ask("GET", view.tenant, path, headers, token=view.token)
        if answer.status_code in (_UNAUTHORIZED, _FORBIDDEN):
            answer.close()
            raise Refused(403, UNREADABLE)
        return answer

    def _call(self, method: str, view: View, headers: dict[str, str]) -> httpx.Response:
        answer = self._ask(method, view.tenant, quote(view.container, safe=""), headers)
        try:
            answer.read()
        except httpx.HTTPError as error:
            raise Refused(503, f"Swift cannot be reached: {error or type(error).__name__}") from None
        finally:
            answer.close()
        return answer

    def _ask(
        self,
        method: str,
        tenant: str,
        path: str,
        headers: dict[str, str],
        timeout_s: float = _TIMEOUT_S,
        token: str = "",
    ) -> httpx.Response:
        """An answer whose body is still to be read; `path` is below the tenant's account. token: else the admin's."""
        account = quote(self._admin.account_prefix + tenant, safe="")
        try:
            for fresh in (False, True):
                own, root = self._login(fresh, timeout_s)
                asked = {**headers, "X-Auth-Token": token or own}
                request = self._http.build_request(method, f"{root}/{account}/{path}", headers=asked, timeout=timeout_s)
                answer = self._http.send(request, stream=True)
                if answer.status_code != _UNAUTHORIZED or fresh or token:
                    break
                answer.close()
        except httpx.HTTPError as error:
            raise Refused(503, f"Swift cannot be reached: {error or type(error).__name__}") from None
        return answer

    def _login(self, fresh: bool, timeout_s: float) -> tuple[str, str]:
        with self._lock:
            if fresh or not self._token:
                user = {"X-Auth-User": self._admin.user, "X-Auth-Key": self._admin.key}
                answer = self._http.get(self._admin.auth_url, headers=user, timeout=timeout_s)
                if not answer.is_success:
                    raise Refused(503, f"Swift does not let the storage controller in: {answer.status_code}")
                self._token = answer.headers["X-Auth-Token"]
                self._root = answer.headers["X-Storage-Url"].rpartition("/")[0]
            return self._token, self._root
