"""LDAP: search the one entry of a user, and bind as it with the typed password (RFC 4513)."""

from __future__ import annotations

import math
import socket
import ssl
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from ldap3 import NONE, Connection, Server, Tls
from ldap3.core.exceptions import (
    LDAPConstraintViolationResult,
    LDAPException,
    LDAPInappropriateAuthenticationResult,
    LDAPInsufficientAccessRightsResult,
    LDAPInvalidCredentialsResult,
    LDAPNoSuchObjectResult,
    LDAPSASLPrepError,
    LDAPSizeLimitExceededResult,
    LDAPUnwillingToPerformResult,
)
from ldap3.utils.conv import escape_filter_chars

from zoe_api.sign_in.identity import Identity
from zoe_api.sign_in.provider_errors import provider_unavailable
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.sign_in_settings import LdapSettings

# How directories refuse a user's bind (RFC 4511, appendix A): a wrong password, an entry without one, a locked or
# expired account, invalid characters. All count as a wrong password, so that strangers learn nothing about entries.
_NOT_LET_IN = (
    LDAPInvalidCredentialsResult,
    LDAPInappropriateAuthenticationResult,
    LDAPConstraintViolationResult,
    LDAPUnwillingToPerformResult,
    LDAPInsufficientAccessRightsResult,
    LDAPNoSuchObjectResult,
    LDAPSASLPrepError,
)
# What ldap3 raises when it decodes an answer that is not LDAP, or is incomplete.
_MALFORMED = (LookupError, ValueError, TypeError, AttributeError, AssertionError, RecursionError)


def alike(user: str) -> str:
    """Return the same text for all names that a directory may treat as equal (RFC 4518): case, spaces, invisible
    characters."""
    folded = unicodedata.normalize("NFKC", user).casefold()
    return "".join(letter for letter in folded if unicodedata.category(letter)[0] in "LNPS")


