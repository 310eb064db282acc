"""The clients of LDAP directories, each of which passes one suite."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.needs import need_header, need_program
from zoe_api.people.sign_in.ldap import Ldap
from zoe_api.people.sign_in.ldap_clients.base import LdapClient
from zoe_api.people.sign_in.ldap_clients.bonsai_client import BonsaiClient
from zoe_api.people.sign_in.ldap_clients.ldap3_client import Ldap3Client
from zoe_embedded.home import Home
from zoe_embedded.runtimes.locked_programs import ensure_program
from zoe_embedded.runtimes.runtime import CLONE
from zoe_lib.settings.sign_in_settings import LdapSettings

Make = Callable[[LdapSettings], LdapClient]


def client(name: str) -> Make:
    """Return a factory of a client; skip where bonsai cannot be built. It is built once for all clones."""
    if name == "ldap3":
        return Ldap3Client
    need_program("gcc")
    need_header("ldap.h")
    need_header("sasl/sasl.h")
    python = ensure_program(Home.find(CLONE).create(), "bonsai", "python")
    return lambda settings: BonsaiClient(settings, python=str(python))


def asking(make: Make, settings: LdapSettings) -> Ldap:
    """Return a directory with these settings and this client."""
    return Ldap("corp", settings, client=make(settings))
