"""Interface of LDAP clients. The rules of a sign-in are in `zoe_api/people/sign_in/ldap.py`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from zoe_lib.settings.sign_in_settings import LdapSettings

ANSWERS_BYTES_MAX = 16 << 20
"""Maximum bytes that one connection reads: 20,000 groups whose names and DNs take 800 bytes each."""

SIZE_LIMIT_EXCEEDED = 4
INVALID_CREDENTIALS = 49


class DirectoryFailed(Exception):  # noqa: N818 - the name is the fact
    """The directory gave no valid answer, or refused; the message is for the log, `code` is the result of RFC 4511."""

    def __init__(self, cause: str, code: int | None = None) -> None:
        super().__init__(cause)
        self.code = code


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry, and the values of the requested attribute."""

    dn: str
    values: tuple[str, ...]


class Session(Protocol):
    """A connection bound as the searcher."""

    def search(self, base: str, entry_filter: str, attribute: str, entries_max: int = 0) -> Sequence[Entry]:
        """Return the entries below `base`; 0: as many as the directory sends. DirectoryFailed for every result other
        than success, so that a partial result is never taken for a complete one.
        """
        ...

    def bind(self, dn: str, password: str) -> None:
        """Bind on a separate connection. DirectoryFailed with a code if the directory refuses."""
        ...


class LdapClient(Protocol):
    """Connects to one directory."""

    def session(self, until_s: float) -> AbstractContextManager[Session]:
        """Yield a session that breaks at `until_s` of the monotonic clock. DirectoryFailed."""
        ...


def searcher(settings: LdapSettings) -> tuple[str, str]:
    """Return DN and password for searches, both empty for anonymous ones. DirectoryFailed if the file is not
    readable."""
    file = settings.bind_password_file
    try:
        return settings.bind_dn, file.read_text().rstrip("\n") if file else ""
    except (OSError, UnicodeDecodeError) as error:
        raise DirectoryFailed(str(error)) from None


def text_of(value: bytes) -> str:
    """Return a value as text, alike for all clients: ids of users, which are stored, must not depend on the client."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return str(value)


def sendable(text: str) -> bool:
    """Return whether a name or password can be sent unchanged: libraries in C end texts at NUL, and half of a surrogate
    pair has no encoding.
    """
    try:
        return bool(text.encode()) and "\0" not in text
    except UnicodeEncodeError:
        return False
