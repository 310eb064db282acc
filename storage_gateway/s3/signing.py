"""Requests signed with the gateway's own keys: AWS Signature Version 4. Pure.

The body is not signed (`UNSIGNED-PAYLOAD`): it is passed on while it arrives, and its digest is known only at the end.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from urllib.parse import quote

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNSIGNED = "UNSIGNED-PAYLOAD"
_SAFE = "-_.~"
_STORED = frozenset(("content-disposition", "content-encoding", "content-language", "content-type", "expires"))


def quoted_path(path: str) -> str:
    """Return a path as sent and signed; of a native string, with bytes that are not UTF-8 as surrogates."""
    return quote(path.encode("utf-8", "surrogateescape"), safe=f"/{_SAFE}")


def query_of(parameters: Mapping[str, str]) -> str:
    """Return a query as sent and signed."""

    def text(value: str) -> str:
        return quote(value.encode("utf-8", "surrogateescape"), safe=_SAFE)

    return "&".join(f"{text(name)}={text(parameters[name])}" for name in sorted(parameters))


def signed_headers(
    method: str,
    host: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    access_key: str,
    secret: str,
    region: str,
    at_s: float,
    digest: str = _UNSIGNED,
) -> dict[str, str]:
    """Return the headers with the authorisation. path, query: from `quoted_path` and `query_of`; host: with the port;
    at_s: seconds since 1970; digest: of the body.

    The signature covers the headers that start with `x-amz-`, the host, and the headers that the store keeps with an
    object: some stores, such as Zoe's, require that. Other headers are not signed, since some change in transit.
    """
    at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at_s))
    own = {"X-Amz-Content-Sha256": digest, "X-Amz-Date": at}
    sent = {**headers, **own}
    canonical = {name.lower(): value.strip() for name, value in sent.items() if _is_signed(name.lower(), value)}
    canonical["host"] = host
    names = ";".join(sorted(canonical))
    lines = "".join(f"{name}:{canonical[name]}\n" for name in sorted(canonical))
    request = "\n".join((method, path, query, lines, names, digest))
    scope = f"{at[:8]}/{region}/s3/aws4_request"
    text = "\n".join((_ALGORITHM, at, scope, hashlib.sha256(request.encode("latin-1")).hexdigest()))
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    credential = f"{access_key}/{scope}"
    authorization = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
    return {**sent, "Host": host, "Authorization": authorization}


def _is_signed(name: str, value: str) -> bool:
    # Some stores merge several blanks before they compare, and others do not.
    return name.startswith("x-amz-") or (name in _STORED and "  " not in value)
