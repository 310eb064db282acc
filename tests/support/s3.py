"""A small S3 client: requests signed by AWS Signature Version 4, path style.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import httpx

from zoe_embedded.swift.configuration import S3_REGION
from zoe_embedded.swift.store import ObjectStore

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class S3Client:
    """A user whose access key and secret are login and key."""

    http: httpx.Client
    address: str
    access_key: str
    secret: str

    def call(
        self,
        method: str,
        path: str,
        query: str = "",
        content: bytes | Iterator[bytes] = b"",
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """`query` as `a=b&c=d`, sorted; only `headers` are signed besides the usual ones, which they may replace. An
        iterator is sent without its length, and needs `x-amz-content-sha256`."""
        known = content if isinstance(content, bytes) else b""
        wanted = self._signed(method, quote(f"/{path}"), query, known, headers or {})
        url = f"{self.address}/{quote(path)}" + (f"?{query}" if query else "")
        return self.http.request(method, url, content=content, headers=wanted)

    def _signed(self, method: str, path: str, query: str, content: bytes, more: dict[str, str]) -> dict[str, str]:
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        digest = hashlib.sha256(content).hexdigest()
        headers = {"host": urlsplit(self.address).netloc, "x-amz-content-sha256": digest, "x-amz-date": at}
        headers |= {name.lower(): value for name, value in more.items()}
        digest = headers["x-amz-content-sha256"]
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        request = "\n".join((method, path, query, lines, names, digest))
        scope = f"{at[:8]}/{S3_REGION}/s3/aws4_request"
        text = "\n".join((_ALGORITHM, at, scope, hashlib.sha256(request.encode()).hexdigest()))
        key = f"AWS4{self.secret}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.new(key, text.encode(), "sha256").hexdigest()
        credential = f"{self.access_key}/{scope}"
        authorization = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
        return {**headers, "Authorization": authorization}


@contextmanager
def s3_client(store: ObjectStore, login: str) -> Iterator[S3Client]:
    user, place = store.user(login), urlsplit(store.auth_url)
    with httpx.Client(timeout=60) as http:
        yield S3Client(http, f"{place.scheme}://{place.netloc}", user.login, user.key)
