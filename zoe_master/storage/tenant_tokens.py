"""Sign in to Swift as a tenant, so that Zoe reads only what the tenant may read. The key stays with the master."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import unquote

import httpx

from storage_bridge.model import UNREADABLE, View
from zoe_client.http.tls import verification
from zoe_client.words.connections import failure_words
from zoe_lib.domain.values.storage import Credential
from zoe_lib.http.swift_sign_in import NotSignedIn, sign_in_request, signed_in

NO_CREDENTIAL = "its tenant has no stored credential for the service of the source"
OTHER_ACCOUNT = (
    "the tenant's stored credential belongs to another account, but views are made in the tenant's own account"
)
_TIMEOUT_S = 10.0
_FORBIDDEN = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)


class NoAccessError(Exception):
    """The tenant's objects cannot be read as the tenant; the message says why, and reveals nothing about the
    objects.
    """


class NoAnswerError(NoAccessError):
    """The object store does not answer the sign-in; a retry may help."""


SignIn = Callable[[View], str]
"""Returns a short-lived token of a view's tenant for the view's source. NoAccessError, NoAnswerError."""


def no_token(_view: View) -> str:
    """Return an empty token, for controllers that read nothing."""
    return ""


class TenantTokens:
    """Signs in with Swift's authentication (v1), or at Keystone.

    auth_urls: by the names of services; credentials: returns those of a tenant, by the names of services.
    """

    def __init__(self, auth_urls: Mapping[str, str], credentials: Callable[[str], Mapping[str, Credential]]) -> None:
        self._auth_urls = auth_urls
        self._credentials = credentials

    def __call__(self, view: View) -> str:
        """Return a valid token. NoAccessError."""
        service = view.place.service
        credential = self._credentials(view.tenant).get(service)
        if credential is None or service not in self._auth_urls:
            raise NoAccessError(NO_CREDENTIAL)
        url = self._auth_urls[service]
        wanted = sign_in_request(url, credential.user, credential.key)
        try:
            answer = httpx.request(
                wanted.method,
                wanted.url,
                headers=wanted.headers,
                content=wanted.content,
                timeout=_TIMEOUT_S,
                verify=verification(url),
            )
        except httpx.HTTPError as error:
            raise NoAnswerError(f"cannot reach the object store: {failure_words(error)}") from None
        if answer.status_code in _FORBIDDEN:
            raise NoAccessError(UNREADABLE)
        if answer.is_server_error:
            raise NoAnswerError(f"the object store answers {answer.status_code} to the tenant's sign-in")
        if not answer.is_success:
            raise NoAccessError(f"the object store answers {answer.status_code} to the tenant's sign-in")
        try:
            found = signed_in(url, answer.headers, answer.content)
        except NotSignedIn as error:
            raise NoAccessError(f"the object store refuses the tenant's sign-in: {error}") from None
        if _is_of_another(found.account_url, view.tenant):
            raise NoAccessError(OTHER_ACCOUNT)
        return found.token


def _is_of_another(storage_url: str, tenant: str) -> bool:
    """Return whether a sign-in leads to another account than the tenant's, which is a prefix and the tenant's name.

    Only the controller knows the prefix. Programs that use the credential read that other account, and would find none
    of the tenant's views there.
    """
    account = unquote(storage_url.rstrip("/").rpartition("/")[2])
    return bool(account) and not account.endswith(tenant)
