"""LDAP: search the one entry of a user, and bind as it with the typed password (RFC 4513)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from zoe_api.people.sign_in.identity import Identity
from zoe_api.people.sign_in.ldap_clients.base import SIZE_LIMIT_EXCEEDED, DirectoryFailed, LdapClient, Session, sendable
from zoe_api.people.sign_in.ldap_clients.chosen import client_of
from zoe_api.people.sign_in.provider_errors import provider_unavailable
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.settings.sign_in_settings import LdapSettings

# Result codes with which directories refuse a bind as a user (RFC 4511, appendix A): a locked or expired account (19,
# 53), no such entry (32), an entry without a password (48), a wrong password (49), no right (50). All count as a wrong
# password, so that strangers learn nothing about entries.
_REFUSALS = frozenset({19, 32, 48, 49, 50, 53})


def comparable_name(user: str) -> str:
    """Return the same text for all names that a directory may treat as equal (RFC 4518): case, spaces, invisible
    characters.
    """
    folded = unicodedata.normalize("NFKC", user).casefold()
    return "".join(letter for letter in folded if unicodedata.category(letter)[0] in "LNPS")


def escape_filter(text: str) -> str:
    """Return a text as a value in a filter (RFC 4515, section 3)."""
    return text.translate({ord(text): f"\\{ord(text):02x}" for text in "\\*()\0"})


class Ldap:
    """A directory."""

    def __init__(
        self, name: str, settings: LdapSettings, clock: Clock = SYSTEM_CLOCK, client: LdapClient | None = None
    ) -> None:
        self._clock = clock
        self._name = name
        self._settings = settings
        self._client = client_of(settings, clock) if client is None else client

    def identity(self, user: str, password: str) -> Identity | None:
        """Return the identity with this password; None if it is wrong or the user does not exist. 502 without an
        answer."""
        # Without a password a bind is anonymous and succeeds for any name (RFC 4513, section 5.1.2).
        if not sendable(password) or not sendable(user):
            return None
        with self._searching() as searching:
            entry = self._find(searching, user)
            if entry is None or not _binds(searching, entry[0], password):
                return None
            dn, subject = entry
            return Identity(self._name, subject, user, self._groups(searching, dn))

    def still(self, user: str, subject: str) -> Identity | None:
        """Return the present identity of a user who signed in before, with the present groups; None if the directory no
        longer has the entry. 502 without an answer.
        """
        with self._searching() as searching:
            entry = self._find(searching, user)
            if entry is None or entry[1] != subject:  # the name of the entry may have changed
                entry = self._find_subject(searching, subject)
            if entry is None or entry[1] != subject:
                return None
            return Identity(self._name, subject, user, self._groups(searching, entry[0]))

    @contextmanager
    def _searching(self) -> Iterator[Session]:
        """Yield a session; failures of the directory become 502."""
        try:
            with self._client.session(self._clock.monotonic_s() + self._settings.timeout_s) as searching:
                yield searching
        except DirectoryFailed as failure:
            raise provider_unavailable(self._name, str(failure)) from None

    def _find(self, searching: Session, user: str) -> tuple[str, str] | None:
        """Return DN and subject of the one entry; None if there is none, or more than one."""
        return self._find_one(searching, self._settings.filter.replace("{user}", escape_filter(user)))

    def _find_subject(self, searching: Session, subject: str) -> tuple[str, str] | None:
        """Return DN and subject by the subject, among the entries that the filter finds for any name."""
        anyone = self._settings.filter.replace("{user}", "*")
        return self._find_one(searching, f"(&{anyone}({self._settings.subject_attribute}={escape_filter(subject)}))")

    def _find_one(self, searching: Session, user_filter: str) -> tuple[str, str] | None:
        settings = self._settings
        try:
            entries = searching.search(settings.base, user_filter, settings.subject_attribute, 2)
        except DirectoryFailed as failure:
            if failure.code == SIZE_LIMIT_EXCEEDED:
                return None
            raise
        # A bind without a DN is anonymous and succeeds with any password.
        if len(entries) != 1 or not sendable(entries[0].dn):
            return None
        [entry] = entries
        return entry.dn, entry.values[0] if entry.values and entry.values[0] else entry.dn.lower()

    def _groups(self, searching: Session, dn: str) -> frozenset[str]:
        settings = self._settings
        if not settings.group_base:
            return frozenset()
        group_filter = settings.group_filter.replace("{dn}", escape_filter(dn))
        try:
            entries = searching.search(settings.group_base, group_filter, settings.group_attribute)
        except DirectoryFailed as failure:
            if failure.code != SIZE_LIMIT_EXCEEDED:
                raise
            told = "has more groups of this user than it sends: let group_filter find only those of sign_in_roles"
            raise provider_unavailable(self._name, "size limit exceeded in the search of groups", told) from None
        return frozenset(value for entry in entries for value in entry.values)


def _binds(searching: Session, dn: str, password: str) -> bool:
    try:
        searching.bind(dn, password)
    except DirectoryFailed as failure:
        if failure.code in _REFUSALS:
            return False
        raise
    return True
