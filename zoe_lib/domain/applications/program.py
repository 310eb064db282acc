"""What an application runs, as a text that its run times are learned by.

A name says little: `wrap`, `job.sh` and `run.sh` are everybody's. Image, words of the command, texts of files and
variables say what runs; their numbers say how much. So numbers are cut out of the words, and compared in doublings.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable

# A number begins a word: the 12 of `part-12` and `12GB`, not that of `model12`.
_NUMBER = re.compile(r"(?<![A-Za-z0-9_])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
# Further numbers are a part of the program: a long script is the same each time.
_NUMBERS_MAX = 32
_LARGEST = 1e300
OWN_FILES, OWN_VARIABLES = ("zoe_job/", "zoe-job.json"), "ZOE_"
"""Beginnings of Zoe's own files and variables: helpers of batch jobs, ids of arrays and attempts."""


def program_of(parts: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return `PROGRAM:N,N,...` of images and their texts: a digest of what runs, and the doublings of its numbers."""
    shape, numbers = hashlib.blake2b(digest_size=12), list[int]()
    for image, texts in parts:
        shape.update(f"\0\0{image}".encode())
        for text in texts:
            rest = max(_NUMBERS_MAX - len(numbers), 0)
            numbers += map(_doublings, _NUMBER.findall(text)[:rest])
            words = _NUMBER.sub("#", text, count=rest) if rest else text
            shape.update(b"\0" + words.encode(errors="replace"))
    return f"{shape.hexdigest()}:{','.join(map(str, numbers))}"


def without_numbers(program: str) -> str:
    """Return the digest of a program: the same for other numbers."""
    return program.partition(":")[0]


def half_doublings(amount: float) -> int:
    """Return how often 1 is multiplied by the square root of two to reach an amount; 0 for less than 1."""
    return round(2.0 * math.log2(max(amount, 1.0)))


def _doublings(number: str) -> int:
    return round(math.log2(1.0 + min(float(number), _LARGEST)))
