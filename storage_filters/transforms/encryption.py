"""Encryption of streams by AES-256-GCM in segments, so that a range is read from its first segment on.

The construction is STREAM (Hoang, Reyhanitabar, Rogaway, Vizar: Online Authenticated-Encryption and its Nonce-Reuse
Misuse-Resistance, 2015): each object has a separate key, derived from its tenant's key and a random salt (HKDF, RFC
5869); the nonce of a segment is its number, with a mark for the last one. So any change, move between objects,
reordering or truncation of segments is detected.

The key also depends on the object's name, and the stored bytes begin with a mark: they cannot pass as another object,
nor as plain contents if the metadata are lost. Objects of earlier versions have neither, and no `form` in their record.
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

from storage_filters.transforms.keyring import Key
from storage_filters.transforms.stream_filters import DamagedObjectError, FilterRefusedError, Span

SEGMENT_BYTES = 64 * 1024
_TAG_BYTES = 16
_STORED_BYTES = SEGMENT_BYTES + _TAG_BYTES
_SALT_BYTES = 16
_NUMBER_BYTES = 11
_CHECK_BYTES = 8
_FORM = 2
"""Form in the record of objects that are bound to their names and begin with the mark."""
MARK = b"\x89zoe-sealed\r\n\x1a\x02\n"
"""First bytes of an encrypted object."""


class Encryption:
    """Encryption with one key and one salt. name: of the object; None for one of an earlier version, without a mark."""

    def __init__(self, key: Key, salt: bytes | None = None, name: bytes | None = None) -> None:
        self._key = key
        self._name = name or b""
        self._salt = salt if salt is not None else secrets.token_bytes(_SALT_BYTES)
        self._mark = b"" if name is None else MARK
        about = b"zoe object" if name is None else b"zoe object 2\x00" + name
        self._cipher = AESGCM(HKDF(hashes.SHA256(), 32, self._salt, about).derive(key.secret))

    @classmethod
    def from_record(cls, record: Mapping[str, Any], key: Key, name: bytes) -> Encryption:
        """Return the encryption of a stored object of this name. Raises FilterRefusedError if the key is a different
        one
        with the same name, or if a later version stored the object; raises DamagedObjectError if the object had another
        name.
        """
        if (form := record.get("form", 1)) not in (1, _FORM):
            raise FilterRefusedError(f"a later version encrypted this object (form {form}): upgrade this server")
        found = cls(key, bytes.fromhex(record["salt"]), name if form == _FORM else None)
        if not hmac.compare_digest(found._check(), str(record["check"])):
            raise FilterRefusedError(f"key {key.name} differs from the key with which this object was encrypted")
        # Objects of some earlier versions lack it: for them only the bytes reveal another name.
        if not hmac.compare_digest(found._bound(), str(record.get("bound", found._bound()))):
            raise DamagedObjectError("the object had another name when it was encrypted")
        return found

    def record(self) -> Mapping[str, Any]:
        """Return the key's name, the salt, and fingerprints of the key and of the object's name: so a HEAD, which reads
        no bytes, detects the same errors as a GET.
        """
        made = {"filter": "ENCRYPTION", "key": self._key.name, "salt": self._salt.hex(), "check": self._check()}
        return {**made, "form": _FORM, "bound": self._bound()} if self._mark else made

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield encrypted segments; the last one, possibly empty, is marked."""
        number, held = 0, b""
        if self._mark:
            yield self._mark
        for chunk in chunks:
            held += chunk
            while len(held) > SEGMENT_BYTES:
                yield self._cipher.encrypt(_nonce(number, last=False), held[:SEGMENT_BYTES], None)
                number, held = number + 1, held[SEGMENT_BYTES:]
        yield self._cipher.encrypt(_nonce(number, last=True), held, None)

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:
        """Yield the decrypted segments. Raises DamagedObjectError for a changed segment, a missing end, or another
        object's name.
        """
        number, held, mark = max(first - len(self._mark), 0) // _STORED_BYTES, b"", self._mark if first == 0 else b""
        for chunk in chunks:
            held += chunk
            if mark and len(held) >= len(mark):
                mark, held = b"", _behind(mark, held)
            elif mark:
                continue
            while len(held) > _STORED_BYTES:
                yield self._decrypt(number, held[:_STORED_BYTES], (False,))
                number, held = number + 1, held[_STORED_BYTES:]
        if mark:
            raise DamagedObjectError("its beginning is missing")
        # The last segment here is the last of the object, or of a range.
        yield self._decrypt(number, held, (True,) if to_end else (False, True))

    def span(self, first: int, end: int | None) -> Span:
        """Return the segments that contain the range."""
        number, before = first // SEGMENT_BYTES, len(self._mark)
        until = None if end is None else before + max(-(-end // SEGMENT_BYTES), number + 1) * _STORED_BYTES
        # With the first segment, the mark is read too, like in a full read.
        return Span(before + number * _STORED_BYTES if number else 0, until, first - number * SEGMENT_BYTES)

    def _decrypt(self, number: int, segment: bytes, last: tuple[bool, ...]) -> bytes:
        for mark in last:
            try:
                return self._cipher.decrypt(_nonce(number, last=mark), segment, None)
            except InvalidTag:
                continue
        bound = ", or the object had another name" if self._mark else ""
        raise DamagedObjectError(f"segment {number} has changed since it was encrypted{bound}")

    def _check(self) -> str:
        return self._mac(b"zoe key" + self._salt)

    def _bound(self) -> str:
        return self._mac(b"zoe name" + self._salt + self._name)

    def _mac(self, of: bytes) -> str:
        return hmac.new(self._key.secret, of, hashlib.sha256).digest()[:_CHECK_BYTES].hex()


def check_unencrypted(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield bytes of an object without a record of encryption. Raises DamagedObjectError at the first byte if they are
    encrypted.
    """
    held, checked = b"", False
    for chunk in chunks:
        held += chunk
        checked = checked or not MARK.startswith(held[: len(MARK)])
        if not checked and len(held) >= len(MARK):
            raise DamagedObjectError("it is encrypted, and the metadata that record its encryption are missing")
        if checked:
            yield held
            held = b""
    yield held


def _behind(mark: bytes, held: bytes) -> bytes:
    if not held.startswith(mark):
        raise DamagedObjectError("its beginning is not that of an encrypted object")
    return held[len(mark) :]


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(_NUMBER_BYTES, "big") + bytes([last])
