"""Names of buckets for containers. Pure.

All accounts share the names of buckets, and S3 allows fewer than Swift: 3 to 63 of a-z, 0-9 and hyphens. So the name of
a bucket has the readable part of its container, and a digest of account and container, which makes it unique:

    AUTH_acme, Photos 2024   ->   photos-2024-ftwg2hnq5clrmwvkxo3a
"""

from __future__ import annotations

import base64
import hashlib
import re

_DIGEST_LENGTH = 20
"""Characters of five bits, enough that users who choose names cannot find two that collide."""
_READABLE_LENGTH = 63 - _DIGEST_LENGTH - 1
_OTHER = re.compile("[^a-z0-9]+")
_BOOK = "zoe-book"


def bucket_of(account: str, container: str) -> str:
    """Return the bucket of a container."""
    return _bucket_name(container, account, container)


def book_of(account: str) -> str:
    """Return the bucket of the gateway's book: metadata of containers and account."""
    return _bucket_name(_BOOK, account, "")  # no container has an empty name


def _bucket_name(readable: str, *what: str) -> str:
    text = "/".join(what).encode("utf-8", "surrogateescape")
    digest = base64.b32encode(hashlib.sha256(text).digest()).decode()[:_DIGEST_LENGTH].lower()
    start = _OTHER.sub("-", readable.lower())[:_READABLE_LENGTH].strip("-")
    return f"{start}-{digest}" if start else digest
