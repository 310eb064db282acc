"""Uploads with a check of the digest before the last piece is sent: a store keeps nothing of an incomplete body."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from storage_gateway.connections import StoreAnswer, Upload, local_answer

DIGEST_OF_NOTHING = hashlib.md5(b"", usedforsecurity=False).hexdigest()


@dataclass(slots=True)
class CheckedUpload:
    """An `Upload` with a check. expected: the ETag announced by the client; `stored` converts the store's last
    answer.
    """

    _upload: Upload
    _expected: str
    _stored: Callable[[StoreAnswer, int], StoreAnswer]
    refused: StoreAnswer | None = None
    _held: bytes = b""
    _length: int = 0
    _digest: Any = field(default_factory=lambda: hashlib.md5(usedforsecurity=False))

    def send(self, piece: bytes) -> None:
        """Send the piece before this one; StoreAway."""
        if self._held:
            self._upload.send(self._held)
        self._held = piece
        self._length += len(piece)
        self._digest.update(piece)

    def end(self) -> StoreAnswer:
        """Return the answer after the last piece; 422, and nothing is stored, if the body differs from the announced
        ETag.
        """
        if self._expected and self._digest.hexdigest() != self._expected.strip('"').lower():
            self.close()
            return local_answer(422)
        if self._held:
            self._upload.send(self._held)
        return self._stored(self._upload.end(), self._length)

    def close(self) -> None:
        """Give up."""
        self._upload.close()