class Ldap:
    """A directory."""

    def __init__(self, name: str, settings: LdapSettings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._name = name
        self._settings = settings

    def identity(self, user: str, password: str) -> Identity | None:
        """Return the identity with this password; None if it is wrong or the user does not exist. 502 without an
        answer."""
        # Without a password a bind is anonymous and succeeds for any name (RFC 4513, section 5.1.2).
        if not password or not user:
            return None
        until_s = self._clock.monotonic_s() + self._settings.timeout_s
        with self._searching(until_s) as searching:
            entry = self._find(searching, user)
            if entry is None:
                return None
            dn, subject = entry
            if not self._binds(dn, password, until_s):
                return None
            return Identity(self._name, subject, user, self._groups(searching, dn))

    def still(self, user: str, subject: str) -> Identity | None:
        """Return the present identity of a user who signed in before, with the present groups; None if the directory
        has no such entry any more. 502 without an answer."""
        with self._searching(self._clock.monotonic_s() + self._settings.timeout_s) as searching:
            entry = self._find(searching, user)
            if entry is None or entry[1] != subject:  # the entry may have another name now
                entry = self._find_subject(searching, subject)
            if entry is None or entry[1] != subject:
                return None
            return Identity(self._name, subject, user, self._groups(searching, entry[0]))

    @contextmanager
    def _searching(self, until_s: float) -> Iterator[Connection]:
        """Yield a connection for searches; failures of the directory become 502."""
        settings = self._settings
        secret = settings.bind_password_file.read_text().rstrip("\n") if settings.bind_password_file else ""
        try:
            with self._bound(settings.bind_dn, secret, until_s) as searching:
                yield searching
        except (LDAPException, OSError) as error:
            raise provider_unavailable(self._name, str(error) or type(error).__name__) from None
        except _MALFORMED as error:
            raise provider_unavailable(self._name, f"its answer cannot be read: {type(error).__name__}") from None

    @contextmanager
    def _bound(self, dn: str, password: str, until_s: float) -> Iterator[Connection]:
        """Yield a connection bound as this entry, which breaks at `until_s` of the monotonic clock."""
        settings = self._settings
        left_s = until_s - self._clock.monotonic_s()
        if left_s <= 0:
            raise LDAPException("no answer in time")
        parts = urlsplit(settings.url)
        tls = Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=str(settings.ca_file) if settings.ca_file else None)
        server = Server(
            parts.hostname or "",
            port=parts.port or (636 if parts.scheme == "ldaps" else 389),
            use_ssl=parts.scheme == "ldaps",
            tls=tls,
            get_info=NONE,
            connect_timeout=left_s,
        )
        connection = Connection(
            server,
            user=dn or None,
            password=password or None,
            auto_referrals=False,
            raise_exceptions=True,
            read_only=True,
            receive_timeout=math.ceil(settings.timeout_s),  # a socket option in whole seconds
        )
        with _broken_after(connection, left_s):
            try:
                connection.open()
                if settings.start_tls and not connection.start_tls():
                    raise LDAPException("the directory refuses TLS")
                if not connection.bind():
                    raise LDAPException("the directory refuses to bind")
                yield connection
            finally:
                connection.strategy.close()
                if connection.socket is not None:  # it was not opened far enough to be closed
                    connection.socket.close()

    def _find(self, searching: Connection, user: str) -> tuple[str, str] | None:
        """Return DN and subject of the one entry; None if there is none, or more than one."""
        return self._one(searching, self._settings.filter.replace("{user}", escape_filter_chars(user)))

    def _find_subject(self, searching: Connection, subject: str) -> tuple[str, str] | None:
        """Return the same for a subject, among the entries that the filter finds with any name."""
        anyone = self._settings.filter.replace("{user}", "*")
        wanted = f"({self._settings.subject_attribute}={escape_filter_chars(subject)})"
        return self._one(searching, f"(&{anyone}{wanted})")

    def _one(self, searching: Connection, user_filter: str) -> tuple[str, str] | None:
        attribute = self._settings.subject_attribute
        searching.search(self._settings.base, user_filter, attributes=[attribute], size_limit=2)
        entries = [one for one in searching.response or () if one["type"] == "searchResEntry"]
        if len(entries) != 1:
            return None
        dn = str(entries[0]["dn"])
        value = entries[0]["attributes"].get(attribute)
        subject = value[0] if isinstance(value, list) and value else value
        return dn, str(subject) if subject else dn.lower()

    def _binds(self, dn: str, password: str, until_s: float) -> bool:
        try:
            with self._bound(dn, password, until_s):
                return True
        except _NOT_LET_IN:
            return False

    def _groups(self, searching: Connection, dn: str) -> frozenset[str]:
        settings = self._settings
        if not settings.group_base:
            return frozenset()
        group_filter = settings.group_filter.replace("{dn}", escape_filter_chars(dn))
        try:
            searching.search(settings.group_base, group_filter, attributes=[settings.group_attribute])
        except LDAPSizeLimitExceededResult:
            told = "has more groups of this user than it sends: let group_filter find only those of sign_in_roles"
            raise provider_unavailable(self._name, "size limit exceeded in the search of groups", told) from None
        entries = (one for one in searching.response or () if one["type"] == "searchResEntry")
        values = (one["attributes"].get(settings.group_attribute, []) for one in entries)
        return frozenset(str(v) for value in values for v in (value if isinstance(value, list) else [value]))


@contextmanager
def _broken_after(connection: Connection, seconds: float) -> Iterator[None]:
    """Break the connection after this time. Its own time-outs limit each read, and there may be many."""
    ended = threading.Event()

    def break_it() -> None:
        if ended.wait(seconds):
            return
        while not ended.wait(0.1):  # again: during a TLS handshake the socket does not yet belong to the connection
            with suppress(OSError, AttributeError):
                connection.socket.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=break_it, name="ldap-deadline", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
