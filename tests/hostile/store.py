"""Hostile requests to an object store, by Swift's protocol and by S3's. Pure, apart from signing."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.hostile import values
from tests.support.s3 import S3Client

_METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS", "REWRITE")
_QUERIES = (
    "", "", "format=json", "format=xml", "multipart-manifest=put", "multipart-manifest=get",
    "multipart-manifest=delete", "bulk-delete", "extract-archive=tar", "extract-archive=tar.gz", "prefix=%00",
    "limit=" + "9" * 30, "limit=-1",
    "marker=%ff", "delimiter=%2f&path=x", "uploads=", "uploadId=none", "partNumber=1&uploadId=x", "acl=", "delete=",
    "versions=", "version-id=x", "versioning=", "list-type=2", "max-keys=x", "location=", "tagging=", "symlink=get",
    "temp_url_sig=0&temp_url_expires=9", "X-Amz-Signature=0&X-Amz-Algorithm=AWS4-HMAC-SHA256",
    "AWSAccessKeyId=acme:ann",
)  # fmt: skip
_FREE = ("/", "/info", "/auth/v1.0", "/healthcheck", "/endpoints/v1/", "/v1", "/v2/x", "/auth/", "//", "/v1//", "/v1/.")


_VALUE_MAX = 10_000
_HEADERS = b"""
X-Copy-From: /NAME
X-Copy-From-Account: ACCOUNT
Destination: NAME
Destination-Account: ACCOUNT
X-Object-Manifest: NAME
X-Symlink-Target: NAME
X-Symlink-Target-Account: ACCOUNT
X-Container-Read: .r:*,.rlistings
X-Container-Write: *
X-Backend-Storage-Policy-Index: x
X-Object-Sysmeta-Zoe-Filters: [{}]
X-Backend-Zoe-Node-Filters: [{"filter": "NOOP"}]
X-Newest: true
X-Zoe-View: {}
X-Zoe-Rewrite: plain
X-Zoe-Why: yes
X-Delete-At: 999999999999999999999999999999
X-Delete-After: -1
X-Timestamp: x
X-Auth-Token: AUTH_tk\xff
X-Service-Token: x
x-amz-copy-source: /NAME
x-amz-acl: public-read-write
x-amz-decoded-content-length: -5
x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD
X-Account-Access-Control: {
X-Versions-Location: %00
X-Versions-Enabled: x
X-Account-Meta-Temp-URL-Key: k
X-Remove-Container-Read: x
X-Object-Meta-: b
Etag: ""
Content-Type: a;b="
"""


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """Caller and target of a request, in parts."""

    asker: str
    method: str
    target: str
    headers: tuple[values.Header, ...]
    body: bytes

    def sent(self) -> bytes:
        """Return its bytes."""
        head = [f"{self.method} {self.target} HTTP/1.1".encode(), *(b"%s: %s" % header for header in self.headers)]
        return b"\r\n".join([*head, b"Content-Length: %d" % len(self.body), b"", b""]) + self.body


class StoreDrawing:
    """Draws requests. tokens: of the callers. clients: S3 signers. account, objects: of another user."""

    def __init__(
        self,
        seed: int,
        host: str,
        tokens: Mapping[str, str],
        clients: Mapping[str, S3Client],
        account: str,
        objects: Sequence[str],
    ) -> None:
        self._chance = random.Random(seed)
        self._host, self._tokens, self._clients = host, tokens, clients
        self._account, self._objects = account, objects

    def request(self) -> StoreRequest:
        """Return the next request."""
        chance = self._chance
        method = chance.choice(values.METHODS) if chance.random() < 0.05 else chance.choice(_METHODS)
        body = chance.choice((b"", b"x" * 1000, b"<Delete/>", b"[{}]", b"\x00\xff", b"/c/o\n" * 50))
        if chance.random() < 0.35:
            return self._by_s3(method, body)
        asker = chance.choice(sorted(self._tokens))
        token = self._tokens[asker]
        own = ((b"Host", self._host.encode()), *(((b"X-Auth-Token", token.encode()),) if token else ()))
        path = chance.choice(_FREE) if chance.random() < 0.1 else f"/v1/{self._path(self._account)}"
        return StoreRequest(asker, method, self._with_query(path), (*own, *self._headers()), body)

    def _by_s3(self, method: str, body: bytes) -> StoreRequest:
        asker = self._chance.choice(sorted(self._clients))
        target = self._with_query("/" + self._path(""))
        parts = urlsplit(target)
        more = dict(self._headers())
        signed = {name.decode(): value.decode("latin-1") for name, value in more.items()}
        odd = self._chance.random() < 0.5 or not all(
            value.isascii() and value.isprintable() for value in signed.values()
        )
        made = self._clients[asker]._signed(method, parts.path, parts.query, body, {} if odd else signed)
        headers = tuple((name.encode(), value.encode("latin-1")) for name, value in made.items())
        return StoreRequest(asker, method, target, headers + (tuple(more.items()) if odd else ()), body)

    def _path(self, account: str) -> str:
        chance = self._chance
        name = chance.choice(self._objects)
        whole = "/".join(text for text in (account, name) if text)
        parts = whole.split("/")[: chance.choice((1, 2, 3))]
        if chance.random() < 0.3:
            place = chance.randrange(len(parts))
            parts[place] = values.encoded(chance, chance.choice((parts[place], values.text(chance))))
        return "/".join(parts)

    def _with_query(self, path: str) -> str:
        query = self._chance.choice(_QUERIES)
        return f"{path}?{query}" if query else path

    def _headers(self) -> tuple[values.Header, ...]:
        chance = self._chance
        own = _own(chance.choice(self._objects).encode(), self._account.encode())
        taken = chance.sample(own, chance.choice((0, 1, 2)))
        general = [item for item in values.HEADERS if item[0] != b"Host" and len(item[1]) < _VALUE_MAX]
        return tuple(taken + chance.sample(general, chance.choice((0, 0, 1))))


def _own(name: bytes, account: bytes) -> list[values.Header]:
    """Return headers of Swift, S3 and Zoe. name: an object of another tenant's. account: theirs."""
    lines = _HEADERS.replace(b"NAME", name).replace(b"ACCOUNT", account).split(b"\n")
    return [(line.partition(b": ")[0], line.partition(b": ")[2]) for line in lines if line]
