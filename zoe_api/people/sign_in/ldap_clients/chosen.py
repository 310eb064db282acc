"""Choose the LDAP client of each directory."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import structlog

from zoe_api.people.sign_in.ldap_clients.base import LdapClient
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.settings.config import Settings
from zoe_lib.settings.sign_in_settings import LdapSettings

log = structlog.get_logger(__name__)


class ClientMissing(Exception):  # noqa: N818 - the name is the fact
    """A directory names a client that is not installed; the message has its name, and the remedy."""


def client_of(settings: LdapSettings, clock: Clock = SYSTEM_CLOCK) -> LdapClient:
    """Return the client of a directory."""
    # Each only if a directory uses it: importing ldap3 takes a tenth of the API's start.
    if settings.client == "bonsai":
        from zoe_api.people.sign_in.ldap_clients.bonsai_client import BonsaiClient

        return BonsaiClient(settings, clock)
    from zoe_api.people.sign_in.ldap_clients.ldap3_client import Ldap3Client

    return Ldap3Client(settings, clock)


def clients(settings: Settings) -> dict[str, str]:
    """Return client and version of each directory, such as `ldap3 2.9.1`. ClientMissing."""
    return {name: f"{entry.client} {_client_version(name, entry.client)}" for name, entry in settings.ldap.items()}


def log_clients(settings: Settings) -> None:
    """Log which client each directory uses. ClientMissing."""
    for name, client in clients(settings).items():
        log.info("ldap_client", provider=name, client=client)


def _client_version(directory: str, client: str) -> str:
    try:
        return version(client)
    except PackageNotFoundError:
        raise ClientMissing(
            f"ldap.{directory}.client is {client!r}, which is not installed: install zoe-analytics[{client}] "
            "(needs a C compiler and the headers of libldap and libsasl2), or use 'ldap3'"
        ) from None
