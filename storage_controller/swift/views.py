"""Create views in Swift, with the rights of their tenants: containers that `storage_filters.views.middleware` fills."""

from __future__ import annotations

import json
from urllib.parse import quote

import httpx

from storage_bridge.model import UNREADABLE, View, ViewSample
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import UNAUTHORIZED, SwiftAdmin, SwiftHttp
from storage_controller.swift.sampling import sample
from storage_controller.swift.sources import definition_of, names_of

__all__ = ["SwiftAdmin", "SwiftViews"]

_FORBIDDEN, _NOT_FOUND, _GONE = 403, 404, 410
# A client that sets an SLO waits for it.
_LOOK_TIMEOUT_S = 1.0


class SwiftViews:
    """Idempotent: creating an existing view changes nothing, and neither does removing a missing one."""

    def __init__(self, admin: SwiftAdmin) -> None:
        self.line = SwiftHttp(admin)

    def has_account(self, tenant: str) -> bool:
        """Return False if Swift reports that the tenant has no account, or no longer; True also while Swift does not
        answer.

        If Swift creates accounts on the first write (`account_autocreate`), it reports only deleted ones as missing.
        """
        try:
            answer = self.line.ask("HEAD", self.line.account_of(tenant), "", {}, _LOOK_TIMEOUT_S)
        except RequestRefusedError:
            return True
        answer.close()
        return answer.status_code not in (_NOT_FOUND, _GONE)

    def make(self, view: View) -> None:
        """Create the view. Raises RequestRefusedError: with Swift's message if the definition is invalid, 503 if
        Swift is away.

        If the view's token cannot read the source, the error says nothing else about it. The reseller admin finds only
        data in the source that its tenant may read.
        """
        definition = json.loads(definition_of(view).to_json())
        if not (names := self._readable_names(view)):
            raise RequestRefusedError(422, "give the names of the columns: no object has a header")
        definition["names"] = list(names)
        answer = self._call("PUT", view, {"X-Zoe-View": json.dumps(definition)})
        if not answer.is_success:
            status = answer.status_code if answer.is_client_error else 503
            raise RequestRefusedError(
                422 if status not in (_NOT_FOUND, 503) else status, answer.text.strip() or str(status)
            )

    def remove(self, view: View) -> None:
        """Remove the view. Raises RequestRefusedError with 503 if Swift does not remove it."""
        answer = self._call("DELETE", view, {})
        if not answer.is_success and answer.status_code != _NOT_FOUND:
            raise RequestRefusedError(503, f"Swift answers {answer.status_code} to the removal of a view")

    def sample(self, view: View, rate_bytes_per_s: int | None) -> ViewSample:
        """Return measurements of reading part of its source, plainly and through the view. Raises
        RequestRefusedError.
        """
        return sample(view, lambda path, headers: self._read(view, path, headers), rate_bytes_per_s)

    def _readable_names(self, view: View) -> tuple[str, ...]:
        """Return the names of the source's columns, as its tenant reads them; empty if no object has them."""
        return names_of(view, lambda path, headers: self._read(view, path, headers))

    def _read(self, view: View, path: str, headers: dict[str, str]) -> httpx.Response:
        """Send GET with the tenant's token. Raises RequestRefusedError for everything that the tenant may not read."""
        if not view.token:
            raise RequestRefusedError(403, UNREADABLE)
        answer = self.line.ask("GET", self.line.account_of(view.tenant), path, headers, token=view.token)
        if answer.status_code in (UNAUTHORIZED, _FORBIDDEN):
            answer.close()
            raise RequestRefusedError(403, UNREADABLE)
        return answer

    def _call(self, method: str, view: View, headers: dict[str, str]) -> httpx.Response:
        answer = self.line.ask(method, self.line.account_of(view.tenant), quote(view.container, safe=""), headers)
        try:
            answer.read()
        except httpx.HTTPError as error:
            raise RequestRefusedError(503, f"cannot reach Swift: {error or type(error).__name__}") from None
        finally:
            answer.close()
        return answer
