"""Zoe's sign-in to Swift: version 1 of its own authentication, or Keystone with an application credential.

Keystone's address ends in `/v3`. An application credential belongs to a user and a project and has at most the roles
that its user gave it; its id and its secret take the places of user and key. Source:
https://docs.openstack.org/api-ref/identity/v3/#authenticating-with-an-application-credential
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ANSWER_BYTES_MAX = 8 << 20
"""Maximum of an answer with a catalogue."""
_KEYSTONE, _STORE, _PUBLIC = "/v3", "object-store", "public"


class NotSignedIn(Exception):  # noqa: N818 - the name is the fact
    """The answer has no token, or no address of an account; the message names the missing part."""


@dataclass(frozen=True, slots=True)
class SignInRequest:
    """The request to send. content: JSON, or nothing."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A token, and the URL of its account."""

    token: str = field(repr=False)
    account_url: str


def sign_in_request(auth_url: str, user: str, key: str) -> SignInRequest:
    """Return the request for a sign-in at an address."""
    if not _is_keystone(auth_url):
        return SignInRequest("GET", auth_url, {"X-Auth-User": user, "X-Auth-Key": key})
    credential = {"methods": ["application_credential"], "application_credential": {"id": user, "secret": key}}
    content = json.dumps({"auth": {"identity": credential}}).encode()
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    return SignInRequest("POST", f"{auth_url.rstrip('/')}/auth/tokens", headers, content)


def signed_in(auth_url: str, headers: Mapping[str, str], content: bytes) -> SignedIn:
    """Return the token and account in a successful answer. headers: those of the answer, in any case. NotSignedIn."""
    told = {name.lower(): value for name, value in headers.items()}
    keystone = _is_keystone(auth_url)
    token = told.get("x-subject-token" if keystone else "x-auth-token", "")
    if not token:
        raise NotSignedIn("the answer has no token")
    account_url = _of_catalogue(content) if keystone else told.get("x-storage-url", "")
    if not account_url:
        raise NotSignedIn("the answer has no address of an account")
    return SignedIn(token, account_url.rstrip("/"))


def _is_keystone(auth_url: str) -> bool:
    return auth_url.rstrip("/").endswith(_KEYSTONE)


def _of_catalogue(content: bytes) -> str:
    try:
        services: list[dict[str, Any]] = json.loads(content)["token"]["catalog"]
        endpoints = [entry for service in services if service["type"] == _STORE for entry in service["endpoints"]]
        return str(next(endpoint["url"] for endpoint in endpoints if endpoint["interface"] == _PUBLIC))
    except StopIteration:
        raise NotSignedIn(
            "Keystone's catalogue has no public address of an object store: add an endpoint of the type object-store"
        ) from None
    except (ValueError, LookupError, TypeError):
        raise NotSignedIn("Keystone's answer has no catalogue: check the project of the user") from None
