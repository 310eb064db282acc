"""Encryption of streams by AES-256-GCM in segments, so that a range is read from its first segment on.

The construction is STREAM (Hoang, Reyhanitabar, Rogaway, Vizar: Online Authenticated-Encryption and its Nonce-Reuse
Misuse-Resistance, 2015): each object has a key of its own, derived from its tenant's key and a random salt (HKDF, RFC
5869); the nonce of a segment is its number, and a mark at the last one. So segments cannot be changed, moved between
objects, reordered, or cut off at the end.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from storage_filters.keyring import Key
from storage_filters.stream_filters import DamagedObjectError, FilterRefused, Span

SEGMENT_BYTES = 64 * 1024
_TAG_BYTES = 16
_STORED_BYTES = SEGMENT_BYTES + _TAG_BYTES
_SALT_BYTES = 16
_NUMBER_BYTES = 11
_CHECK_BYTES = 8


class Encryption:
    """Encryption with one key and one salt."""

    def __init__(self, key: Key, salt: bytes | None = None) -> None:
        self._key = key
        self._salt = salt if salt is not None else secrets.token_bytes(_SALT_BYTES)
        derived = HKDF(hashes.SHA256(), 32, self._salt, b"zoe object").derive(key.secret)
        self._cipher = AESGCM(derived)

    @classmethod
    def of_record(cls, record: Mapping[str, Any], key: Key) -> Encryption:
        """Return the encryption of a stored object. FilterRefused if the key is another one of the same name."""
        found = cls(key, bytes.fromhex(record["salt"]))
        if not hmac.compare_digest(found._check(), str(record["check"])):
            raise FilterRefused(f"key {key.name} is not the one with which this object was encrypted")
        return found

    def record(self) -> Mapping[str, Any]:
        """Return the key's name, the salt, and what tells the key from another one of its name."""
        return {"filter": "ENCRYPTION", "key": self._key.name, "salt": self._salt.hex(), "check": self._check()}

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield encrypted segments; the last one, possibly empty, is marked."""
        number, held = 0, b""
        for chunk in chunks:
            held += chunk
            while len(held) > SEGMENT_BYTES:
                yield self._cipher.encrypt(_nonce(number, last=False), held[:SEGMENT_BYTES], None)
                number, held = number + 1, held[SEGMENT_BYTES:]
        yield self._cipher.encrypt(_nonce(number, last=True), held, None)

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:
        """Yield the decrypted segments. DamagedObjectError for a changed one, and for a missing end."""
        number, held = first // _STORED_BYTES, b""
        for chunk in chunks:
            held += chunk
            while len(held) > _STORED_BYTES:
                yield self._opened(number, held[:_STORED_BYTES], (False,))
                number, held = number + 1, held[_STORED_BYTES:]
        # What is last here is the last of the object, or the last of a range.
        yield self._opened(number, held, (True,) if to_end else (False, True))

    def span(self, first: int, end: int | None) -> Span:
        """Return the segments that contain the range."""
        number = first // SEGMENT_BYTES
        until = None if end is None else max(-(-end // SEGMENT_BYTES), number + 1) * _STORED_BYTES
        return Span(number * _STORED_BYTES, until, first - number * SEGMENT_BYTES)

    def _opened(self, number: int, segment: bytes, last: tuple[bool, ...]) -> bytes:
        for mark in last:
            try:
                return self._cipher.decrypt(_nonce(number, last=mark), segment, None)
            except InvalidTag:
                continue
        raise DamagedObjectError(f"segment {number} is not as it was encrypted")

    def _check(self) -> str:
        return hmac.new(self._key.secret, b"zoe key" + self._salt, hashlib.sha256).digest()[:_CHECK_BYTES].hex()


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(_NUMBER_BYTES, "big") + bytes([last])
