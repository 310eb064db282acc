"""S3 requests, signed with the keys of their account; errors by their codes."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from storage_gateway.connections import Connections, StoreAnswer, Upload, local_answer
from storage_gateway.logins import StoreAway, StoreSettings, Users
from storage_gateway.s3.pages import Page, UnreadableListingError, page_of
from storage_gateway.s3.signing import query_of, quoted_path, signed_headers

PAGE_LENGTH = 1000
PAGES_MAX = 1000
"""Most pages of one listing: a million names."""
ERROR = "X-Backend-Store-Error"
"""Header of failed answers: the code of S3. The text is Swift's for the status."""
_CODE = re.compile(rb"<Code>(\w{1,64})</Code>")
_ERROR_BYTES_MAX = 64 * 1024
_STATUSES = {
    "BadDigest": 422,
    "EntityTooLarge": 413,
    "InvalidDigest": 422,
    "QuotaExceeded": 413,
    "TooManyBuckets": 413,
}
"""Errors for which Swift uses another status than S3."""
_DOTS = frozenset((".", ".."))
_NOT_ALLOWED = (401, 403)


class S3Client:
    """Client of the store at one address, path style. Paths: `/bucket` or `/bucket/key`, native strings."""

    def __init__(self, settings: StoreSettings, region: str) -> None:
        self._url, self._region = settings.url, region
        self._place = urlsplit(settings.url)
        self._users = Users(settings)
        self._connections = Connections(settings.connect_s, settings.wait_s)

    def ask(
        self,
        account: str,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> StoreAnswer:
        """Return the answer to a request without a body, or with a short one. Raises StoreAway."""
        sent = dict(headers or {})
        if method in ("PUT", "POST"):
            sent["Content-Length"] = str(len(body))
        if body:
            sent["Content-MD5"] = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
        where, line = self._url_path(path), query_of(query or {})
        ours = self._signed_headers(account, method, where, line, sent)
        return self._with_swift_status(
            method, account, path, self._connections.ask(method, self._url, where, ours, line, body)
        )

    def upload(self, account: str, path: str, headers: Mapping[str, str]) -> Upload:
        """Return the connection to which a body is sent, once the store wants it; StoreAway."""
        where = self._url_path(path)
        upload = self._connections.upload(self._url, where, self._signed_headers(account, "PUT", where, "", headers))
        if upload.refused is not None:
            upload.refused = self._with_swift_status("PUT", account, path, upload.refused)
        return upload

    def with_swift_status(self, account: str, path: str, answer: StoreAnswer) -> StoreAnswer:
        """Return the answer at the end of an upload, with Swift's status."""
        return self._with_swift_status("PUT", account, path, answer)

    def pages(self, account: str, bucket: str, prefix: str = "", delimiter: str = "", marker: str = "",
              length: int = PAGE_LENGTH) -> Iterator[Page]:  # fmt: skip
        """Yield a listing page by page, at most PAGES_MAX of them. Raises LookupError if the bucket does not exist."""
        asked = {"encoding-type": "url", "max-keys": str(min(max(length, 1), PAGE_LENGTH)), "prefix": prefix}
        if delimiter:
            asked["delimiter"] = delimiter
        for _ in range(PAGES_MAX):
            if delimiter and marker.endswith(delimiter) and len(marker) > len(prefix):
                marker += "\U0010ffff"  # behind all names with this beginning
            answer = self.ask(account, "GET", f"/{bucket}", query={**asked, "marker": marker} if marker else asked)
            if answer.status == 404:
                answer.close()
                raise LookupError(bucket)
            if answer.status != 200:
                raise StoreAway(f"the store does not list {bucket}: {answer.status} {answer.body()[:200]!r}")
            try:
                page = page_of(answer.body())
            except UnreadableListingError as error:
                raise StoreAway(str(error)) from None
            yield page
            if page.following is None or page.following == marker:
                return
            marker = page.following

    def _url_path(self, path: str) -> str:
        return self._place.path.rstrip("/") + quoted_path(path)

    def _signed_headers(
        self, account: str, method: str, path: str, query: str, headers: Mapping[str, str]
    ) -> dict[str, str]:
        user = self._users.user_for(account)
        return signed_headers(
            method, self._place.netloc, path, query, headers, user.name, user.key, self._region, time.time()
        )

    def _with_swift_status(self, method: str, account: str, path: str, answer: StoreAnswer) -> StoreAnswer:
        """Return the answer with Swift's status. Raises StoreAway for errors of the gateway itself."""
        if answer.status < 400:
            return answer
        text = b"" if method == "HEAD" else answer.body()[:_ERROR_BYTES_MAX]
        answer.close()
        found = _CODE.search(text)
        code = found[1].decode() if found else ""
        status = _STATUSES.get(code, answer.status)
        if status in _NOT_ALLOWED and _DOTS.intersection(path.split("/")):
            return local_answer(400, {}, b"The store takes no name with a part of dots.")
        if status in _NOT_ALLOWED:
            raise StoreAway(f"the store does not accept the keys for {account}: {status} {code}")
        made = local_answer(status, {ERROR: code} if code else {})
        made.headers.update({name: value for name, value in answer.headers.items() if name == "Retry-After"})
        return made
