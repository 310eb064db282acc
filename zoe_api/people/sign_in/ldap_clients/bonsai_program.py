"""Run bonsai for another process: one request and one response per line, as JSON.

It starts for each session, so it imports the standard library and bonsai only.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import bonsai

_MEMORY_BYTES_MAX = 1 << 30
"""Limit of the address space: libldap keeps the whole response, and a directory may send entries without end."""
_ENTRIES_A_PAGE = 1000
_SUBTREE = 2
_NO_ANSWER = 0


class Directory:
    """The directory of this process; call `open` first."""

    def open(self, url: str, start_tls: bool, ca_file: str | None, ca_dir: str | None, dn: str, password: str) -> None:
        """Bind as the searcher."""
        self._url, self._start_tls, self._ca_file, self._ca_dir = url, start_tls, ca_file, ca_dir
        self._client = self._client_of(dn, password)
        self._searching = self._client.connect()

    def bind(self, dn: str, password: str) -> None:
        """Bind on a separate connection."""
        self._client_of(dn, password).connect().close()

    def search(self, base: str, entry_filter: str, attribute: str, entries_max: int) -> list[tuple[str, list[str]]]:
        """Return DN and values of each entry."""
        self._client.set_raw_attributes([attribute])  # otherwise digits become numbers, and TRUE a boolean
        # By pages: without them, bonsai takes the result noSuchObject for an empty list.
        found = self._searching.paged_search(
            base, _SUBTREE, entry_filter, [attribute], sizelimit=entries_max, page_size=_ENTRIES_A_PAGE
        )
        return [(str(entry.dn), [_text_of(value) for value in entry.get(attribute, [])]) for entry in found]

    def _client_of(self, dn: str, password: str) -> Any:
        client = bonsai.LDAPClient(self._url, tls=self._start_tls)
        client.set_cert_policy("demand")
        client.set_ca_cert(self._ca_file)
        client.set_ca_cert_dir(self._ca_dir)
        client.set_server_chase_referrals(False)
        if dn:
            client.set_credentials("SIMPLE", dn, password)
        return client


def _keep(dn: Any, text: str) -> None:
    """Keep a DN as the directory wrote it. bonsai refuses some valid ones, such as with `#` in a value, and unescapes
    others in an order that makes a comma of an escaped backslash before `2C`.
    """
    dn._LDAPDN__strdn = text


def _text_of(value: bytes) -> str:
    """Return the same as `text_of` in base.py, which this program cannot import."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return str(value)


def _answer(directory: Directory, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": getattr(directory, action)(**arguments)}
    except bonsai.LDAPError as error:
        return {"error": f"{type(error).__name__}: {error}", "code": error.code}
    except (ValueError, MemoryError) as error:
        return {"error": str(error) or type(error).__name__, "code": _NO_ANSWER}


def main() -> None:
    """Answer requests until the other process closes standard input, or ends this one."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES_MAX, _MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would contain passwords
    bonsai.LDAPDN.__init__ = _keep
    directory = Directory()
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        print(json.dumps(_answer(directory, asked.pop("action"), asked)), flush=True)


if __name__ == "__main__":
    main()
