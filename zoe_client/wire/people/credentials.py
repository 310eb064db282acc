"""A tenant's logins to services of the object store. Responses never contain keys."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Wire

TEXT_MAX = 4096
_PRINTABLE = r"^[^\x00-\x1f\x7f]+$"


class CredentialRequest(Wire):
    """A login to a service: the user and key of Swift, or the access key and secret key of S3."""

    user: str = Field(min_length=1, max_length=TEXT_MAX, pattern=_PRINTABLE, examples=["acme:ann"])
    key: str = Field(min_length=1, max_length=TEXT_MAX, pattern=_PRINTABLE, repr=False)


class CredentialView(Wire):
    """A stored credential: its user, who set it, and when; the key is never returned."""

    tenant: str
    service: str
    user: str
    set_at_s: float
    set_by: str


class CredentialList(Wire):
    """All credentials of a tenant, and the services of this installation."""

    credentials: list[CredentialView]
    services: list[str]
