"""The default client: ldap3, which is pure Python."""

from __future__ import annotations

import math
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from ldap3 import NONE, Connection, Server, Tls
from ldap3.core.exceptions import LDAPException, LDAPOperationResult, LDAPSASLPrepError

from zoe_api.people.sign_in.ldap_clients.base import (
    ANSWERS_BYTES_MAX,
    INVALID_CREDENTIALS,
    DirectoryFailed,
    Entry,
    searcher,
    text_of,
)
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.settings.sign_in_settings import LdapSettings

# What ldap3 raises when it decodes an answer that is not LDAP, or is incomplete.
_MALFORMED = (LookupError, ValueError, TypeError, AttributeError, AssertionError, RecursionError)


class Ldap3Client:
    """Connects by ldap3."""

    def __init__(self, settings: LdapSettings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._settings = settings
        self._clock = clock

    @contextmanager
    def session(self, until_s: float) -> Iterator[Ldap3Session]:
        """Yield a session that breaks at `until_s`."""
        with self.bound(*searcher(self._settings), until_s) as connection:
            yield Ldap3Session(self, connection, until_s)

    @contextmanager
    def bound(self, dn: str, password: str, until_s: float) -> Iterator[Connection]:
        """Yield a connection bound as this entry. DirectoryFailed."""
        left_s = until_s - self._clock.monotonic_s()
        if left_s <= 0:
            raise DirectoryFailed("no answer in time")
        connection = self._connection(dn, password, left_s)
        with _broken_after(connection, left_s):
            try:
                with _failures():
                    connection.open()
                    if self._settings.start_tls and not connection.start_tls():
                        raise DirectoryFailed("the directory refuses TLS")
                    connection.socket = _BoundedSocket(connection.socket)
                    if not connection.bind():
                        raise DirectoryFailed("the directory refuses to bind")
                yield connection
            finally:
                connection.strategy.close()
                if connection.socket is not None:  # it was not opened far enough to be closed
                    connection.socket.close()

    def _connection(self, dn: str, password: str, left_s: float) -> Connection:
        settings = self._settings
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
        return Connection(
            server,
            user=dn or None,
            password=password or None,
            auto_referrals=False,
            raise_exceptions=True,
            read_only=True,
            receive_timeout=math.ceil(settings.timeout_s),  # a socket option in whole seconds
        )


class Ldap3Session:
    """A connection bound as the searcher."""

    def __init__(self, client: Ldap3Client, connection: Connection, until_s: float) -> None:
        self._client = client
        self._connection = connection
        self._until_s = until_s

    def search(self, base: str, entry_filter: str, attribute: str, entries_max: int = 0) -> Sequence[Entry]:
        """Return the entries below `base`."""
        connection = self._connection
        with _failures():
            connection.search(base, entry_filter, attributes=[attribute], size_limit=entries_max)
            result = connection.result
            if result["result"] != 0:  # ldap3 raises for some results only: not for the limits of size and time
                raise DirectoryFailed(f"{result['description']} in a search", result["result"])
            found = [entry for entry in connection.response or () if entry["type"] == "searchResEntry"]
            return [
                Entry(str(entry["dn"]), tuple(map(text_of, entry["raw_attributes"].get(attribute, ()))))
                for entry in found
            ]

    def bind(self, dn: str, password: str) -> None:
        """Bind on a separate connection."""
        with self._client.bound(dn, password, self._until_s):
            pass


class _BoundedSocket:
    """A socket that fails when it has received too much. ldap3 keeps the whole response in memory."""

    def __init__(self, wrapped: socket.socket) -> None:
        self._wrapped = wrapped
        self._left = ANSWERS_BYTES_MAX

    def recv(self, size: int) -> bytes:
        data = self._wrapped.recv(size)
        self._left -= len(data)
        if self._left < 0:
            raise OSError(f"the answers are longer than {ANSWERS_BYTES_MAX >> 20} MiB")
        return data

    def __getattr__(self, name: str) -> object:
        return getattr(self._wrapped, name)


@contextmanager
def _failures() -> Iterator[None]:
    """Convert ldap3's exceptions to DirectoryFailed."""
    try:
        yield
    except LDAPOperationResult as error:
        raise DirectoryFailed(str(error), error.result) from None
    except LDAPSASLPrepError as error:  # RFC 4013 does not allow these characters in a password
        raise DirectoryFailed(str(error), INVALID_CREDENTIALS) from None
    except (LDAPException, OSError) as error:
        raise DirectoryFailed(str(error) or type(error).__name__) from None
    except _MALFORMED as error:
        raise DirectoryFailed(f"its answer cannot be read: {type(error).__name__}") from None


@contextmanager
def _broken_after(connection: Connection, seconds: float) -> Iterator[None]:
    """Break the connection after this time. Its own timeouts limit each read, and there may be many."""
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
