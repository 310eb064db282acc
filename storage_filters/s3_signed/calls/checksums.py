"""Checksums of S3 objects, and those of large objects from the ones of their parts. Pure.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

HEADER = "x-amz-checksum-"
COMPOSITE, FULL_OBJECT = "COMPOSITE", "FULL_OBJECT"
ALGORITHMS = ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256")
_POLYNOMIALS = {"CRC32": (0xEDB88320, 32), "CRC32C": (0x82F63B78, 32), "CRC64NVME": (0x9A6C9329AC4BC9B5, 64)}
"""Of cyclic redundancy checks: polynomial, lowest power first, and bits."""
_DEFAULT_KIND = {"CRC64NVME": FULL_OBJECT}


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum as it is kept with an object. value: in base64, with `-N` if it is made from those of N parts; empty
    for an upload whose parts are to have this checksum.
    """

    algorithm: str
    kind: str = FULL_OBJECT
    value: str = ""

    @classmethod
    def from_text(cls, text: str | None) -> Checksum | None:
        """Return the checksum of a kept text; None for any other text."""
        words = (text or "").split(" ")
        return cls(*words) if 2 <= len(words) <= 3 and words[0] in ALGORITHMS else None

    @property
    def text(self) -> str:
        """Return the text that is kept."""
        return f"{self.algorithm} {self.kind} {self.value}".rstrip()

    @property
    def header(self) -> str:
        """Return the name of its header."""
        return HEADER + self.algorithm.lower()


def of_upload(algorithm: str, kind: str) -> Checksum:
    """Return the checksum that the parts of a large upload are to have. Raises ValueError, whose text says why not.

    algorithm, kind: as the client names them; an empty kind: the usual one.
    """
    name, kind = algorithm.upper(), kind.upper()
    if name not in ALGORITHMS:
        raise ValueError(f"The checksum algorithm {algorithm} is not known; known are {', '.join(ALGORITHMS)}.")
    kind = kind or _DEFAULT_KIND.get(name, COMPOSITE)
    if kind not in (COMPOSITE, FULL_OBJECT):
        raise ValueError(f"The checksum type {kind} is not known; known are COMPOSITE and FULL_OBJECT.")
    if (kind == FULL_OBJECT and name not in _POLYNOMIALS) or (kind == COMPOSITE and name == "CRC64NVME"):
        raise ValueError(f"The {kind} checksum type cannot be used with the {name} checksum algorithm.")
    return Checksum(name, kind)


def of_parts(upload: Checksum, parts: Sequence[tuple[str, int]], hasher: Callable[[], Any]) -> Checksum:
    """Return the checksum of a large object. parts: value and size of each; hasher: makes the algorithm's hash."""
    digests = [base64.b64decode(value) for value, _ in parts]
    if upload.kind == FULL_OBJECT:
        whole = _combined(upload.algorithm, zip(digests, (size for _, size in parts), strict=True))
        return Checksum(upload.algorithm, FULL_OBJECT, base64.b64encode(whole).decode())
    made = hasher()
    made.update(b"".join(digests))
    return Checksum(upload.algorithm, COMPOSITE, f"{base64.b64encode(made.digest()).decode()}-{len(parts)}")


def are_same(claimed: str, made: str) -> bool:
    """Return whether a client claims this checksum; it may leave out the number of parts."""
    return claimed in (made, made.partition("-")[0])


def is_value(text: str, size: int) -> bool:
    """Return whether a text is a digest of so many bytes in base64."""
    try:
        return len(base64.b64decode(text, validate=True)) == size
    except (binascii.Error, ValueError):
        return False


def _combined(algorithm: str, parts: Iterable[tuple[bytes, int]]) -> bytes:
    """Return the check of joined texts, from the check and length of each: a check followed by zeros is multiplied by a
    power of x, and the checks of two texts are added.
    """
    polynomial, width = _POLYNOMIALS[algorithm]
    whole = 0
    for digest, size in parts:
        whole = _product(_power(8 * size, polynomial, width), whole, polynomial, width)
        whole ^= int.from_bytes(digest, "big")
    return whole.to_bytes(width // 8, "big")


def _power(exponent: int, polynomial: int, width: int) -> int:
    """Return x to this power, modulo the polynomial; the highest bit is x to the power of 0."""
    result, factor = 1 << (width - 1), 1 << (width - 2)
    while exponent:
        if exponent & 1:
            result = _product(result, factor, polynomial, width)
        factor = _product(factor, factor, polynomial, width)
        exponent >>= 1
    return result


def _product(left: int, right: int, polynomial: int, width: int) -> int:
    product = 0
    for bit in range(width - 1, -1, -1):
        if left >> bit & 1:
            product ^= right
        right = (right >> 1) ^ (polynomial if right & 1 else 0)
    return product
