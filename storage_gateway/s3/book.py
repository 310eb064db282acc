"""Metadata that S3 does not keep for buckets: metadata and access lists of containers, and the containers of an
account.

Each account has a bucket for them, with small JSON documents: `account`, and `containers/<name>`. The buckets decide: a
container without an entry has no metadata, and an entry without its bucket is not a container.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from storage_gateway.logins import StoreAway
from storage_gateway.s3.client import ERROR, S3Client
from storage_gateway.s3.headers import changed_metadata
from storage_gateway.s3.names import book_of
from storage_gateway.s3.pages import Item, key_of

_CONTAINERS = "containers/"


@dataclass(frozen=True, slots=True)
class Book:
    """Entries of accounts, each `{header: value}`."""

    client: S3Client

    def entry(self, account: str, container: str | None = None) -> dict[str, str]:
        """Return the metadata of a container, or of the account; empty without an entry."""
        answer = self.client.ask(account, "GET", self._path(account, container))
        body = answer.body()
        if answer.status == 404:
            return {}
        try:
            if answer.status != 200:
                raise ValueError(answer.status)
            return {str(name): str(value) for name, value in json.loads(body).items()}
        except (ValueError, AttributeError) as error:
            raise StoreAway(f"the entry of {account}/{container or ''} is unreadable: {error!r}") from None

    def change(self, account: str, container: str | None, headers: Mapping[str, str], new: bool) -> None:
        """Change metadata, like a POST in Swift: an empty value removes. new: create an entry if there is none."""
        before = self.entry(account, container)
        after = changed_metadata(before, headers)
        if after == before and not new:
            return
        body = json.dumps(after).encode()
        path = self._path(account, container)
        answer = self.client.ask(account, "PUT", path, {"Content-Type": "application/json"}, body=body)
        if answer.status == 404:  # the first of the account
            answer.close()
            self.client.ask(account, "PUT", f"/{book_of(account)}").close()
            answer = self.client.ask(account, "PUT", path, {"Content-Type": "application/json"}, body=body)
        answer.close()
        if answer.status // 100 != 2:
            error = answer.headers.get(ERROR, "")
            raise StoreAway(f"the store refuses the entry of {account}: {answer.status} {error}")

    def remove(self, account: str, container: str) -> None:
        """Forget a container."""
        self.client.ask(account, "DELETE", self._path(account, container)).close()

    def containers(self, account: str) -> list[Item]:
        """Return all containers with an entry, ordered by name."""
        try:
            pages = list(self.client.pages(account, book_of(account), _CONTAINERS))
        except LookupError:
            return []
        items = (item for page in pages for item in page.items)
        named = (item._replace(name=_unquote(item.name.removeprefix(_CONTAINERS))) for item in items)
        return sorted(named, key=lambda item: key_of(item.name))

    @staticmethod
    def _path(account: str, container: str | None) -> str:
        entry = "account" if container is None else _CONTAINERS + _quote(container)
        return f"/{book_of(account)}/{entry}"


def _quote(container: str) -> str:
    # A store with paths of files as keys takes a name of dots for a directory.
    text = quote(container.encode("utf-8", "surrogateescape"), safe="")
    return text.replace(".", "%2E")


def _unquote(entry: str) -> str:
    return unquote(entry, errors="surrogateescape")
