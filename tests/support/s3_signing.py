"""Signatures of S3 requests, versions 4 and 2, in a header or in the query, to be altered by tests.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from dataclasses import dataclass, replace
from urllib.parse import quote

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
HOST = "store.example"


@dataclass(frozen=True)
class Wire:
    """A request as it is sent. query: pairs that are not quoted yet."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = (("Host", HOST),)
    body: str = ""

    @property
    def target(self) -> str:
        pairs = "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in self.query)
        return quote(self.path) + (f"?{pairs}" if pairs else "")

    def document(self) -> dict[str, object]:
        """Return it for `s3_pipeline`."""
        return {"method": self.method, "path": self.target, "headers": self.headers, "body": self.body}

    def plus(self, *headers: tuple[str, str], query: tuple[tuple[str, str], ...] = ()) -> Wire:
        """Return it with additions that its signature does not cover."""
        return replace(self, headers=(*self.headers, *headers), query=(*self.query, *query))


@dataclass(frozen=True)
class Signer:
    """A user with a key. at_s: the time of all signatures, since the epoch, if it is not the present one."""

    access_key: str
    secret: str
    region: str = "us-east-1"
    at_s: float | None = None

    def _now_s(self) -> float:
        return time.time() if self.at_s is None else self.at_s

    def _scope(self, at: str) -> str:
        return f"{at[:8]}/{self.region}/s3/aws4_request"

    def url(self, wire: Wire, *signed: tuple[str, str], names: str | None = None, expires: str = "600") -> Wire:
        """Return a presigned request. signed: additional headers that it covers, besides the host."""
        at, wire = _utc(self._now_s()), replace(wire, headers=(*wire.headers, *signed))
        covered = names if names is not None else ";".join(sorted(n.lower() for n, _ in wire.headers))
        query = (
            *wire.query,
            ("X-Amz-Algorithm", ALGORITHM),
            ("X-Amz-Credential", f"{self.access_key}/{self._scope(at)}"),
            ("X-Amz-Date", at),
            ("X-Amz-Expires", expires),
            ("X-Amz-SignedHeaders", covered),
        )
        wire = replace(wire, query=query)
        return replace(wire, query=(*query, ("X-Amz-Signature", self._v4(wire, at, covered, UNSIGNED))))

    def header(self, wire: Wire, *signed: tuple[str, str], digest: str | None = None, names: str | None = None) -> Wire:
        """Return a request that is signed in a header."""
        at = _utc(self._now_s())
        digest = digest or hashlib.sha256(wire.body.encode("latin-1")).hexdigest()
        headers = (*wire.headers, ("x-amz-content-sha256", digest), ("x-amz-date", at), *signed)
        wire = replace(wire, headers=headers)
        covered = names if names is not None else ";".join(sorted(n.lower() for n, _ in headers))
        line = (
            f"{ALGORITHM} Credential={self.access_key}/{self._scope(at)}, SignedHeaders={covered}, "
            f"Signature={self._v4(wire, at, covered, digest)}"
        )
        return replace(wire, headers=(*headers, ("Authorization", line)))

    def url_v2(self, wire: Wire, sub_resource: str = "") -> Wire:
        """Return a presigned request of version 2."""
        expires = str(int(self._now_s()) + 600)
        text = f"{wire.method}\n\n\n{expires}\n{quote(wire.path)}{sub_resource}"
        query = (("AWSAccessKeyId", self.access_key), ("Expires", expires), ("Signature", self._v2(text)))
        return replace(wire, query=(*wire.query, *query))

    def header_v2(self, wire: Wire, sub_resource: str = "") -> Wire:
        """Return a request that is signed in a header by version 2."""
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(self._now_s()))
        text = f"{wire.method}\n\n\n{date}\n{quote(wire.path)}{sub_resource}"
        line = f"AWS {self.access_key}:{self._v2(text)}"
        return replace(wire, headers=(*wire.headers, ("Date", date), ("Authorization", line)))

    def _v2(self, text: str) -> str:
        return base64.b64encode(hmac.digest(self.secret.encode(), text.encode(), "sha1")).decode()

    def _v4(self, wire: Wire, at: str, covered: str, digest: str) -> str:
        query = "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in sorted(wire.query))
        values = {name.lower(): value for name, value in wire.headers}
        lines = "".join(f"{name}:{values[name]}\n" for name in sorted(covered.split(";")) if name)
        request = "\n".join((wire.method, quote(wire.path), query, lines, covered, digest))
        hashed = hashlib.sha256(request.encode("latin-1")).hexdigest()
        key = f"AWS4{self.secret}".encode()
        for part in self._scope(at).split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = "\n".join((ALGORITHM, at, self._scope(at), hashed))
        return hmac.new(key, text.encode(), "sha256").hexdigest()


def _utc(at_s: float) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at_s))
