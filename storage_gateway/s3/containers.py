"""Containers and accounts of an S3 store: buckets, and the gateway's book."""

from __future__ import annotations

import calendar
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from eventlet import GreenPool
from swift.common.utils import parse_content_type

from storage_gateway.connections import StoreAnswer, local_answer
from storage_gateway.s3.book import Book
from storage_gateway.s3.client import ERROR, S3Client
from storage_gateway.s3.counts import Count, Counts
from storage_gateway.s3.headers import seconds_of
from storage_gateway.s3.index import Entry, Index
from storage_gateway.s3.listings import ListingRequest, select
from storage_gateway.s3.names import bucket_of
from storage_gateway.s3.pages import Item, key_of

_JSON = "application/json; charset=utf-8"
_AT_ONCE = 16
"""Objects that a listing requests concurrently, for details that listings lack."""
_CACHED = 4096
_ALL = 10**9
_SECONDS = len("2026-01-31T12:00:00")


@dataclass(frozen=True, slots=True)
class S3Containers:
    """Answers as Swift's account and container servers do."""

    client: S3Client
    index: Index
    book: Book
    counts: Counts
    sorted_there: bool
    """Whether the store lists names in the order of their bytes, as S3 specifies; some sort them as paths of files."""

    def ask_account(self, method: str, account: str, headers: Mapping[str, str], query: str) -> StoreAnswer:
        """Return the answer to a request of an account: every account exists."""
        if method in ("POST", "PUT"):
            self.book.change(account, None, headers, new=False)
            return local_answer(204)
        if method not in ("GET", "HEAD"):
            return local_answer(405)
        listed = self.book.containers(account)
        counts = {item.name: self.counts.count_of(account, bucket_of(account, item.name)) for item in listed}
        there = {name: count for name, count in counts.items() if count is not None}
        said = {
            **self.book.entry(account),
            "X-Account-Container-Count": str(len(there)),
            "X-Account-Object-Count": str(sum(count.objects for count in there.values())),
            "X-Account-Bytes-Used": str(sum(count.size for count in there.values())),
        }
        if method == "HEAD":
            return local_answer(204, said)
        wanted = ListingRequest.from_query(_parameters(query))
        items = [item for item in listed if item.name in there]
        found = select(reversed(items) if wanted.reverse else items, wanted)
        return local_answer(
            200, {**said, "Content-Type": _JSON}, _listing_body(_container(entry, there) for entry in found)
        )

    def ask(self, method: str, account: str, container: str, headers: Mapping[str, str], query: str) -> StoreAnswer:
        """Return the answer to a request of a container. Raises StoreAway."""
        bucket = bucket_of(account, container)
        match method:
            case "PUT":
                return self._create(account, container, bucket, headers)
            case "POST":
                if not self._is_there(account, bucket):
                    return local_answer(404)
                self.book.change(account, container, headers, new=True)
                return local_answer(204)
            case "DELETE":
                return self._remove(account, container, bucket)
            case "GET" | "HEAD":
                return self._show(method, account, container, bucket, _parameters(query))
        return local_answer(405)

    def _is_there(self, account: str, bucket: str) -> bool:
        answer = self.client.ask(account, "HEAD", f"/{bucket}")
        answer.close()
        return answer.status // 100 == 2

    def _create(self, account: str, container: str, bucket: str, headers: Mapping[str, str]) -> StoreAnswer:
        known = self._is_there(account, bucket)
        if not known:
            answer = self.client.ask(account, "PUT", f"/{bucket}")
            answer.close()
            if answer.status // 100 != 2 and answer.headers.get(ERROR) != "BucketAlreadyOwnedByYou":
                return local_answer(answer.status)
        self.book.change(account, container, headers, new=True)
        return local_answer(202 if known else 201)

    def _remove(self, account: str, container: str, bucket: str) -> StoreAnswer:
        try:  # some stores remove a bucket with its contents
            if any(page.items for page in self.client.pages(account, bucket, length=1)):
                return local_answer(409)
        except LookupError:
            pass
        answer = self.client.ask(account, "DELETE", f"/{bucket}")
        answer.close()
        if answer.status // 100 == 2 or answer.status == 404:
            self.book.remove(account, container)
            self.counts.forget(bucket)
        return local_answer(204) if answer.status // 100 == 2 else local_answer(answer.status)

    def _show(self, method: str, account: str, container: str, bucket: str, query: Mapping[str, str]) -> StoreAnswer:
        items, count = None, None
        try:
            if method == "GET":
                items, count = self._listed_items(account, bucket, ListingRequest.from_query(query))
        except LookupError:
            return local_answer(404)
        count = count or self.counts.count_of(account, bucket)
        if count is None:
            return local_answer(404)
        said = {
            **self.book.entry(account, container),
            "X-Container-Object-Count": str(count.objects),
            "X-Container-Bytes-Used": str(count.size),
            "Content-Type": _JSON,
        }
        if items is None:
            return local_answer(204, said)
        return local_answer(200, said, _listing_body(self._entries(account, bucket, items)))

    def _listed_items(self, account: str, bucket: str, wanted: ListingRequest) -> tuple[list[Item], Count | None]:
        """Return the listed items, and the count of the bucket if the listing read all of it. Raises LookupError."""
        if not wanted.reverse and self.sorted_there:
            pages = self.client.pages(
                account, bucket, wanted.prefix, wanted.delimiter, wanted.marker, min(wanted.limit + 1, _ALL)
            )
            return list(select((item for page in pages for item in page.items), wanted)), None
        # S3 lists forward only
        every = [item for page in self.client.pages(account, bucket, wanted.prefix) for item in page.items]
        every.sort(key=lambda item: key_of(item.name), reverse=wanted.reverse)
        whole = None if wanted.prefix else self.counts.remember(bucket, every)
        return list(select(every, wanted)), whole

    def _entries(self, account: str, bucket: str, items: list[Item]) -> Iterator[dict[str, Any]]:
        """Yield entries as Swift's container servers list them; objects that the index lacks are requested."""
        known = self.index.content_types(bucket, [(item, _seconds(item.modified[:_SECONDS])) for item in items])
        unknown = [item for item in items if not item.is_start and item.name not in known]
        pool = GreenPool(_AT_ONCE)
        known |= dict(pool.imap(lambda item: (item.name, self._content_type(account, bucket, item)), unknown))
        for item in items:
            if item.is_start:
                yield {"subdir": item.name}
                continue
            yield {
                "name": item.name,
                "hash": item.etag,
                "bytes": item.size,
                "content_type": _normal(known[item.name] or "application/octet-stream"),
                "last_modified": _time(item.modified),
            }

    def _content_type(self, account: str, bucket: str, item: Item) -> str:
        answer = self.client.ask(account, "HEAD", f"/{bucket}/{item.name}")
        answer.close()
        content_type = str(answer.headers.get("Content-Type", ""))
        if answer.status == 200:
            etag, size = answer.headers.get("Etag", "").strip('"'), int(answer.headers.get("Content-Length", 0))
            at_s = int(seconds_of(answer.headers.get("Last-Modified", "")))
            self.index.note(bucket, item.name, Entry(etag, size, at_s, content_type))
        return content_type


def _parameters(query: str) -> dict[str, str]:
    return dict(parse_qsl(query, keep_blank_values=True, errors="surrogateescape"))


def _listing_body(entries: Iterable[Mapping[str, Any]]) -> bytes:
    return json.dumps(list(entries)).encode("ascii")


def _container(item: Item, counts: Mapping[str, Count]) -> dict[str, Any]:
    if item.is_start:
        return {"subdir": item.name}
    count = counts[item.name]
    return {"name": item.name, "count": count.objects, "bytes": count.size, "last_modified": _time(item.modified)}


@lru_cache(_CACHED)
def _normal(content_type: str) -> str:
    """Return a content type as Swift lists it."""
    plain, parameters = parse_content_type(content_type)
    return str(plain) + "".join(f";{name}={value}" for name, value in parameters)


@lru_cache(_CACHED)
def _time(modified: str) -> str:
    """Convert a time of S3 to Swift's format."""
    whole, _, part = modified.partition(".")
    return f"{whole}.{part[:6]:0<6}"


@lru_cache(_CACHED)
def _seconds(modified: str) -> int:
    try:
        return calendar.timegm(time.strptime(modified, "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return 0
